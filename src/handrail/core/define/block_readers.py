"""Readers: a section's value and config, as the content of a block. None says that the value does not fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from handrail.core.define.block_config import (
    Config,
    count_in,
    field,
    fields_in,
    how_in,
    number_in,
    text_in,
)
from handrail.core.define.block_rows import MOST_SERIES, Rows, plotted, rows_of
from handrail.core.define.sections import SectionKind

Content = dict[str, Any]

CHARTS = ("bar", "line", "area")
TABLE_LIMIT = 100
"""Rows that a table shows before somebody asks for all."""
FRAME_HEIGHTS = (80, 2000)


def read_summary(value: Any, config: Config) -> Content | None:
    """Figures with labels; text alone is a paragraph."""
    if isinstance(value, str) and "figures" not in config and not how_in(config):
        return {"text": value}
    if isinstance(value, list):
        return _labelled(value, config)
    if not isinstance(value, Mapping):
        return None if value is None else {"figures": [{**field(""), **how_in(config), "value": value}]}
    if not value:
        return None
    wanted = {one["key"]: one for one in fields_in(config, "figures")}
    shown = [wanted[key] for key in wanted if key in value]
    shown += [field(key) | how_in(config) for key in value if key not in wanted]
    figures = [{**one, "value": value[one["key"]]} for one in shown if not _deep(value[one["key"]])]
    inner = {one["key"]: value[one["key"]] for one in shown if _deep(value[one["key"]])}
    return {"figures": figures, "more": inner} if inner else {"figures": figures}


def _labelled(value: list[Any], config: Config) -> Content | None:
    """Figures that bring their own labels: `[{"label": "NPV", "value": 84210, "unit": "EUR"}]`."""
    known = {"label", "value", "key", "format", "decimals", "unit"}
    figures = []
    for one in value:
        if not isinstance(one, Mapping) or not {"label", "value"} <= one.keys() <= known:
            return None
        if not isinstance(one["label"], str) or _deep(one["value"]):
            return None
        name = {"key": text_in(one, "key") or one["label"], "label": one["label"]}
        figures.append({**name, **how_in(config), **how_in(one), "value": one["value"]})
    return {"figures": figures} if figures else None


def _deep(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def read_table(value: Any, config: Config) -> Content | None:
    """Columns and rows of cells."""
    rows = rows_of(value, config)
    if rows is None:
        return None
    columns = [one for one in fields_in(config, "columns") if one["key"] in rows.keys] or [
        rows.column(key) for key in rows.keys
    ]
    named = {one["key"] for one in columns}
    content: Content = {
        "columns": columns,
        "rows": [[row.get(one["key"]) for one in columns] for row in rows.rows],
        "limit": count_in(config, "limit", TABLE_LIMIT),
    }
    if hidden := [key for key in rows.keys if key not in named]:
        content["hidden"] = hidden
    if (sort := text_in(config, "sort")) and sort.removeprefix("-") in named:
        content["sort"] = sort
    return content


def read_chart(value: Any, config: Config) -> Content | None:
    """Labels along the axis, and one or more series of numbers or gaps."""
    found = plotted(value, config, "x", "y")
    if found is None:
        return None
    labels, series, rows = found
    kind = config.get("kind")
    return {
        "kind": kind if isinstance(kind, str) and kind in CHARTS else "bar",
        "labels": labels,
        "series": series[:MOST_SERIES],
        "left_out": [one["label"] for one in series[MOST_SERIES:]],
        "stacked": config.get("stacked") is True and all(_none_below(one["values"]) for one in series),
        "table": _whole_table(rows, config),
    }


def _none_below(values: list[Any]) -> bool:
    return all(one is None or one >= 0 for one in values)


def read_radar(value: Any, config: Config) -> Content | None:
    """At least three axes, and one or more series of numbers on them."""
    found = plotted(value, config, "axis", "value")
    if found is None or len(found[0]) < 3:
        return None
    axes, series, rows = found
    numbers = [one for line in series for one in line["values"] if one is not None]
    least = number_in(config, "min")
    most = number_in(config, "max")
    low = min([0 if least is None else least, *numbers])
    high = max([*([] if most is None else [most]), *numbers])
    content: Content = {"axes": axes, "series": series[:MOST_SERIES], "min": low, "max": high}
    content |= {
        "left_out": [one["label"] for one in series[MOST_SERIES:]],
        "table": _whole_table(rows, config),
    }
    return content if high > low else None


def read_ranking(value: Any, config: Config) -> Content | None:
    """Items in order, each with a number and perhaps a note."""
    found = plotted(value, config, "label", "value")
    if found is None:
        return None
    labels, series, rows = found
    note = text_in(config, "note")
    items = [
        {"label": label, "value": number, **({"note": row[note]} if note is not None and note in row else {})}
        for label, number, row in zip(labels, series[0]["values"], rows.rows, strict=True)
    ]
    if (order := config.get("order")) != "given":
        known = [one for one in items if one["value"] is not None]
        known.sort(key=lambda one: one["value"], reverse=order != "ascending")
        items = known + [one for one in items if one["value"] is None]
    content: Content = {"items": items, **how_in(config), "table": _whole_table(rows, config)}
    content |= {name: series[0][name] for name in ("format", "decimals", "unit") if name in series[0]}
    if (most := number_in(config, "max")) is not None and most > 0:
        content["max"] = most
    return content


def _whole_table(rows: Rows, config: Config) -> Content:
    columns = [rows.column(key) for key in rows.keys]
    named = {one["key"]: one for one in fields_in(config, "columns")}
    columns = [named.get(one["key"], one) for one in columns]
    cells = [[row.get(key) for key in rows.keys] for row in rows.rows]
    return {"columns": columns, "rows": cells, "limit": TABLE_LIMIT}


def read_custom(value: Any, config: Config) -> Content | None:
    """HTML of a tool's own, for a frame in which it can do nothing but be looked at."""
    html = value.get("html") if isinstance(value, Mapping) and value.keys() == {"html"} else value
    if not isinstance(html, str) or not html.strip():
        return None
    low, high = FRAME_HEIGHTS
    height = min(max(count_in(config, "height", 320), low), high)
    return {"html": html, "height": height, "scripts": config.get("scripts") is True}


READERS: Mapping[SectionKind, Callable[[Any, Config], Content | None]] = {
    "summary": read_summary,
    "table": read_table,
    "chart": read_chart,
    "radar": read_radar,
    "ranking": read_ranking,
    "custom": read_custom,
}
