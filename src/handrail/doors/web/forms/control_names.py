"""How locations and values are encoded in the names and values of controls."""

from __future__ import annotations

import json
import re
from typing import Any

from handrail.platform.display_text import visible_json

VALUE, MODE, KEPT, SIDE, DRAWN, ROW, KEY = "#", "?", "=", "@", "!", "+", "&"
"""Value; mode; kept as it was; beside it (zone, kind of number); branch drawn; rows; name of a row."""
DO = "_do"

_UNSAFE_CHARACTERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
_UNSAFE_IN_NAMES = re.compile(r"[\x00-\x20\x7f%~/]")


def escape_step(name: str) -> str:
    """A property's name as one step of a pointer: no blank, no control character, no slash of its own."""
    return _UNSAFE_IN_NAMES.sub(_escape, name) if _UNSAFE_IN_NAMES.search(name) else name


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    return {"~": "~0", "/": "~1"}.get(sign) or f"%{ord(sign):02X}"


def has_unsafe_characters(text: str) -> bool:
    """Whether a browser would change the text on its way, or a person could not see what it is.

    Control characters, carriage returns, marks that turn the direction of text or have no width at all.
    """
    return _UNSAFE_CHARACTERS.search(text) is not None


def is_single_line(text: str) -> bool:
    """Whether a box of one line gives the text back as it is."""
    return "\n" not in text and not has_unsafe_characters(text)


def encode_value(value: Any) -> str:
    """Any value for an attribute: text as it is where that is safe, else `=` and JSON."""
    if isinstance(value, str) and value and value[0] != "=" and is_single_line(value):
        return value
    return "=" + visible_json(value)


def decode_value(text: str) -> Any:
    """The value that was spelled so; text that only looks like it is text."""
    if text.startswith("="):
        try:
            return json.loads(text[1:])
        except ValueError:
            return text
    return text


def normalize_newlines(text: str) -> str:
    """Text as it was typed: browsers send every end of a line as two characters."""
    return text.replace("\r\n", "\n") if "\r" in text else text


class FieldLocation:
    """A pointer by the keys of rows, which names controls, and a path by indices, which names values."""

    __slots__ = ("dotted", "pointer", "still")

    def __init__(self, pointer: str = "", dotted: str = "", still: bool = False) -> None:
        self.pointer = pointer
        self.dotted = dotted
        self.still = still
        """Whether it is the same field in every drawing: no row, no chosen shape on the way."""

    def child(self, step: str, name: str) -> FieldLocation:
        """The place of a named value; `step` is its name, escaped."""
        dotted = f"{self.dotted}.{name}" if self.dotted else name
        return FieldLocation(f"{self.pointer}/{step}", dotted, self.still)

    def item(self, key: str, index: int) -> FieldLocation:
        """The place of an item, by the key of its row and by its index."""
        return FieldLocation(
            f"{self.pointer}/{escape_step(key)}", f"{self.dotted}.{index}" if self.dotted else str(index)
        )

    def within(self) -> FieldLocation:
        """The place of the shape that was chosen for this one: the same value, controls of its own."""
        return FieldLocation(f"{self.pointer}/~u", self.dotted)

    def further(self, key: str, name: str) -> FieldLocation:
        """The place of a further value of an object, whose name is typed in its row."""
        return FieldLocation(
            f"{self.pointer}/~k{escape_step(key)}", f"{self.dotted}.{name}" if self.dotted else name
        )
