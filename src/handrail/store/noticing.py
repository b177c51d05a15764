"""Noticing: the database counts every change of a tenant's tools, whoever makes it, also one made by hand.

Whoever remembers the tools of a tenant compares the number, and looks again when it is another.
"""

from __future__ import annotations

from collections.abc import Iterator

_COUNT = """INSERT INTO tool_views (tenant_id, version) VALUES ({row}.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET version = tool_views.version + 1"""
_ROWS = {"insert": ("new",), "update": ("old", "new"), "delete": ("old",)}


def counting(dialect: str) -> Iterator[str]:
    """The statements that make the database count."""
    return _postgresql() if dialect == "postgresql" else _sqlite()


def _sqlite() -> Iterator[str]:
    for change, rows in _ROWS.items():
        counts = " ".join(f"{_COUNT.format(row=row)};" for row in rows)
        yield f"CREATE TRIGGER tools_count_{change} AFTER {change} ON tools BEGIN {counts} END"


def _postgresql() -> Iterator[str]:
    for change, rows in _ROWS.items():
        name = f"tools_count_{change}"
        counts = " ".join(f"{_COUNT.format(row=row)};" for row in rows)
        body = f"BEGIN {counts} RETURN NULL; END"
        yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
        yield f"CREATE TRIGGER {name} AFTER {change} ON tools FOR EACH ROW EXECUTE FUNCTION {name}()"
