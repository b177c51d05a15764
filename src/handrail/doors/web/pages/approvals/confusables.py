"""Characters that do not show, or that look like others. A reviewer must not mistake one for another.

What nobody can see, or tell from something else, is `written` out as JSON writes it: `\\u202e`. What people
do write and can be taken for something else (dashes, a word of Cyrillic letters that could be a Latin one) is
`noted`: it keeps its look and is marked. Read together, the pieces are the same JSON as before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["plain", "written", "noted"]

_ESCAPE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])')
_QUIET = frozenset({'\\"', "\\\\"})
_WORD = re.compile(r"[^\W\d_]+")
_UNSEEN = frozenset(map(chr, (0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)))
"""Assigned, printable by their category, and yet nothing to see."""
_UNSEEN_RANGES = (range(0x180B, 0x1810), range(0xFE00, 0xFE10), range(0xE0000, 0xE1000))
_FREE = frozenset("¹²³¼½¾ªº")
"""Has a simpler form that nobody takes it for."""
_DASHES_AND_QUOTES = range(0x2010, 0x2060)
_LIKE_ASCII = frozenset(
    map(chr, (0x131, 0x1C0, 0x1C3, 0x2B9, 0x2BC, 0x2C8, 0x2212, 0x2215, 0x2217, 0x2223, 0x2236, 0x223C))
)
_PHONETIC = (range(0x250, 0x2B0), range(0x1D00, 0x1DC0), range(0xA720, 0xA800), range(0xAB30, 0xAB70))
_ALPHABETS = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET", "OSAGE"})
"""Scripts with letters that are taken for Latin ones."""
_LATIN_LOOKING = re.compile(
    "[\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u04ae\u050c"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf\u04af\u0475"
    "\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03f9"
    "\u03b1\u03b3\u03b9\u03bd\u03bf\u03c1\u03c5\u03c7\u03f2\u03f3"
    "\u0555\u054d\u053c\u0585\u057d\u0578\u0570\u0581\u0566\u0575\u13a0-\u13ff\ua4d0-\ua4f7]+\\Z"
)
"""A word that has only letters of other scripts which are taken for Latin ones."""


class TextPiece(NamedTuple):
    """A part of a text: as it is, written out, or marked."""

    text: str
    kind: Kind = "plain"
    about: str = ""
    """The name of the character, for whoever points at it."""


def text_pieces(text: str) -> Iterator[TextPiece]:
    """A JSON text in parts, one after the other."""
    start = 0
    for escape in _ESCAPE.finditer(text):
        if escape[0] in _QUIET:
            continue
        yield from _between(text[start : escape.start()])
        yield TextPiece(escape[0], "written", character_name(_unescaped(escape[0])))
        start = escape.end()
    yield from _between(text[start:])


def _between(text: str) -> Iterator[TextPiece]:
    """The parts of a text without escapes."""
    if text.isascii() and "\x7f" not in text:
        if text:
            yield TextPiece(text)
        return
    words = _in_mixed_words(text)
    start = 0
    for at, char in enumerate(text):
        kind = words.get(at) or _kind(char, text[at - 1] if at else "")
        if kind == "plain":
            continue
        if start < at:
            yield TextPiece(text[start:at])
        yield TextPiece(_escape(char) if kind == "written" else char, kind, character_name(char))
        start = at + 1
    if start < len(text):
        yield TextPiece(text[start:])


def _kind(char: str, before: str) -> Kind:
    if char.isascii() and char != "\x7f":
        return "plain"
    if _is_unseen(char) or not unicodedata.is_normalized("NFC", before + char):
        return "written"
    if ord(char) in _DASHES_AND_QUOTES or char in _LIKE_ASCII or any(ord(char) in part for part in _PHONETIC):
        return "noted"
    return "plain" if char in _FREE or unicodedata.is_normalized("NFKC", char) else "written"


@lru_cache(10_000)
def _is_unseen(char: str) -> bool:
    alone = unicodedata.name(char, "").startswith("COMBINING ")
    return (
        alone
        or not char.isprintable()
        or char in _UNSEEN
        or any(ord(char) in part for part in _UNSEEN_RANGES)
    )


def _in_mixed_words(text: str) -> dict[int, Kind]:
    """Letters of another alphabet inside a word of Latin ones are written out; a word that only looks Latin
    is noted."""
    kinds: dict[int, Kind] = {}
    for word in _WORD.finditer(text):
        if word[0].isascii():
            continue
        foreign = [at for at in range(*word.span()) if _script(text[at]) in _ALPHABETS]
        if any(_script(char) == "LATIN" for char in word[0]):
            kinds |= dict.fromkeys(foreign, "written")
        elif _LATIN_LOOKING.match(word[0]):
            kinds |= dict.fromkeys(foreign, "noted")
    return kinds


@lru_cache(10_000)
def _script(char: str) -> str:
    return unicodedata.name(char, "").partition(" ")[0]


def character_name(char: str) -> str:
    """What a character is called: `U+202E right-to-left override`."""
    name = unicodedata.name(char, "") or _CONTROLS.get(char, "a character without a name")
    return f"U+{ord(char):04X} {name.lower()}"


_CONTROLS = {
    "\x00": "null",
    "\x07": "bell",
    "\b": "backspace",
    "\t": "tab",
    "\n": "line break",
    "\f": "form feed",
    "\r": "carriage return",
    "\x1b": "escape",
    "\x7f": "delete",
}
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "/": "/"}


def _unescaped(escape: str) -> str:
    return chr(int(escape[2:], 16)) if escape[1] == "u" else _SHORT[escape[1]]


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def is_right_to_left(text: str) -> bool:
    """Whether letters in it run from right to left, so that a screen would put it into another order."""
    return not text.isascii() and any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in text)
