"""Triggers: events are append-only, and every change of a tenant's tools is counted."""

from __future__ import annotations

from collections.abc import Iterator

REFUSAL = "events are never changed or removed"
_TABLE = "session_events"


def append_only_triggers(dialect: str) -> list[str]:
    """The statements that make `session_events` append-only."""
    return _sqlite_append_only() if dialect == "sqlite" else _postgresql_append_only()


def _sqlite_append_only() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    # INSERT OR REPLACE removes a row without asking a trigger for DELETE.
    taken = (
        f"EXISTS (SELECT 1 FROM {_TABLE} WHERE tenant_id = NEW.tenant_id"
        " AND session_id = NEW.session_id AND seq = NEW.seq)"
    )
    return [
        f"CREATE TRIGGER {_TABLE}_no_update BEFORE UPDATE ON {_TABLE} {refuse}",
        f"CREATE TRIGGER {_TABLE}_no_delete BEFORE DELETE ON {_TABLE} {refuse}",
        f"CREATE TRIGGER {_TABLE}_no_replace BEFORE INSERT ON {_TABLE} WHEN {taken} {refuse}",
    ]


def _postgresql_append_only() -> list[str]:
    function = f"refuse_change_of_{_TABLE}()"
    return [
        f"CREATE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{REFUSAL}' USING ERRCODE = 'insufficient_privilege'; END $$",
        f"CREATE TRIGGER {_TABLE}_no_change BEFORE UPDATE OR DELETE ON {_TABLE}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {function}",
        f"CREATE TRIGGER {_TABLE}_no_truncate BEFORE TRUNCATE ON {_TABLE}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {function}",
    ]


_COUNT_CHANGE = """INSERT INTO tool_change_counts (tenant_id, changes) VALUES ({row}.tenant_id, 1)
  ON CONFLICT (tenant_id) DO UPDATE SET changes = tool_change_counts.changes + 1"""
_ROWS = {"insert": ("new",), "update": ("old", "new"), "delete": ("old",)}


def tool_change_triggers(dialect: str) -> Iterator[str]:
    """The statements that make the database count changes of tools."""
    for change, rows in _ROWS.items():
        name = f"tools_count_{change}"
        counts = " ".join(f"{_COUNT_CHANGE.format(row=row)};" for row in rows)
        if dialect == "sqlite":
            yield f"CREATE TRIGGER {name} AFTER {change} ON tools BEGIN {counts} END"
            continue
        body = f"BEGIN {counts} RETURN NULL; END"
        yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
        yield f"CREATE TRIGGER {name} AFTER {change} ON tools FOR EACH ROW EXECUTE FUNCTION {name}()"
