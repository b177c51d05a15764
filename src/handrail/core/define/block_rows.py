"""Rows: the shapes in which tools give tables and numbers, read as rows with keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.core.define.block_config import Config, as_number, field, fields_in, is_number, text_in

MOST_SERIES = 5
HUGE = 1e250
"""Beyond it a number is written, not drawn."""

_NAME, _VALUE = "name", "value"


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows by key, and the keys in order."""

    keys: list[str]
    rows: list[Mapping[str, Any]]
    labels: Mapping[str, str]

    def column(self, key: str) -> dict[str, Any]:
        return field(key, self.labels.get(key))


def rows_of(value: Any, config: Config) -> Rows | None:
    """Objects as they are, lists by position, names with values, or plain values one under the other."""
    labels: dict[str, str] = {}
    if isinstance(value, Mapping):
        rows = _of_object(value)
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
    return Rows(found, rows, labels) if found else None


def _of_object(value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """`{"labels", "series"}`, `{name: object}`, or `{name: value}`."""
    series = value.get("series", value.get("datasets"))
    labels = value.get("labels")
    if isinstance(labels, list) and isinstance(series, list) and len(value) == 2 and series:
        named = [_line(at, one) for at, one in enumerate(series)]
        if all(one is not None and len(one[1]) == len(labels) for one in named):
            lines = [one for one in named if one is not None]
            if len({name for name, _ in lines} | {_NAME}) == len(lines) + 1:
                return [
                    {_NAME: label, **{name: values[at] for name, values in lines}}
                    for at, label in enumerate(labels)
                ]
    inner = list(value.values())
    if inner and all(isinstance(one, Mapping) and _NAME not in one for one in inner):
        return [{_NAME: name, **one} for name, one in value.items()]
    return [{_NAME: name, _VALUE: one} for name, one in value.items()]


def _line(at: int, given: Any) -> tuple[str, list[Any]] | None:
    if not isinstance(given, Mapping):
        return None
    values = given.get("values", given.get("data"))
    known = {"label", "values"} if "values" in given else {"label", "data"}
    if not isinstance(values, list) or not given.keys() <= known:
        return None
    return text_in(given, "label") or f"series {at + 1}", values


Plotted = tuple[list[str], list[dict[str, Any]], Rows]


def plotted(value: Any, config: Config, along: str, up: str) -> Plotted | None:
    """Labels and series of numbers; None where there is not one number to plot.

    `along` and `up` are the names in the config of the field with the labels and of those with the numbers.
    """
    rows = rows_of(value, config)
    if rows is None:
        return None
    wanted = [one for one in fields_in(config, up) if one["key"] in rows.keys]
    label_key = text_in(config, along)
    if label_key not in rows.keys:
        label_key = _label_key(rows, {one["key"] for one in wanted})
    series = wanted or [
        one
        for key in rows.keys
        if key != label_key and any(is_number(row.get(key)) for row in rows.rows)
        for one in fields_in({**config, "only": key}, "only")
    ]
    lines = [{**one, "values": [as_number(row.get(one["key"])) for row in rows.rows]} for one in series]
    lines = [one for one in lines if any(number is not None for number in one["values"])]
    for one in lines:
        one["label"] = rows.labels.get(one["key"], one["label"])
    if not lines or any(not _can_be_drawn(number) for one in lines for number in one["values"]):
        return None
    if label_key is None:
        return [str(at + 1) for at in range(len(rows.rows))], lines, rows
    return [_label(row.get(label_key)) for row in rows.rows], lines, rows


def _can_be_drawn(number: int | float | None) -> bool:
    return not number or 1 / HUGE < abs(number) < HUGE


def _label_key(rows: Rows, taken: set[str]) -> str | None:
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
