"""Text: bytes as text and back, with nothing lost on the way: encoding, byte order mark, line ends."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from handrail.ext import ToolError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UNMARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
"""Encodings that write a mark, and how a file is written that has none."""
_NO_FILES = frozenset({"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"})
"""Encodings for something else than files."""
_LOOKED_AT = 8_192
_CONTROLS = bytes(range(32))
_PRINTABLE = bytes(one for one in range(32) if one in b"\t\n\r\f\b\x1b")


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and how it was written down."""

    text: str
    """With the line ends of the file."""
    encoding: str = "utf-8"
    mark: bytes = b""
    """The byte order mark."""

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        crlf = self.text.count("\r\n")
        return "\r\n" if crlf * 2 > self.text.count("\n") else "\n"

    def is_in(self, encoding: str) -> bool:
        """Whether this is the encoding, or one of those, that a name stands for."""
        name = known(encoding)
        return name == self.encoding or (
            bool(self.mark) and self.encoding.startswith(name.removesuffix("-sig"))
        )

    def holding(self, text: str) -> Text:
        """Another text, written down in the same way."""
        return Text(text, self.encoding, self.mark)


def mark_of(data: bytes) -> tuple[bytes, str] | None:
    """The byte order mark at the beginning and the encoding that it names."""
    return next((one for one in _MARKS if data.startswith(one[0])), None)


def decode(data: bytes, encoding: str = "utf-8", path: str = "The file") -> Text:
    """The text. A byte order mark counts more than the encoding that is asked for."""
    marked = mark_of(data)
    asked = known(encoding)
    mark, name = marked if marked is not None else (b"", _UNMARKED.get(asked, asked))
    try:
        return Text(data[len(mark) :].decode(name), name, mark)
    except UnicodeDecodeError as error:
        raise ToolError(
            f"{path} is not {name}: byte {len(mark) + error.start} does not fit. "
            "Name its encoding, such as encoding='latin-1'.",
            code="WRONG_ENCODING",
        ) from None


def encode(text: Text, path: str = "The file") -> bytes:
    """The bytes of the text."""
    try:
        return text.mark + text.text.encode(text.encoding)
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{path} is written in {text.encoding}, which has no {error.object[error.start]!r} "
            f"(character {error.start}). Leave it out, or write the whole file anew with encoding='utf-8'.",
            code="WRONG_ENCODING",
        ) from None


def known(encoding: str) -> str:
    """The name of an encoding that turns bytes into text."""
    try:
        found = codecs.lookup(encoding)
    except (LookupError, ValueError):
        found = None
    if found is None or found.name in _NO_FILES or not getattr(found, "_is_text_encoding", True):
        raise ToolError(
            f"There is no encoding {encoding!r}. Usual ones are utf-8, utf-16, latin-1 and cp1252.",
            code="WRONG_ENCODING",
        )
    return found.name


def kept(text: Text, data: bytes, path: str) -> Text:
    """The text, if it can be written back as it was read: some encodings write one character in two ways."""
    if text.encoding != "utf-8" and encode(text, path) != data:
        raise ToolError(
            f"{path} would not keep its other bytes when it is written in {text.encoding}. "
            "Nothing was changed. Is it another encoding? Otherwise write the whole file anew in utf-8.",
            code="WRONG_ENCODING",
        )
    return text


def readable(data: bytes) -> str | None:
    """A text to look at, whatever its encoding; None for what is none."""
    if is_binary(data):
        return None
    try:
        return decode(data).text
    except ToolError:
        return data.decode("latin-1")


def is_text(data: bytes, encoding: str) -> bool:
    """Whether a file may be text in this encoding. In those with wide characters it may look binary."""
    return known(encoding).startswith(("utf-16", "utf-32")) or not is_binary(data)


def is_binary(data: bytes) -> bool:
    """Whether the beginning of a file looks like no text in any usual encoding."""
    head = data[:_LOOKED_AT]
    if not head or mark_of(head) is not None:
        return False
    if b"\0" in head:
        return True
    strange = len(head) - len(head.translate(None, _CONTROLS.translate(None, _PRINTABLE)))
    return strange * 10 > len(head)
