"""decode: bytes from the web as text, in the encoding that the server, the page or the bytes say."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_IN_PAGE = re.compile(
    rb"""<meta[^>]{1,500}?charset\s*=\s*["']?([\w.:-]{1,40})|<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_NO_TEXT = frozenset(
    (
        "idna",
        "mbcs",
        "oem",
        "palmos",
        "punycode",
        "raw_unicode_escape",
        "undefined",
        "unicode_escape",
        "utf_7",
    )
)
_AS_BROWSERS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "utf-16": "utf-16-le",
    "utf-32": "utf-32-le",
}
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u202a-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e0fff]"
)
"""Characters that nobody sees and that change what is seen, or hide words from people and not from models.

Joiners and the variation selectors of emoji stay: some scripts are written with them.
"""


_SLICE = 16_384
"""Bytes or characters in one go: what decodes and what replaces lets no other thread run meanwhile."""


def decode(body: bytes, content_type: str) -> str:
    """The text, with `\\n` at the end of lines and without what nobody sees."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], codec)
    declared = _IN_HEADER.search(content_type)
    name = _known(declared[1]) if declared else None
    if name is None and (found := _IN_PAGE.search(body[:2048])):
        name = _known((found[1] or found[2]).decode("ascii"))
        name = "utf-8" if name is not None and name.startswith(("utf-16", "utf-32")) else name
    return _decoded(body, name or ("utf-8" if _is_utf8(body) else "cp1252"))


def visible(text: str) -> str:
    """Text without what nobody sees."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(_UNSEEN.sub("", lines[at : at + _SLICE]) for at in range(0, len(lines), _SLICE))


def _decoded(body: bytes, codec: str) -> str:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    starts = range(0, len(body), _SLICE)
    return visible("".join(decoder.decode(body[at : at + _SLICE], at == starts[-1]) for at in starts))


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def is_binary(body: bytes) -> bool:
    """Whether bytes without a type are no text."""
    if body.startswith(tuple(mark for mark, _ in _BOMS)):
        return False
    return b"\0" in body[:8192]


def _known(label: str) -> str | None:
    """The codec of a label, if it is one for text."""
    try:
        codec = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    if codec.name.replace("-", "_") in _NO_TEXT or not codec._is_text_encoding:
        return None
    return _AS_BROWSERS.get(codec.name, codec.name)
