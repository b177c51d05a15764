"""Reading what a section's config says; what it says in a shape that we do not know counts as not said."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from handrail.core.define.names import humanize_field_name

Config = Mapping[str, Any]

FORMATS = frozenset(
    "number integer percent currency duration date datetime text code markdown link boolean".split()
)
MOST_DECIMALS = 12

_DECIMAL = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?\Z", re.ASCII)


def text_in(config: Config, name: str) -> str | None:
    given = config.get(name)
    return given if isinstance(given, str) and given else None


def number_in(config: Config, name: str) -> int | float | None:
    return as_number(config.get(name))


def count_in(config: Config, name: str, default: int) -> int:
    given = config.get(name)
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else default


def how_in(config: Config) -> dict[str, Any]:
    """How figures are written: `format`, `decimals`, `unit`."""
    how: dict[str, Any] = {}
    if (form := text_in(config, "format")) in FORMATS:
        how["format"] = form
    decimals = config.get("decimals")
    if isinstance(decimals, int) and not isinstance(decimals, bool) and 0 <= decimals <= MOST_DECIMALS:
        how["decimals"] = decimals
    if unit := text_in(config, "unit"):
        how["unit"] = unit
    return how


def fields_in(config: Config, name: str) -> list[dict[str, Any]]:
    """Fields that are named alone or with a label and a format: `"year"`, `{"key": "net", "unit": "EUR"}`."""
    given = config.get(name)
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return list(_fields(several, how_in(config)))


def _fields(several: Sequence[Any], how: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for one in several:
        if isinstance(one, str):
            yield field(one) | how
        elif isinstance(one, Mapping) and isinstance(one.get("key"), str):
            yield {**field(one["key"], text_in(one, "label")), **how, **how_in(one)}


def field(key: str, label: str | None = None) -> dict[str, Any]:
    """A column, a figure or a series: which key, under which label."""
    return {"key": key, "label": label or humanize_field_name(key) or key}


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def as_number(value: Any) -> int | float | None:
    """The number that a value is, or that it is written as: decimals come as text."""
    if is_number(value):
        number: int | float = value
        return number
    if isinstance(value, str) and _DECIMAL.match(value):
        return float(value)
    return None
