"""Any value as it is: names with values, lists, tables; what lies deep is folded, what is left out said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from htpy import Node, a, dd, details, div, dl, dt, li, ol, p, pre, summary

from handrail.core.define.block_readers import read_table
from handrail.core.define.names import humanize_field_name
from handrail.core.define.plain import plain
from handrail.doors.visible import exact
from handrail.doors.web.views.figures import figure
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.tables import draw_table
from handrail.doors.web.views.text import note, quiet, shown

DEEP = 5
"""Levels that are laid out; what lies below them is folded JSON."""
MANY = 100
"""Parts of one object or list that are laid out; the rest is a download, or folded JSON without one."""
_WIDE = 12


def draw_value(value: Any, *, id: str, language: str = "en") -> Node:
    """Any value: names with values, lists of objects as tables, the rest as it is."""
    return laid_out(plain(value), Look(id, language))


def laid_out(value: Any, look: Look, depth: int = 0) -> Node:
    """A plain value."""
    if not isinstance(value, (Mapping, list)):
        return figure(value, {}, look)
    if not value:
        return quiet("no items" if isinstance(value, list) else "nothing inside")
    if depth >= DEEP:
        return as_json(value, f"{_count(value)} inside")
    return _pairs(value, look, depth) if isinstance(value, Mapping) else _list(value, look, depth)


def _count(value: Any) -> str:
    noun = "item" if isinstance(value, list) else "value"
    return f"{len(value):,} {noun}{'' if len(value) == 1 else 's'}"


def as_json(value: Any, words: str) -> Node:
    """JSON one click away."""
    return details(".view-fold")[summary[words], pre(".view-json", tabindex="0")[exact(value, indent=2)]]


def _pairs(value: Mapping[str, Any], look: Look, depth: int) -> Node:
    first = list(value.items())[:MANY]
    return div(".view-value")[
        dl(".view-pairs")[
            (
                div(class_=["view-pair", is_deep(one) and "view-pair-deep"])[
                    dt[name_of(name)], dd[laid_out(one, look.inside(at), depth + 1)]
                ]
                for at, (name, one) in enumerate(first)
            )
        ],
        _rest(dict(list(value.items())[MANY:]), look),
    ]


def name_of(name: str) -> Node:
    """A key as a label; one that says nothing as a label is shown as it is."""
    return shown(humanize_field_name(name) or name) if name.strip() else quiet("no name")


def is_deep(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def _rest(rest: Any, look: Look) -> Node:
    """What is not laid out: how much it is, and where to have it."""
    if not rest:
        return None
    more = f"{_count(rest)} more"
    if look.downloads is None:
        return as_json(rest, more)
    return p(".view-note")[f"{more}: ", a(href=f"{look.downloads}.json", download="")["Download JSON"]]


def _list(value: list[Any], look: Look, depth: int) -> Node:
    content = read_table(value, {"limit": MANY}) if _are_rows(value) else None
    if content is not None and len(content["columns"]) <= _WIDE:
        return [rows("", content, look, depth + 1), _rest(value[MANY:], look)]
    first = enumerate(value[:MANY])
    return div(".view-value")[
        ol(".view-list")[(li[laid_out(one, look.inside(at), depth + 1)] for at, one in first)],
        _rest(value[MANY:], look),
    ]


def _are_rows(value: list[Any]) -> bool:
    """Objects with mostly the same names: a table shows them better than a list."""
    if len(value) < 2 or not all(isinstance(one, Mapping) and one for one in value):
        return False
    names = {name for one in value for name in one}
    return sum(len(one) for one in value) * 2 >= len(names) * len(value)


def rows(key: str, content: Mapping[str, Any], look: Look, depth: int = 0, label: str = "") -> Node:
    """A table whose cells may be values of any shape."""
    return draw_table(key, content, look, depth, label, laid_out)


def data_below(
    content: Mapping[str, Any], look: Look, label: str, said: str | None = None, left_out: Sequence[str] = ()
) -> Node:
    """The data behind a drawing, one click away; `said` and `left_out` tell what is not in the drawing."""
    return [
        note(f"{said[:1].upper()}{said[1:]}; the data has all.") if said else None,
        p(".view-note")["Only in the data: ", shown(", ".join(left_out)), "."] if left_out else None,
        details(".view-fold.view-data")[
            summary["Data"], rows("", content, look.inside("data"), 0, label), _rest_of(content, look)
        ],
    ]


def _rest_of(content: Mapping[str, Any], look: Look) -> Node:
    return _rest(content["rows"][content["limit"] :], look)
