"""The wire: how places and values are spelled in the names and values of controls.

The name of a control is a sign and a JSON pointer. `#` carries the value, the other signs say how it was
drawn, so that what comes back is read the way it was shown.
"""

from __future__ import annotations

import json
import re
from typing import Any

from handrail.doors.visible import exact

VALUE, MODE, KEPT, SIDE, DRAWN, ROW, KEY = "#", "?", "=", "@", "!", "+", "&"
"""Value; mode; kept as it was; beside it (zone, kind of number); branch drawn; rows; name of a row."""
DO = "_do"

_AWKWARD = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
_UNSAFE = re.compile(r"[\x00-\x20\x7f%~/]")


def escaped(name: str) -> str:
    """A property's name as one step of a pointer: no blank, no control character, no slash of its own."""
    return _UNSAFE.sub(_escape, name) if _UNSAFE.search(name) else name


def _escape(found: re.Match[str]) -> str:
    sign = found[0]
    return {"~": "~0", "/": "~1"}.get(sign) or f"%{ord(sign):02X}"


def is_awkward(text: str) -> bool:
    """Whether a browser would change the text on its way, or a person could not see what it is.

    Control characters, carriage returns, marks that turn the direction of text or have no width at all.
    """
    return _AWKWARD.search(text) is not None


def one_line(text: str) -> bool:
    """Whether a box of one line gives the text back as it is."""
    return "\n" not in text and not is_awkward(text)


def written(value: Any) -> str:
    """A value as JSON text in which every character can be seen."""
    return exact(value)


def spelled(value: Any) -> str:
    """Any value for an attribute: text as it is where that is safe, else `=` and JSON."""
    if isinstance(value, str) and value and value[0] != "=" and one_line(value):
        return value
    return "=" + written(value)


def unspelled(text: str) -> Any:
    """The value that was spelled so; text that only looks like it is text."""
    if text.startswith("="):
        try:
            return json.loads(text[1:])
        except ValueError:
            return text
    return text


def as_lines(text: str) -> str:
    """Text as it was typed: browsers send every end of a line as two characters."""
    return text.replace("\r\n", "\n") if "\r" in text else text
