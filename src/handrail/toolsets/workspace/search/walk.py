"""Walk: everything below a folder, over descriptors of folders, never through a link.

Ripgrep lists files alone; a listing also shows folders, empty ones too, links, pipes and devices. And to
ripgrep the `.ignore` of a folder above the start counts less than any rule below it, and to this walk more.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from handrail.ext.tools import Signal
from handrail.toolsets.workspace.path_resolution import path_error
from handrail.toolsets.workspace.search.gitignore import IgnoreLevel, load_level
from handrail.toolsets.workspace.workspace import Workspace

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_REPOSITORY = ".git"
MAX_DEPTH = 200
"""Levels of folders that a walk goes down; each holds a descriptor open."""


class WalkEntry(NamedTuple):
    """Something that a walk came across."""

    path: str
    """From the root of the workspace."""
    mode: int
    size: int

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)


def walk(
    workspace: Workspace,
    start: str,
    signal: Signal,
    *,
    include_ignored: bool = False,
    deepest: int = MAX_DEPTH,
) -> Iterator[WalkEntry]:
    """What lies below a folder, in the order of its names."""
    parts = tuple(part for part in start.split("/") if part != ".")
    root = workspace.open_folder(".")
    try:
        yield from _Walk(workspace, signal, include_ignored, deepest).below(root, parts)
    finally:
        os.close(root)


class _Walk(NamedTuple):
    workspace: Workspace
    signal: Signal
    include_ignored: bool
    deepest: int

    def below(self, root: int, parts: tuple[str, ...]) -> Iterator[WalkEntry]:
        """Go down to the start, learning the rules on the way, and walk from there."""
        fd, rules = os.open(".", _OPEN, dir_fd=root), None
        for number, part in enumerate(parts):
            if not self.include_ignored:
                rules = load_level(fd, _prefix(parts[:number]), rules)
            try:
                inner = os.open(part, _OPEN, dir_fd=fd)
            except OSError as error:
                raise path_error(error, "/".join(parts)) from error
            finally:
                os.close(fd)
            fd = inner
        yield from self._folder(fd, _prefix(parts), rules, 1)

    def _folder(self, fd: int, prefix: str, above: IgnoreLevel | None, depth: int) -> Iterator[WalkEntry]:
        """Everything in an open folder, which is closed afterwards."""
        try:
            self.signal.throw_if_aborted()
            with os.scandir(fd) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
            rules = None
            if not self.include_ignored:
                rules = load_level(fd, prefix, above, frozenset(entry.name for entry in entries))
            for entry in entries:
                if entry.name == _REPOSITORY:
                    continue
                path = prefix + entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if rules is not None and rules.ignores(path + "/" if is_folder else path):
                    continue
                if self.workspace.is_hidden(tuple(path.split("/"))):
                    continue
                try:
                    stats = entry.stat(follow_symlinks=False)
                except OSError:
                    continue  # gone meanwhile
                yield WalkEntry(path, stats.st_mode, stats.st_size)
                if is_folder and depth < self.deepest and (inner := _enter(fd, entry.name)) is not None:
                    yield from self._folder(inner, path + "/", rules, depth + 1)
        finally:
            os.close(fd)


def _prefix(parts: tuple[str, ...]) -> str:
    return "".join(f"{part}/" for part in parts)


def _enter(fd: int, name: str) -> int | None:
    """The folder of that name; None where it cannot be entered, or became something else meanwhile."""
    try:
        return os.open(name, _OPEN, dir_fd=fd)
    except OSError:
        return None
