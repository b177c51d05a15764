"""visible: text of tools and callers, with everything written out that a screen would not show as it is.

Escape sequences move the cursor, recolour and retitle a terminal; bidirectional marks make one text look like
another. Neither reaches a screen from here: each such character is written out.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from pydantic_core import to_jsonable_python

_BREAK = re.compile(r'(?<!\\)(?:\\\\)*\\n(?!")')
_BLANKS = re.compile(r'(?<!\\n)(?<![ "]) {2,}|(?<! ) {25,}')
"""Blanks in a row, but for the indentation of a line; and so many that they push the rest out of sight."""
_JOINERS = "\u200c\u200d"
"""Needed inside words of some scripts and inside emoji; they only shape their neighbours."""


def visible(text: str) -> str:
    """Text for a screen; lines and tabs stay."""
    if text.isprintable():
        return text
    return "".join(one if one in "\n\t" or _is_harmless(one) else _written_out(one) for one in text)


def one_line(text: str) -> str:
    """Text for one line of a list."""
    return visible(" ".join(text.split()))


def exact(value: Any, indent: int | None = None) -> str:
    """A value as JSON in which every character can be seen; reading it gives the same value."""
    plain = to_jsonable_python(value, inf_nan_mode="null", fallback=str)
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(plain, ensure_ascii=False, indent=indent, separators=separators)
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(one if one == "\n" or one.isprintable() else _json_escape(one) for one in text)


def exact_blanks(value: Any) -> str:
    """The same on one line, with blanks in a row written out."""
    return _BLANKS.sub(lambda found: "\\u0020" * len(found[0]), exact(value))


def exact_lines(value: Any, indent: str) -> str:
    """The same, going on below where a text breaks its line; every break is still written out."""
    return _BREAK.sub(lambda found: f"{found[0]}\n{indent}", exact_blanks(value))


def _is_harmless(one: str) -> bool:
    return one.isprintable() or one in _JOINERS or unicodedata.category(one) == "Zs"


def _written_out(one: str) -> str:
    code = ord(one)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(one: str) -> str:
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
