"""What a block shows: a section's value and config as figures, tables, charts and rankings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handrail.core.define.names import humanize_field_name
from handrail.core.define.ui_specs import SectionKind

Config = Mapping[str, Any]

FORMATS = frozenset(
    "number integer percent currency duration date datetime text code markdown link boolean".split()
)
MAX_DECIMALS = 12
_DECIMAL = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?\Z", re.ASCII)


def text_in(config: Config, name: str) -> str | None:
    value = config.get(name)
    return value if isinstance(value, str) and value else None


def count_in(config: Config, name: str, default: int) -> int:
    value = config.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


def number_format_in(config: Config) -> dict[str, Any]:
    """How figures are written: `format`, `decimals`, `unit`."""
    how: dict[str, Any] = {}
    if (form := text_in(config, "format")) in FORMATS:
        how["format"] = form
    decimals = config.get("decimals")
    if isinstance(decimals, int) and not isinstance(decimals, bool) and 0 <= decimals <= MAX_DECIMALS:
        how["decimals"] = decimals
    if unit := text_in(config, "unit"):
        how["unit"] = unit
    return how


def fields_in(config: Config, name: str) -> list[dict[str, Any]]:
    """Fields that are named alone or with a label and a format: `"year"`, `{"key": "net", "unit": "EUR"}`."""
    value = config.get(name)
    items = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return list(_labelled_keys(items, number_format_in(config)))


def _labelled_keys(items: Sequence[Any], how: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in items:
        if isinstance(item, str):
            yield labelled_key(item) | how
        elif isinstance(item, Mapping) and isinstance(item.get("key"), str):
            yield {**labelled_key(item["key"], text_in(item, "label")), **how, **number_format_in(item)}


def labelled_key(key: str, label: str | None = None) -> dict[str, Any]:
    """A column, a figure or a series: which key, under which label."""
    return {"key": key, "label": label or humanize_field_name(key) or key}


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def as_number(value: Any) -> int | float | None:
    """The number that a value is, or that it is written as: decimals come as text."""
    if isinstance(value, str):
        return float(value) if _DECIMAL.match(value) else None
    return value if is_number(value) else None


MAX_SERIES = 5

MAX_DRAWN = 1e250
"""Beyond it a number is written, not drawn."""
_NAME, _VALUE = "name", "value"


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows by key, and the keys in order."""

    keys: list[str]
    rows: list[Mapping[str, Any]]
    labels: Mapping[str, str]

    def column(self, key: str) -> dict[str, Any]:
        return labelled_key(key, self.labels.get(key))


def rows_of(value: Any, config: Config) -> TableRows | None:
    """Objects as they are, lists by position, names with values, or plain values one under the other."""
    labels: dict[str, str] = {}
    if isinstance(value, Mapping):
        rows = _object_rows(value)
    elif isinstance(value, list) and value and all(isinstance(one, list) for one in value):
        keys = [one["key"] for one in fields_in(config, "columns")]
        most = max(map(len, value))
        keys += [str(at + 1) for at in range(len(keys), most)]
        rows = [dict(zip(keys, one, strict=False)) for one in value]
        labels = {str(at + 1): f"Column {at + 1}" for at in range(most)}
    elif isinstance(value, list):
        rows = [one if isinstance(one, Mapping) else {_VALUE: one} for one in value]
    else:
        return None
    found = list(dict.fromkeys(key for row in rows for key in row))
    return TableRows(found, rows, labels) if found else None


def _object_rows(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """`{"labels", "series"}`, `{name: object}`, or `{name: value}`."""
    series = value.get("series", value.get("datasets"))
    labels = value.get("labels")
    if isinstance(labels, list) and isinstance(series, list) and len(value) == 2 and series:
        named = [_series(at, part) for at, part in enumerate(series)]
        if all(part is not None and len(part[1]) == len(labels) for part in named):
            lines = [part for part in named if part is not None]
            if len({name for name, _ in lines} | {_NAME}) == len(lines) + 1:
                return [
                    {_NAME: label, **{name: values[at] for name, values in lines}}
                    for at, label in enumerate(labels)
                ]
    inner = list(value.values())
    if inner and all(isinstance(part, Mapping) and _NAME not in part for part in inner):
        return [{_NAME: name, **part} for name, part in value.items()]
    return [{_NAME: name, _VALUE: part} for name, part in value.items()]


def _series(at: int, item: Any) -> tuple[str, list[Any]] | None:
    if not isinstance(item, Mapping):
        return None
    values = item.get("values", item.get("data"))
    keys = {"label", "values"} if "values" in item else {"label", "data"}
    if not isinstance(values, list) or not item.keys() <= keys:
        return None
    return text_in(item, "label") or f"series {at + 1}", values


ChartSeries = tuple[list[str], list[dict[str, Any]], TableRows]


def chart_series(value: Any, config: Config, along: str, up: str) -> ChartSeries | None:
    """Labels and series of numbers; None where there is not one number to plot.

    `along` and `up` are the names in the config of the field with the labels and of those with the numbers.
    """
    rows = rows_of(value, config)
    if rows is None:
        return None
    chosen = [line for line in fields_in(config, up) if line["key"] in rows.keys]
    label_key = text_in(config, along)
    if label_key not in rows.keys:
        label_key = _label_key(rows, {line["key"] for line in chosen})
    series = chosen or [
        line
        for key in rows.keys
        if key != label_key and any(is_number(row.get(key)) for row in rows.rows)
        for line in fields_in({**config, "only": key}, "only")
    ]
    lines = [{**line, "values": [as_number(row.get(line["key"])) for row in rows.rows]} for line in series]
    lines = [line for line in lines if any(number is not None for number in line["values"])]
    for line in lines:
        line["label"] = rows.labels.get(line["key"], line["label"])
    numbers = [number for line in lines for number in line["values"] if number]
    if not lines or any(not 1 / MAX_DRAWN < abs(number) < MAX_DRAWN for number in numbers):
        return None
    if label_key is None:
        return [str(at + 1) for at in range(len(rows.rows))], lines, rows
    return [_label(row.get(label_key)) for row in rows.rows], lines, rows


def _label_key(rows: TableRows, taken: set[str]) -> str | None:
    """The first field with texts; among numbers alone the first of several."""
    free = [key for key in rows.keys if key not in taken]
    if not free or (len(free) == 1 and not taken):
        return None
    for key in free:
        if any(isinstance(row.get(key), str) and as_number(row.get(key)) is None for row in rows.rows):
            return key
    return free[0]


def _label(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return str(value) if is_number(value) else ""


Content = dict[str, Any]
CHARTS = ("bar", "line", "area")

TABLE_LIMIT = 100
"""Rows that a table shows before somebody asks for all."""
FRAME_HEIGHTS = (80, 2000)


def read_summary(value: Any, config: Config) -> Content | None:
    """Figures with labels; text alone is a paragraph."""
    if isinstance(value, str) and "figures" not in config and not number_format_in(config):
        return {"text": value}
    if isinstance(value, list):
        return _labelled_figures(value, config)
    if value is None or value == {}:
        return None
    if not isinstance(value, Mapping):
        return {"figures": [{**labelled_key(""), **number_format_in(config), "value": value}]}
    hinted = {figure["key"]: figure for figure in fields_in(config, "figures")}
    shown = [hinted[key] for key in hinted if key in value]
    shown += [labelled_key(key) | number_format_in(config) for key in value if key not in hinted]
    figures = [
        {**figure, "value": value[figure["key"]]} for figure in shown if not _is_nested(value[figure["key"]])
    ]
    inner = {figure["key"]: value[figure["key"]] for figure in shown if _is_nested(value[figure["key"]])}
    return {"figures": figures, "more": inner} if inner else {"figures": figures}


def _labelled_figures(value: list[Any], config: Config) -> Content | None:
    """Figures that bring their own labels: `[{"label": "NPV", "value": 84210, "unit": "EUR"}]`."""
    keys = {"label", "value", "key", "format", "decimals", "unit"}
    figures = []
    for figure in value:
        if not isinstance(figure, Mapping) or not {"label", "value"} <= figure.keys() <= keys:
            return None
        if not isinstance(figure["label"], str) or _is_nested(figure["value"]):
            return None
        name = {"key": text_in(figure, "key") or figure["label"], "label": figure["label"]}
        figures.append(
            {**name, **number_format_in(config), **number_format_in(figure), "value": figure["value"]}
        )
    return {"figures": figures} if figures else None


def _is_nested(value: Any) -> bool:
    return isinstance(value, (Mapping, list)) and bool(value)


def read_table(value: Any, config: Config) -> Content | None:
    """Columns and rows of cells."""
    rows = rows_of(value, config)
    if rows is None:
        return None
    columns = [column for column in fields_in(config, "columns") if column["key"] in rows.keys] or [
        rows.column(key) for key in rows.keys
    ]
    named = {column["key"] for column in columns}
    content: Content = {
        "columns": columns,
        "rows": [[row.get(column["key"]) for column in columns] for row in rows.rows],
        "limit": count_in(config, "limit", TABLE_LIMIT),
    }
    if hidden := [key for key in rows.keys if key not in named]:
        content["hidden"] = hidden
    if (sort := text_in(config, "sort")) and sort.removeprefix("-") in named:
        content["sort"] = sort
    return content


def read_chart(value: Any, config: Config) -> Content | None:
    """Labels along the axis, and one or more series of numbers or gaps."""
    chart = chart_series(value, config, "x", "y")
    if chart is None:
        return None
    labels, series, rows = chart
    kind = config.get("kind")
    is_positive = all(number is None or number >= 0 for line in series for number in line["values"])
    return {
        "kind": kind if isinstance(kind, str) and kind in CHARTS else "bar",
        "labels": labels,
        "series": series[:MAX_SERIES],
        "left_out": [line["label"] for line in series[MAX_SERIES:]],
        "stacked": config.get("stacked") is True and is_positive,
        "table": _data_table(rows, config),
    }


def read_radar(value: Any, config: Config) -> Content | None:
    """At least three axes, and one or more series of numbers on them."""
    chart = chart_series(value, config, "axis", "value")
    if chart is None or len(chart[0]) < 3:
        return None
    axes, series, rows = chart
    numbers = [number for line in series for number in line["values"] if number is not None]
    least, most = as_number(config.get("min")), as_number(config.get("max"))
    low = min([0 if least is None else least, *numbers])
    high = max(numbers if most is None else [most, *numbers])
    content: Content = {
        "axes": axes,
        "series": series[:MAX_SERIES],
        "min": low,
        "max": high,
        "left_out": [line["label"] for line in series[MAX_SERIES:]],
        "table": _data_table(rows, config),
    }
    return content if high > low else None


def read_ranking(value: Any, config: Config) -> Content | None:
    """Items in order, each with a number and perhaps a note."""
    chart = chart_series(value, config, "label", "value")
    if chart is None:
        return None
    labels, series, rows = chart
    note = text_in(config, "note")
    items = [
        {"label": label, "value": number, **({"note": row[note]} if note is not None and note in row else {})}
        for label, number, row in zip(labels, series[0]["values"], rows.rows, strict=True)
    ]
    if (order := config.get("order")) != "given":
        ranked = [item for item in items if item["value"] is not None]
        ranked.sort(key=lambda item: item["value"], reverse=order != "ascending")
        items = ranked + [item for item in items if item["value"] is None]
    content: Content = {"items": items, **number_format_in(config), "table": _data_table(rows, config)}
    content |= {name: series[0][name] for name in ("format", "decimals", "unit") if name in series[0]}
    if (most := as_number(config.get("max"))) is not None and most > 0:
        content["max"] = most
    return content


def _data_table(rows: TableRows, config: Config) -> Content:
    named = {column["key"]: column for column in fields_in(config, "columns")}
    columns = [named.get(key) or rows.column(key) for key in rows.keys]
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
