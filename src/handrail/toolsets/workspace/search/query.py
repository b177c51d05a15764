"""Query: what is looked for, where, and what an engine answers."""

from __future__ import annotations

from typing import NamedTuple

from handrail.toolsets.workspace.search.expressions import Expression
from handrail.toolsets.workspace.search.patterns import Pattern

LARGEST = 64 * 1_048_576
"""Bytes of the largest file that Python searches; ripgrep takes any."""


class NotUnderstood(Exception):
    """The pattern means nothing to this engine."""


class Query(NamedTuple):
    """A regular expression or a text."""

    expression: Expression
    literal: bool = False
    ignore_case: bool = False


class Where(NamedTuple):
    """Files to look at: those below a folder, or one file."""

    start: str
    """From the root of the workspace, without links."""
    is_file: bool = False
    pattern: Pattern | None = None
    """What their paths from the start must fit."""
    include_ignored: bool = False

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if self.pattern is None else self.pattern.names

    def takes(self, path: str) -> bool:
        """Whether a path from the root fits."""
        if self.pattern is None or self.is_file:
            return True
        return self.pattern.fits(path if self.start == "." else path[len(self.start) + 1 :])


class Tally(NamedTuple):
    """How many lines match, file by file."""

    files: dict[str, int]
    large: int = 0
    """Files that were not searched because of their size."""
    binary: int = 0
    """Files that match and are no text."""
    linked: int = 0
    """Files that match and have another name, which may lie outside."""


class Line(NamedTuple):
    """A line of a file."""

    number: int
    text: str
    """All of it; of a long one what is around the match."""
    at: int
    """Where the match begins in the text; -1 for a line around one."""
