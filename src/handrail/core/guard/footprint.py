"""Footprint: what a call will read and write, so that only calls that do not touch each other overlap."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping
from operator import methodcaller
from typing import Any

from handrail.core.define.tool import OfArgs, Tool
from handrail.core.frozen_record import record
from handrail.core.guard.risk import is_effectful

_NONE: frozenset[str] = frozenset()
_is_tree = methodcaller("endswith", "/")
_PATH_NAMES = ("path", "file_path", "filePath", "filepath", "file", "filename", "file_name", "fileName")


@record
class Footprint:
    """Resource keys of one call. A key that ends in `/` stands for everything below it."""

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    alone: bool = False
    """It overlaps with nothing: nobody knows what it touches."""

    @property
    def has_trees(self) -> bool:
        return True in map(_is_tree, self.reads) or True in map(_is_tree, self.writes)

    def clashes(self, other: Footprint) -> bool:
        """Whether one could see or undo half of what the other does."""
        if self.alone or other.alone:
            return True
        return meet(self.writes, other.writes | other.reads) or meet(self.reads, other.writes)


FREE = Footprint()
ALONE = Footprint(alone=True)


def meet(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two sets of keys have something in common."""
    if not some.isdisjoint(others):
        return True
    return _reaches(some, others) or _reaches(others, some)


def _reaches(some: Iterable[str], others: Iterable[str]) -> bool:
    trees = tuple(filter(_is_tree, some))
    return bool(trees) and any(key.startswith(trees) for key in others)


def footprint_of(tool: Tool, values: Any, args: Mapping[str, Any], root: str | None = None) -> Footprint:
    """What a call with these validated arguments touches; alone where that cannot be told.

    A path that is relative is so to `root`.
    """
    if tool.concurrency == "sequential":
        return ALONE
    try:
        reads, writes = keys_of(tool.reads, values), keys_of(tool.writes, values)
        effect = is_effectful(tool, values)
    except Exception:
        return ALONE  # the guard meets the same error and says it
    if tool.concurrency == "parallel":
        return Footprint(reads, writes)
    if tool.concurrency == "by_path" and tool.reads is None and tool.writes is None:
        paths = frozenset(path_key(path, root) for path in _paths(args))
        reads, writes = (frozenset(), paths) if effect else (paths, frozenset())
    if effect and not writes:
        return ALONE
    if tool.concurrency == "by_path" and not (reads or writes):
        return ALONE
    return Footprint(reads, writes)


def keys_of(function: OfArgs | None, values: Any) -> frozenset[str]:
    """The resource keys that a tool's `reads` or `writes` names for these arguments."""
    if function is None:
        return _NONE
    keys = function(values)
    return frozenset([keys] if isinstance(keys, str) else map(str, keys or ()))


def extract_tool_file_path(args: Mapping[str, Any]) -> str | None:
    """The path a call is about, by the names that file tools use for it."""
    return next(iter(_paths(args)), None)


def name_of(key: str, claimed: Iterable[str], args: Mapping[str, Any]) -> str:
    """A key that somebody else holds, as the caller knows it who wants these keys with these arguments.

    Of a path that is what the caller wrote, or the way below the folder that it wants: no more of where
    things lie.
    """
    if not key.startswith("/"):
        return key
    below = next((key.removeprefix(tree) for tree in filter(_is_tree, claimed) if key.startswith(tree)), "")
    return below or extract_tool_file_path(args) or os.path.basename(key.rstrip("/"))


def _paths(args: Mapping[str, Any]) -> list[str]:
    values = (args.get(name) for name in _PATH_NAMES)
    return [path for path in values if isinstance(path, str) and path]


def path_key(path: str, root: str | None = None) -> str:
    """One key for one file, however its path is spelled: relative, with `..`, through links, in any case.

    Two names that only some file systems tell apart get the same key: such calls wait for each other.
    """
    try:
        real = os.path.realpath(os.path.join(root or os.getcwd(), path))
    except (OSError, ValueError):  # a NUL inside; the tool will refuse it
        real = path
    return folded(real)


def folded(path: str) -> str:
    """The same for all names that some file system takes for one."""
    return path.casefold() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
