"""Records: the lines that ripgrep prints, taken piece by piece, however long they are.

Of a long line only what stands around its match is kept: a minified file may be one line of many megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from handrail.toolsets.workspace.search.query import Line

FORM = (
    "--line-number",
    "--column",
    "--with-filename",
    "--no-heading",
    "--no-context-separator",
    "--null",
    r"--field-match-separator=\x00:",
    r"--field-context-separator=\x00-",
)
_HEAD = re.compile(rb"/dev/fd/(\d+)\0(\d+)\0(?:(-)|:(?:(\d+)\0:)?)")
_LONGEST_HEAD = 100
_AROUND = 1_600
"""Bytes before and after the beginning of a match; more than is shown, in any script."""


class Records:
    """Takes what ripgrep prints in this form and gives each line with the number of its descriptor."""

    def __init__(self, give: Callable[[int, Line], None]) -> None:
        self._give = give
        self._begin_line()

    def take(self, piece: bytes) -> None:
        """The next piece of the output."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            self._end_line()
        self._add(rest)

    def _begin_line(self) -> None:
        self._unread = b""
        self._head: re.Match[bytes] | None = None
        self._text = bytearray()
        self._skipped = 0

    def _add(self, part: bytes) -> None:
        if self._head is None:
            self._unread += part
            if len(self._unread) >= _LONGEST_HEAD:
                self._read_head()
        else:
            self._keep(part)

    def _read_head(self) -> None:
        self._head = _HEAD.match(self._unread)
        if self._head is not None:
            self._keep(self._unread[self._head.end() :])
        self._unread = b""

    def _keep(self, part: bytes) -> None:
        """What is near enough to the match."""
        begin = max(0, self._match() - _AROUND - self._skipped)
        self._skipped += min(begin, len(part))
        self._text += part[begin : begin + 2 * _AROUND - len(self._text)]

    def _match(self) -> int:
        """Where the match begins in the line; 0 where nobody says."""
        return int(self._head[4]) - 1 if self._head is not None and self._head[4] else 0

    def _end_line(self) -> None:
        if self._head is None:
            self._read_head()
        if self._head is not None:
            at = -1 if self._head[3] else len(_decoded(self._text[: self._match() - self._skipped]))
            line = Line(int(self._head[2]), _decoded(self._text.removesuffix(b"\r")), at)
            self._give(int(self._head[1]), line)
        self._begin_line()


def _decoded(text: bytes | bytearray) -> str:
    return text.decode("utf-8", "surrogateescape")
