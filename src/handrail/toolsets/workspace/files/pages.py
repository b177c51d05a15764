"""Pages: some lines of a file, of any size, read by chunks and kept in bounds."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from handrail import ToolError

CHUNK = 1 << 18
_MAX_COUNTED = 1 << 28
"""Bytes beyond a page up to which the lines that follow are counted."""
_BYTES_A_CHARACTER = 4


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Which lines are wanted, and how much of them there is room for."""

    first: int = 1
    count: int = 2_000
    characters: int = 29_000
    line: int = 2_000
    """Characters of one line; the rest is cut."""


@dataclass(frozen=True, slots=True)
class TextPage:
    """Lines without their ends."""

    lines: Sequence[str]
    first: int
    total: int | None
    """How many lines the file has; None when that was not counted to the end."""

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1

    @property
    def more(self) -> bool:
        return self.total is None or self.last < self.total


class ByteSource(Protocol):
    def read(self, size: int, /) -> bytes: ...


class Utf8Reader:
    """A file as UTF-8, whatever its encoding, so that a line ends where a byte says so."""

    def __init__(self, file: ByteSource, encoding: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._over = False

    def read(self, size: int, /) -> bytes:
        text = ""
        while not text and not self._over:
            data = self._file.read(size)
            self._over = not data
            text = self._decoder.decode(data, self._over)
        return text.encode("utf-8", "surrogatepass")


def page_of_text(text: str, bounds: PageLimits) -> TextPage:
    """A page of a text that is at hand."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    total = len(lines)
    if bounds.first > 1 or bounds.count < total:
        lines = lines[bounds.first - 1 : bounds.first - 1 + bounds.count]
    if len(text) > bounds.line and lines and max(map(len, lines)) > bounds.line:
        lines = [cut_line(line, bounds.line) for line in lines]
    if len(text) > bounds.characters - 8 * len(lines):
        lines = lines[: _lines_that_fit(lines, bounds)]
    return TextPage(lines, bounds.first, total)


def page_of_file(
    file: BinaryIO | ByteSource, encoding: str, bounds: PageLimits, chunk: int = CHUNK
) -> TextPage:
    """A page of a file that is never in memory as a whole."""
    wide = not _keeps_line_ends(encoding)
    source: ByteSource = Utf8Reader(file, encoding) if wide else file
    name = "utf-8" if wide else encoding
    rest, row = _skip_to_line(source, bounds.first, chunk)
    if rest is None:
        return TextPage([], bounds.first, row)
    collected = _LineCollector(name, bounds)
    while rest and collected.take(rest):
        rest = source.read(chunk)
    if not rest:
        collected.end()
    seen = bounds.first - 1 + collected.seen
    total = _count_lines(source, seen, collected, chunk) if rest else seen
    return TextPage(collected.lines, bounds.first, total)


def cut_line(line: str, most: int, size: str = "") -> str:
    """The beginning of a long line, and how long it is."""
    if len(line) <= most and not size:
        return line
    return f"{line[:most]}… [cut: this line has {size or f'{len(line)} characters'}]"


def _lines_that_fit(lines: Sequence[str], bounds: PageLimits) -> int:
    """How many lines there is room for; at least one."""
    room = bounds.characters
    for nth, line in enumerate(lines):
        room -= len(line) + 8
        if room < 0:
            return max(nth, 1)
    return len(lines)


def _keeps_line_ends(encoding: str) -> bool:
    """Whether the byte of a line end stands for nothing else in this encoding."""
    return encoding in ("utf-8", "ascii") or encoding.startswith(("iso8859", "cp125"))


def _skip_to_line(source: ByteSource, first: int, chunk: int) -> tuple[bytes | None, int]:
    """What was read of the line `first` and beyond; or None, and how many lines there are."""
    missing = first - 1
    seen, open_end = 0, False
    while missing:
        data = source.read(chunk)
        if not data:
            return None, seen + open_end
        ends = data.count(b"\n")
        if ends >= missing:
            rest = data.split(b"\n", missing)[-1]
            seen += missing
            break
        missing -= ends
        seen += ends
        open_end = not data.endswith(b"\n")
    else:
        rest = b""
    rest = rest or source.read(chunk)
    return (rest, first) if rest or first == 1 else (None, seen)


def _count_lines(source: ByteSource, seen: int, collected: _LineCollector, chunk: int) -> int | None:
    """How many lines there are altogether, if it does not take too long to find out."""
    budget, open_end = _MAX_COUNTED, collected.unread_open
    seen += collected.unread_ends
    while budget > 0:
        data = source.read(chunk)
        if not data:
            return seen + open_end
        seen += data.count(b"\n")
        open_end = not data.endswith(b"\n")
        budget -= len(data)
    return None


class _LineCollector:
    """Collects lines until there are enough. Of a long line only the beginning is kept."""

    def __init__(self, encoding: str, bounds: PageLimits) -> None:
        self._encoding = encoding
        self._bounds = bounds
        self._room = bounds.characters
        self._kept = bounds.line * _BYTES_A_CHARACTER + _BYTES_A_CHARACTER
        self._head = b""
        self._length = 0
        self.lines: list[str] = []
        self.seen = 0
        self.unread_ends = 0
        self.unread_open = False

    def take(self, data: bytes) -> bool:
        """Whether more is wanted after these bytes."""
        at = 0
        while (end := data.find(b"\n", at)) >= 0:
            self._extend(data[at : min(end, at + self._kept)], end - at)
            at = end + 1
            if not self._close():
                self.unread_ends = data.count(b"\n", at)
                self.unread_open = at < len(data) and not data.endswith(b"\n")
                return False
        self._extend(data[at : at + self._kept], len(data) - at)
        return True

    def end(self) -> None:
        """Nothing follows: what is left is a line without an end."""
        if self._length:
            self._close()

    def _extend(self, data: bytes, length: int) -> None:
        if len(self._head) < self._kept:
            self._head += data[: self._kept - len(self._head)]
        self._length += length

    def _close(self) -> bool:
        """Whether the line had room and another may have."""
        text = self._decoded()
        fits = self._room - len(text) - 8 >= 0 or not self.lines
        if fits:
            self.lines.append(text)
            self._room -= len(text) + 8
        self.seen += 1
        self._head, self._length = b"", 0
        return fits and len(self.lines) < self._bounds.count

    def _decoded(self) -> str:
        cut = self._length > len(self._head)
        try:
            if cut:
                text = codecs.getincrementaldecoder(self._encoding)().decode(self._head)
                return cut_line(text, self._bounds.line, f"{self._length} bytes")
            return cut_line(self._head.decode(self._encoding), self._bounds.line)
        except UnicodeDecodeError as error:
            row = self._bounds.first + len(self.lines)
            raise wrong_encoding(self._encoding, f"line {row}, byte {error.start + 1} of it", error) from None


def wrong_encoding(encoding: str, where: str, error: UnicodeDecodeError) -> ToolError:
    """A byte does not fit: which one, where, and what to try."""
    wrong = error.object[error.start : error.start + 1].hex().upper()
    return ToolError(
        f"It is not {encoding}: the byte 0x{wrong} ({where}) does not fit. "
        "Call again with the encoding it is written in, such as encoding='cp1252', 'latin-1' or 'utf-16'.",
        code="WRONG_ENCODING",
    )
