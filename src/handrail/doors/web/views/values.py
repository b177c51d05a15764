"""Any value as it is: names with values, lists, sortable tables; what lies deep is folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import htpy as h

from handrail.core.define.json_values import jsonable
from handrail.core.define.names import humanize_field_name
from handrail.core.present.block_content import as_number, is_number, read_table
from handrail.doors.web.views.context import ViewContext, url_quote
from handrail.doors.web.views.scalars import NUMBER_FORMATS, render_scalar
from handrail.doors.web.views.text import muted, note, visible_text
from handrail.platform.display_text import one_line, visible_json

Content = Mapping[str, Any]

RenderCell = Callable[[Any, ViewContext, int], h.Node]
"""How a cell that is no scalar is drawn."""
_NUMBER_CELL = h.td(".view-right")

MAX_ROWS = 5000
"""Rows that a page holds at most; whoever wants more of them takes the CSV."""


def render_table(
    key: str, content: Content, ctx: ViewContext, depth: int, label: str, inner: RenderCell
) -> h.Node:
    """A table. With a key it can be sorted by links and downloaded, as it is a section."""
    columns: Sequence[Content] = content["columns"]
    order = _order(key, content, ctx)
    rows = sort_rows(content["rows"], columns, order)
    limit = MAX_ROWS if key and _are_all_wanted(key, ctx) else content["limit"]
    is_whole = len(rows) <= limit
    right = [_is_numeric(column, content["rows"], at) for at, column in enumerate(columns)]
    sort_key = key if len(rows) > 1 else None
    headings = [
        _heading(sort_key, column, is_right, order, ctx, is_whole)
        for column, is_right in zip(columns, right, strict=True)
    ]
    return h.div(".view-table-box")[
        h.div(".view-table-scroll", role="region", tabindex="0", aria_label=one_line(label) or "Table")[
            h.table(".table.view-table", id=ctx.id, data_view_sort="whole" if is_whole else "part")[
                h.thead[h.tr[headings]], h.tbody[_table_rows(rows[:limit], columns, right, ctx, depth, inner)]
            ]
        ],
        _below(key, content, len(rows), limit, ctx),
    ]


def _are_all_wanted(key: str, ctx: ViewContext) -> bool:
    """Whether all rows were asked for, or could not be asked for later."""
    return ctx.query is None or ctx.query.get(f"all.{key}") == "1"


def _heading(
    key: str | None,
    column: Content,
    right: bool,
    order: tuple[str, bool] | None,
    ctx: ViewContext,
    is_whole: bool,
) -> h.Node:
    name = str(column["key"])
    words: h.Node = visible_text(column["label"]) if column["label"].strip() else muted("no name")
    if unit := column.get("unit"):
        words = [words, " ", h.span(".view-unit")[visible_text(unit)]]
    sorted_by, down = order or ("", False)
    direction = None if order is None or sorted_by != name else "descending" if down else "ascending"
    if key and ctx.query is None:
        words = h.button(".view-sort", type="button")[words] if is_whole else words
    elif key:
        next_order = f"-{name}" if direction == "ascending" else name
        words = h.a(".view-sort", href=ctx.link(ctx.id, **{f"sort.{key}": next_order}))[words]
    return h.th(class_=right and "view-right", scope="col", aria_sort=direction)[words]


def _table_rows(
    rows: Sequence[Sequence[Any]],
    columns: Sequence[Content],
    right: Sequence[bool],
    ctx: ViewContext,
    depth: int,
    inner: RenderCell,
) -> h.Node:
    """The rows, each made into text here: lazily, every cell would pass through every level of the page."""
    boxes = [_NUMBER_CELL if is_right else h.td for is_right in right]
    hows = [{name: column[name] for name in ("format", "decimals") if name in column} for column in columns]

    def cell(value: Any, at: int, number: int) -> h.Node:
        if isinstance(value, (Mapping, list)):
            return inner(value, ctx.inside(f"{number}-{at}"), depth + 1)
        return render_scalar(value, hows[at], ctx)

    return [
        str(h.tr[(boxes[at][cell(value, at, number)] for at, value in enumerate(row))])
        for number, row in enumerate(rows)
    ]


def _below(key: str, content: Content, count: int, limit: int, ctx: ViewContext) -> h.Node:
    """What is not in the table, and how to have it."""
    parts: list[h.Node] = []
    if count > limit:
        parts.append(h.span[f"The first {limit:,} of {count:,} rows."])
        if key and ctx.query is None and ctx.downloads is None:
            parts.append(h.span["All of them are in the JSON below."])
        elif key and limit < MAX_ROWS:
            words = f"Show {'all' if count <= MAX_ROWS else f'{MAX_ROWS:,}'}"
            parts.append(h.a(href=ctx.link(ctx.id, **{f"all.{key}": "1"}))[words])
    if hidden := content.get("hidden"):
        names = ", ".join(humanize_field_name(name) or name for name in hidden)
        parts.append(h.span["Also in the data: ", visible_text(names), "."])
    if key and ctx.downloads:
        parts.append(h.a(href=f"{ctx.downloads}.csv?section={url_quote(key)}", download="")["CSV"])
    return h.p(".view-note")[((part, " ") for part in parts)] if parts else None


def _is_numeric(column: Content, rows: Sequence[Sequence[Any]], at: int) -> bool:
    if column.get("format") in NUMBER_FORMATS:
        return True
    cells = [row[at] for row in rows if row[at] is not None]
    return bool(cells) and all(is_number(cell) for cell in cells)


def _order(key: str, content: Content, ctx: ViewContext) -> tuple[str, bool] | None:
    """By which column, and whether downwards."""
    names = [column["key"] for column in content["columns"]]
    for order in ((ctx.query or {}).get(f"sort.{key}") if key else None, content.get("sort")):
        if order is None:
            continue
        if order in names:
            return order, False
        if order.startswith("-") and order[1:] in names:
            return order[1:], True
    return None


def sort_rows(
    rows: Sequence[Sequence[Any]], columns: Sequence[Content], order: tuple[str, bool] | None
) -> list[Sequence[Any]]:
    """Rows sorted by a column: numbers as numbers, then texts, then what has no order; nothing last."""
    if order is None:
        return list(rows)
    name, down = order
    at = [column["key"] for column in columns].index(name)
    filled = [row for row in rows if row[at] is not None]
    numeric = columns[at].get("format") in NUMBER_FORMATS
    filled.sort(key=lambda row: _rank(row[at], numeric), reverse=down)
    return filled + [row for row in rows if row[at] is None]


def _rank(cell: Any, numeric: bool) -> tuple[int, float, str]:
    number = as_number(cell) if numeric else cell if is_number(cell) else None
    if number is not None:
        return 0, float(number), ""
    if isinstance(cell, str):
        return 1, 0.0, cell.casefold()
    return 2, 0.0, str(cell)


MAX_DEPTH = 5
"""Levels that are laid out; what lies below them is folded JSON."""

MAX_ITEMS = 100
"""Parts of one object or list that are laid out; the rest is a download, or folded JSON without one."""
_WIDE = 12


def render_value(value: Any, *, id: str, language: str = "en") -> h.Node:
    """Any value: names with values, lists of objects as tables, the rest as it is."""
    return render_plain(jsonable(value), ViewContext(id, language))


def render_plain(value: Any, ctx: ViewContext, depth: int = 0) -> h.Node:
    """A plain value."""
    if not isinstance(value, (Mapping, list)):
        return render_scalar(value, {}, ctx)
    if not value:
        return muted("no items" if isinstance(value, list) else "nothing inside")
    if depth >= MAX_DEPTH:
        return json_details(value, f"{_count(value)} inside")
    return _pairs(value, ctx, depth) if isinstance(value, Mapping) else _list(value, ctx, depth)


def _count(value: Any) -> str:
    noun = "item" if isinstance(value, list) else "value"
    return f"{len(value):,} {noun}{'' if len(value) == 1 else 's'}"


def json_details(value: Any, words: str) -> h.Node:
    """JSON one click away."""
    return h.details(".view-fold")[
        h.summary[words], h.pre(".view-json", tabindex="0")[visible_json(value, indent=2)]
    ]


def _pairs(value: Mapping[str, Any], ctx: ViewContext, depth: int) -> h.Node:
    first = list(value.items())[:MAX_ITEMS]
    return h.div(".view-value")[
        h.dl(".view-pairs")[
            (
                h.div(class_=["view-pair", is_nested(part) and "view-pair-deep"])[
                    h.dt[key_label(name)], h.dd[render_plain(part, ctx.inside(at), depth + 1)]
                ]
                for at, (name, part) in enumerate(first)
            )
        ],
        _rest(dict(list(value.items())[MAX_ITEMS:]), ctx),
    ]


def key_label(name: str) -> h.Node:
    """A key as a label; one that says nothing as a label is shown as it is."""
    return visible_text(humanize_field_name(name) or name) if name.strip() else muted("no name")


def is_nested(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def _rest(rest: Any, ctx: ViewContext) -> h.Node:
    """What is not laid out: how much it is, and where to have it."""
    if not rest:
        return None
    more = f"{_count(rest)} more"
    if ctx.downloads is None:
        return json_details(rest, more)
    return h.p(".view-note")[f"{more}: ", h.a(href=f"{ctx.downloads}.json", download="")["Download JSON"]]


def _list(value: list[Any], ctx: ViewContext, depth: int) -> h.Node:
    content = read_table(value, {"limit": MAX_ITEMS}) if _are_rows(value) else None
    if content is not None and len(content["columns"]) <= _WIDE:
        return [render_rows("", content, ctx, depth + 1), _rest(value[MAX_ITEMS:], ctx)]
    first = enumerate(value[:MAX_ITEMS])
    return h.div(".view-value")[
        h.ol(".view-list")[(h.li[render_plain(item, ctx.inside(at), depth + 1)] for at, item in first)],
        _rest(value[MAX_ITEMS:], ctx),
    ]


def _are_rows(value: list[Any]) -> bool:
    """Objects with mostly the same names: a table shows them better than a list."""
    if len(value) < 2 or not all(isinstance(item, Mapping) and item for item in value):
        return False
    names = {name for item in value for name in item}
    return sum(len(item) for item in value) * 2 >= len(names) * len(value)


def render_rows(
    key: str, content: Mapping[str, Any], ctx: ViewContext, depth: int = 0, label: str = ""
) -> h.Node:
    """A table whose cells may be values of any shape."""
    return render_table(key, content, ctx, depth, label, render_plain)


def data_details(
    content: Mapping[str, Any],
    ctx: ViewContext,
    label: str,
    truncation: str | None = None,
    left_out: Sequence[str] = (),
) -> h.Node:
    """The data behind a drawing, one click away; the rest tells what is not in the drawing."""
    return [
        note(f"{truncation[:1].upper()}{truncation[1:]}; the data has all.") if truncation else None,
        h.p(".view-note")["Only in the data: ", visible_text(", ".join(left_out)), "."] if left_out else None,
        h.details(".view-fold.view-data")[
            h.summary["Data"],
            render_rows("", content, ctx.inside("data"), 0, label),
            _rest(content["rows"][content["limit"] :], ctx),
        ],
    ]
