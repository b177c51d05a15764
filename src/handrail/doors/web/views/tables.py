"""Tables: sorted by a click on a heading or by a link, numbers to the right; what is left out is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from htpy import Node, a, button, div, p, span, table, tbody, td, th, thead, tr

from handrail.core.define.block_config import as_number, is_number
from handrail.core.define.names import humanize_field_name
from handrail.doors.visible import one_line
from handrail.doors.web.views.figures import NUMBERS, figure
from handrail.doors.web.views.look import Look, quoted
from handrail.doors.web.views.text import quiet, shown

Content = Mapping[str, Any]
Inner = Callable[[Any, Look, int], Node]
"""How a cell that is no scalar is drawn."""
_NUMBERS = td(".view-right")
ALL = 5000
"""Rows that a page holds at most; whoever wants more of them takes the CSV."""


def draw_table(key: str, content: Content, look: Look, depth: int, label: str, inner: Inner) -> Node:
    """A table. With a key it can be sorted by links and downloaded, as it is a section."""
    columns: Sequence[Content] = content["columns"]
    order = _order(key, content, look)
    rows = in_order(content["rows"], columns, order)
    limit = ALL if key and _are_all_wanted(key, look) else content["limit"]
    is_whole = len(rows) <= limit
    right = [_is_numeric(column, content["rows"], at) for at, column in enumerate(columns)]
    return div(".view-table-box")[
        div(".view-table-scroll", role="region", tabindex="0", aria_label=one_line(label) or "Table")[
            table(".table.view-table", id=look.id, data_view_sort="whole" if is_whole else "part")[
                thead[
                    tr[
                        (
                            _heading(key if len(rows) > 1 else None, column, right[at], order, look, is_whole)
                            for at, column in enumerate(columns)
                        )
                    ]
                ],
                tbody[_rows(rows[:limit], columns, right, look, depth, inner)],
            ]
        ],
        _below(key, content, len(rows), limit, look),
    ]


def _are_all_wanted(key: str, look: Look) -> bool:
    """Whether all rows were asked for, or could not be asked for later."""
    return look.query is None or look.query.get(f"all.{key}") == "1"


def _heading(
    key: str | None, column: Content, right: bool, order: tuple[str, bool] | None, look: Look, is_whole: bool
) -> Node:
    name = str(column["key"])
    words: Node = shown(column["label"]) if column["label"].strip() else quiet("no name")
    if unit := column.get("unit"):
        words = [words, " ", span(".view-unit")[shown(unit)]]
    sorted_by = order is not None and order[0] == name
    down = sorted_by and order is not None and order[1]
    if key and look.query is None:
        words = button(".view-sort", type="button")[words] if is_whole else words
    elif key:
        wanted = name if down or not sorted_by else f"-{name}"
        words = a(".view-sort", href=look.link(look.id, **{f"sort.{key}": wanted}))[words]
    return th(
        class_=right and "view-right",
        scope="col",
        aria_sort=("descending" if down else "ascending") if sorted_by else None,
    )[words]


def _rows(
    rows: Sequence[Sequence[Any]],
    columns: Sequence[Content],
    right: Sequence[bool],
    look: Look,
    depth: int,
    inner: Inner,
) -> Node:
    """The rows, each made into text here: lazily, every cell would pass through every level of the page."""
    boxes = [_NUMBERS if one else td for one in right]
    hows = [{name: column[name] for name in ("format", "decimals") if name in column} for column in columns]

    def cell(value: Any, at: int, number: int) -> Node:
        if isinstance(value, (Mapping, list)):
            return inner(value, look.inside(f"{number}-{at}"), depth + 1)
        return figure(value, hows[at], look)

    return [
        str(tr[(boxes[at][cell(value, at, number)] for at, value in enumerate(row))])
        for number, row in enumerate(rows)
    ]


def _below(key: str, content: Content, count: int, limit: int, look: Look) -> Node:
    """What is not in the table, and how to have it."""
    parts: list[Node] = []
    if count > limit:
        parts.append(span[f"The first {limit:,} of {count:,} rows."])
        if key and look.query is None and look.downloads is None:
            parts.append(span["All of them are in the JSON below."])
        elif key and limit < ALL:
            words = f"Show {'all' if count <= ALL else f'{ALL:,}'}"
            parts.append(a(href=look.link(look.id, **{f"all.{key}": "1"}))[words])
    if hidden := content.get("hidden"):
        parts.append(
            span[
                "Also in the data: ", shown(", ".join(humanize_field_name(one) or one for one in hidden)), "."
            ]
        )
    if key and look.downloads:
        parts.append(a(href=f"{look.downloads}.csv?section={quoted(key)}", download="")["CSV"])
    return p(".view-note")[(part for one in parts for part in (one, " "))] if parts else None


def _is_numeric(column: Content, rows: Sequence[Sequence[Any]], at: int) -> bool:
    if column.get("format") in NUMBERS:
        return True
    cells = [row[at] for row in rows if row[at] is not None]
    return bool(cells) and all(is_number(cell) for cell in cells)


def _order(key: str, content: Content, look: Look) -> tuple[str, bool] | None:
    """By which column, and whether downwards."""
    names = [column["key"] for column in content["columns"]]
    for wanted in ((look.query or {}).get(f"sort.{key}") if key else None, content.get("sort")):
        if wanted is None:
            continue
        if wanted in names:
            return wanted, False
        if wanted.startswith("-") and wanted[1:] in names:
            return wanted[1:], True
    return None


def in_order(
    rows: Sequence[Sequence[Any]], columns: Sequence[Content], order: tuple[str, bool] | None
) -> list[Sequence[Any]]:
    """Rows sorted by a column: numbers as numbers, then texts, then what has no order; nothing last."""
    if order is None:
        return list(rows)
    name, down = order
    at = [column["key"] for column in columns].index(name)
    there = [row for row in rows if row[at] is not None]
    numeric = columns[at].get("format") in NUMBERS
    there.sort(key=lambda row: _rank(row[at], numeric), reverse=down)
    return there + [row for row in rows if row[at] is None]


def _rank(cell: Any, numeric: bool) -> tuple[int, float, str]:
    number = as_number(cell) if numeric else cell if is_number(cell) else None
    if number is not None:
        return 0, float(number), ""
    if isinstance(cell, str):
        return 1, 0.0, cell.casefold()
    return 2, 0.0, str(cell)
