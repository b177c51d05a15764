"""Paging: which matching lines are shown, of how many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from handrail.toolsets.workspace.search.query import Line


class Page(NamedTuple):
    """The files that hold the lines of a page, and how many lines of the first one come before it."""

    paths: list[str]
    skipped: int


def page_of(files: Mapping[str, int], offset: int, limit: int) -> Page:
    """The page that begins after so many matching lines; files are in the order of their paths."""
    paths: list[str] = []
    before = skipped = 0
    for path, lines in files.items():
        if before >= offset + limit:
            break
        if before + lines > offset:
            if not paths:
                skipped = offset - before
            paths.append(path)
        before += lines
    return Page(paths, skipped)


def taken(lines: Sequence[Line], skipped: int, most: int, around: tuple[int, int]) -> list[Line]:
    """Some matching lines of a file, and the lines around them."""
    matching = [line.number for line in lines if line.at >= 0][skipped : skipped + most]
    before, after = around
    near = {at for number in matching for at in range(number - before, number + after + 1)}
    kept = [line for line in lines if line.number in near]
    chosen = set(matching)
    return [line if line.number in chosen else line._replace(at=-1) for line in kept]


def gaps(lines: Sequence[Line]) -> set[int]:
    """The numbers of lines before which some are left out."""
    return {later.number for earlier, later in pairwise(lines) if later.number > earlier.number + 1}
