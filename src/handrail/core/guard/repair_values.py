"""Readings of a scalar: which other JSON value the same words or digits can stand for, and nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from handrail.core.guard.repair_shape import Shape, is_vast, same, type_of

Reading = tuple[Any, str]
"""Another value, and the kind of repair that leads to it."""

Unit = tuple[str, str]
"""A dimension and the first spelling of one unit in it."""

MAX_NUMBER = 100

_WHOLE = re.compile(r"([+-]?(?:0|[1-9][0-9]*))(?:\.00?)?")
"""Not three zeros: "1.000" is a thousand to half the world."""
_NUMBER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?")
_QUANTITY = re.compile(
    r"(?P<sign>[$€£¥])?\s*(?P<number>[+-]?[0-9](?:[0-9.,'_\s]*[0-9])?)\s*(?P<unit>°?[^\W\d_]+|[%$€£¥])?"
)
_GROUPED = r"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+(?:\.[0-9]+)?"
"""Digits in threes, with one kind of mark between them."""
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_NOTHING = ("null", "none")
# A separator at the edge, between digits, or that may be a minus sign ("x -1") carries meaning and stays.
_JOINT = re.compile(r"(?<=[^\W\d_])(?:[\s_-]+(?=[^\W\d_])|(?:[\s_]+|-)(?=\d))|(?<=\d)[\s_-]+(?=[^\W\d_])")

_SPELLINGS: dict[str, tuple[str, ...]] = {
    "time": (
        "µs us microsecond microseconds",
        "ms msec millisecond milliseconds",
        "s sec secs second seconds",
        "min mins minute minutes",
        "h hr hrs hour hours",
        "d day days",
        "week weeks",
        "month months",
        "year years",
    ),
    "share": ("% percent percentage pct", "fraction ratio", "permille ‰", "bps"),
    "money": (
        "$ usd dollar dollars",
        "€ eur euro euros",
        "£ gbp",
        "¥ jpy yen",
        "chf franken",
        "cent cents ¢",
        "cad canadian",
        "aud australian",
    ),
    "mass": ("kg kilogram kilograms", "g gram grams", "mg milligram milligrams", "tonne tonnes", "lb lbs"),
    "length": (
        "km kilometer kilometers kilometre kilometres",
        "m meter meters metre metres",
        "cm centimeter centimeters centimetre centimetres",
        "mm millimeter millimeters millimetre millimetres",
        "mile miles mi",
        "ft foot feet",
        "inch inches",
    ),
    "data": (
        "B byte bytes",
        "kb kilobyte kilobytes",
        "mb megabyte megabytes",
        "gb gigabyte gigabytes",
        "tb terabyte terabytes",
        "kib kibibyte kibibytes",
        "mib mebibyte mebibytes",
        "gib gibibyte gibibytes",
        "bit bits",
        "Kb kbit kilobit kilobits",
        "Mb mbit megabit megabits",
        "Gb gbit gigabit gigabits",
    ),
    "screen": ("px pixel pixels", "pt", "rem", "em"),
    "temperature": ("°C °c celsius", "°F °f fahrenheit", "K kelvin"),
}
_UNITS: dict[str, Unit] = {
    spelling: (dimension, unit.split()[0])
    for dimension, units in _SPELLINGS.items()
    for unit in units
    for spelling in unit.split()
}
_ALSO_WORDS = ("min", "mins", "second", "em", "pt")
_WORD = re.compile(
    r"""(?P<lead>[0-9]\s?|\bin\s|(?<!\w)[(\[])?           # what must stand before a short word
        (?<![^\W\d]|['\u2019/.\-]) (?<!per\s)(?<!square\s)(?<!cubic\s)
        (?P<word>[%‰$€£¥¢] | °?[^\W\d_]+ (?![\w'\u2019/²³^\-]|\sper\b))""",
    re.VERBOSE,
)


def fold(name: str) -> str:
    """A name without its case, spacing, underscores and hyphens."""
    return _JOINT.sub("", name.strip()).casefold()


def readings(value: object, shape: Shape) -> Iterator[Reading]:
    """What a scalar of the wrong type, or that is no choice, can stand for where the shape is wanted."""
    if shape.choices is not None:
        yield from ((choice, "choice spelling") for choice in _chosen(value, shape.choices))
        return
    for json_type in ("number" if "number" in shape.types else "integer", "boolean", "string", "null"):
        if json_type not in shape.types:
            continue
        if (reading := _read(value, json_type)) is not None:
            yield reading
        elif json_type in ("number", "integer") and isinstance(value, str):
            yield from _quantity(value, json_type, shape)


def _read(value: object, json_type: str) -> Reading | None:
    """The value as one JSON type."""
    if isinstance(value, str):
        return _read_text(value, json_type)
    if json_type == "boolean" and type_of(value) == "integer" and value in (0, 1):
        return value == 1, "number as boolean"
    if json_type == "integer" and isinstance(value, float) and value.is_integer() and not is_vast(value):
        return int(value), "whole number"
    if json_type == "string" and (text := _text(value)) is not None:
        return text, "boolean as text" if isinstance(value, bool) else "number as text"
    return None


def _read_text(text: str, json_type: str) -> Reading | None:
    word = text.strip().lower()
    if json_type == "boolean" and word in _TRUTH:
        return _TRUTH[word], "text as boolean"
    if json_type == "null" and word in _NOTHING:
        return None, "text as null"
    if json_type in ("integer", "number") and (number := to_number(text, json_type)) is not None:
        return number, "text as number"
    return None


def to_number(text: str, json_type: str) -> int | float | None:
    """The number a text spells in JSON's own notation, if nothing of it would be lost."""
    text = text.strip()
    if len(text) > MAX_NUMBER:
        return None
    if json_type == "integer":
        match = _WHOLE.fullmatch(text)
        return int(match[1]) if match else None
    if not _NUMBER.fullmatch(text) or Decimal(text) != Decimal(repr(float(text))):
        return None
    return float(text) if re.search("[.eE]", text) else int(text)


def _text(value: object) -> str | None:
    """A number or boolean as JSON writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    # Python refuses to print an integer of thousands of digits.
    if isinstance(value, int) and value.bit_length() < 1000:
        return str(value)
    return repr(value) if isinstance(value, float) and math.isfinite(value) else None


def _chosen(value: object, choices: tuple[Any, ...]) -> Iterator[Any]:
    """The choices the value can stand for."""
    for choice in choices:
        json_type = type_of(choice)
        read = _read(value, json_type) if json_type not in (None, "string") else None
        if read is not None and same(read[0], choice):
            yield choice
    text = value if isinstance(value, str) else _text(value)
    words = [choice for choice in choices if isinstance(choice, str)]
    if text is None or ("-" not in text and any(_is_plus(word, text) for word in words)):
        return
    yield from (word for word in words if fold(word) == fold(text))


def _is_plus(word: str, text: str) -> bool:
    """Whether the word is "UTC+5" where the text is "UTC 5", which "UTC-5" would match as well."""
    return "+" in word and fold(word.replace("+", "-")) == fold(text)


def may_be_several(text: str) -> bool:
    """Whether a text given for a list may stand for several values, for none, or for broken JSON."""
    word = text.strip().lower()
    return word in ("", *_NOTHING) or word[0] in '[{"' or re.search("[,;\n\r]", text) is not None


def _quantity(text: str, json_type: str, shape: Shape) -> Iterator[Reading]:
    """A number with a unit or with marks between its thousands, as far as the description explains them."""
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= MAX_NUMBER else None
    if match is None:
        return
    units = {_unit_of(name) for name in (match["sign"], match["unit"]) if name}
    plain = _ungrouped(match["number"], shape)
    if plain is None or not all(_is_the_unit(unit, shape.description) for unit in units):
        return
    if len(units) < 2 and (number := to_number(plain, json_type)) is not None:
        yield number, "unit left out" if units else "separators left out"


def _ungrouped(number: str, shape: Shape) -> str | None:
    """The digits without the marks between thousands, if the schema itself writes numbers that way."""
    mark = re.search(r"[,'_\s]", number)
    if mark is None:
        return number
    grouped = _GROUPED.format(mark=re.escape(mark[0]))
    shown = (shape.description, *(example for example in shape.examples if isinstance(example, str)))
    if not re.fullmatch("[+-]?" + grouped, number):
        return None
    if not any(re.search(rf"(?<![\w.,]){grouped}(?![\w,]|\.\d)", text, re.ASCII) for text in shown):
        return None
    return number.replace(mark[0], "")


def _unit_of(word: str) -> Unit | None:
    """The unit that a word or sign names. One letter counts as it is written: "M" is no metre."""
    return _UNITS.get(word) or (_UNITS.get(word.casefold()) if len(word) > 1 else None)


def _is_the_unit(unit: Unit | None, description: str) -> bool:
    """Whether a description names this unit and no other of its dimension."""
    return unit is not None and {other for other in _mentioned(description) if other[0] == unit[0]} == {unit}


def _mentioned(description: str) -> Iterator[Unit]:
    for match in _WORD.finditer(description):
        word = match["word"]
        unit = _unit_of(word)
        # "e.g.", "item(s)" and "min 1" name no unit; "30 s", "in min" and "(s)" do.
        doubtful = (len(word) == 1 and word.isalpha()) or word.casefold() in _ALSO_WORDS
        if unit is not None and (_is_shown(match) or not doubtful):
            yield unit


def _is_shown(match: re.Match[str]) -> bool:
    """Whether a short word follows a number or "in", or stands alone in brackets."""
    lead = match["lead"]
    if lead in ("(", "["):
        return match.string[match.end() : match.end() + 1] in (")", "]")
    return lead is not None
