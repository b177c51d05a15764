"""Finder: a search by ripgrep, and what of it may be seen."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Protocol

from handrail import ToolError
from handrail.ext.tools import Signal
from handrail.toolsets.workspace.file_content import is_binary
from handrail.toolsets.workspace.search.glob_patterns import compile_glob, kind_pattern
from handrail.toolsets.workspace.search.lookaround import PythonRegexEngine
from handrail.toolsets.workspace.search.process import SECONDS
from handrail.toolsets.workspace.search.query import (
    MatchCounts,
    SearchLine,
    SearchQuery,
    SearchScope,
    UnsupportedPattern,
    invalid_regex,
    python_problem,
)
from handrail.toolsets.workspace.search.regex_worker import LinkFreeOpener
from handrail.toolsets.workspace.search.ripgrep import Ripgrep, find_ripgrep
from handrail.toolsets.workspace.workspace import READ_TOOL, Workspace

_HEAD = 8_192
_MAX_OPEN = 100
"""Files that are held open for one engine."""


class SearchEngine(Protocol):
    """What looks through files."""

    def count(self, query: SearchQuery, scope: SearchScope, signal: Signal) -> MatchCounts: ...
    def show(
        self, query: SearchQuery, opened: Sequence[int], signal: Signal, before: int, after: int, most: int
    ) -> list[tuple[int, SearchLine]]: ...


class Finder:
    """Finds in one workspace, by ripgrep.

    It may be led astray by a link that is swapped in while it walks. So what it names is only a hint:
    each file that is shown is opened again below the root, and its lines are taken from there.
    """

    def __init__(self, workspace: Workspace, program: str | None, seconds: float = SECONDS) -> None:
        self.workspace = workspace
        self._ripgrep = Ripgrep(program, workspace, seconds)
        self._python = PythonRegexEngine(self._ripgrep)

    @classmethod
    def of(cls, workspace: Workspace) -> Finder:
        return cls(workspace, find_ripgrep())

    def files(self, scope: SearchScope, signal: Signal) -> list[str]:
        """All files, in any order."""
        return [path for path in self._ripgrep.files(scope, signal) if not self._is_hidden(path)]

    def _is_hidden(self, path: str) -> bool:
        """As the workspace says, and what repositories keep for themselves; most paths need not ask."""
        if not self.workspace.path_rules.hidden and "/." not in path and path[0] != ".":
            return False
        parts = tuple(path.split("/"))
        return ".git" in parts or self.workspace.is_hidden(parts)

    def search(
        self, query: SearchQuery, scope: SearchScope, signal: Signal
    ) -> tuple[MatchCounts, SearchEngine]:
        """How many lines match in each file that may be read and is text, and the engine that said so."""
        engines: tuple[SearchEngine, ...] = (self._ripgrep, self._python)
        for engine in engines:
            try:
                return self._checked(engine.count(query, scope, signal), signal), engine
            except UnsupportedPattern:
                continue
        raise _unsupported(query)

    def lines(
        self,
        engine: SearchEngine,
        query: SearchQuery,
        paths: Sequence[str],
        signal: Signal,
        around: tuple[int, int],
        most: int,
    ) -> Iterator[tuple[str, list[SearchLine]]]:
        """The lines of these files, in their order; what is gone or matches no more is left out."""
        for opened in self.opening(paths):
            shown: dict[str, list[SearchLine]] = {path: [] for path in opened.values()}
            try:
                matches = engine.show(query, list(opened), signal, *around, most)
            except UnsupportedPattern:
                if engine is self._python or query.expression.python is None:
                    raise _unsupported(query) from None
                matches = self._python.show(query, list(opened), signal, *around, most)
            for fd, line in matches:
                shown[opened[fd]].append(line)
            yield from ((path, lines) for path, lines in shown.items() if lines)

    def opening(self, paths: Sequence[str]) -> Iterator[dict[int, str]]:
        """Some of these files at a time, by their descriptors, which are open until the next are."""
        for begin in range(0, len(paths), _MAX_OPEN):
            opened: dict[int, str] = {}
            try:
                for path in paths[begin : begin + _MAX_OPEN]:
                    if (fd := self._open(path)) is not None:
                        opened[fd] = path
                if opened:
                    yield opened
            finally:
                for fd in opened:
                    os.close(fd)

    def stats(self, paths: Iterable[str], signal: Signal) -> Iterator[tuple[str, os.stat_result]]:
        """What the file system says of those that are files below the root, folder by folder."""
        names: dict[str, list[str]] = {}
        for path in paths:
            folder, slash, name = path.rpartition("/")
            names.setdefault(folder + slash, []).append(name)
        with self._opener() as folders:
            for folder, inside in sorted(names.items()):
                signal.throw_if_aborted()
                try:
                    fd = folders.enter(folder[:-1])
                except OSError:
                    continue
                for name in inside:
                    with suppress(OSError):
                        stats = os.stat(name, dir_fd=fd, follow_symlinks=False)
                        if stat.S_ISREG(stats.st_mode):
                            yield folder + name, stats

    def _opener(self) -> LinkFreeOpener:
        return LinkFreeOpener(str(self.workspace.root))

    def _open(self, path: str) -> int | None:
        with self._opener() as folders:
            try:
                fd = folders.open(path)
            except OSError:
                return None
        if self.workspace.may_read(os.fstat(fd)):
            return fd
        os.close(fd)
        return None

    def _checked(self, match_counts: MatchCounts, signal: Signal) -> MatchCounts:
        """What remains of what an engine found once each file was opened below the root."""
        files: dict[str, int] = {}
        binary = linked = 0
        with self._opener() as folders:
            for path in sorted(match_counts.files):
                signal.throw_if_aborted()
                if self._is_hidden(path):
                    continue
                with suppress(OSError):
                    fd = folders.open(path)
                    try:
                        if not self.workspace.may_read(os.fstat(fd)):
                            linked += 1
                        elif is_binary(os.read(fd, _HEAD)):
                            binary += 1
                        else:
                            files[path] = match_counts.files[path]
                    finally:
                        os.close(fd)
        return MatchCounts(files, match_counts.large, binary, linked)


def _unsupported(query: SearchQuery) -> ToolError:
    if query.expression.python is not None:
        return invalid_regex("no engine understands it")
    return invalid_regex(python_problem(query.expression.ripgrep or "") or "no engine here understands it")


def search_tool(workspace: Workspace) -> dict[str, Any]:
    """Options of every tool that looks at the file of a path, or at everything below the folder."""

    def reads(args: Any) -> tuple[str, str]:
        key = workspace.key(args.path)
        return key, f"{key}/"

    return {**READ_TOOL, "reads": reads}


def search_scope(
    workspace: Workspace,
    path: str,
    glob: str | None = None,
    kind: str | None = None,
    include_ignored: bool = False,
) -> SearchScope:
    """Where to look: below a folder or in one file, at files that fit a pattern or are of a kind."""
    if glob is not None and kind is not None:
        raise ToolError("Give a glob or a type, not both.", code="INVALID_PATTERN")
    stats = workspace.stat(path)
    if stats is None:
        raise ToolError(
            f"There is no {path} in the workspace. See what there is with list_files.", code="FILE_NOT_FOUND"
        )
    if not stat.S_ISDIR(stats.st_mode) and not stat.S_ISREG(stats.st_mode):
        raise ToolError(f"{path} is a device, pipe or socket, not a file.", code="NOT_A_FILE")
    if kind is not None:
        glob = kind_pattern(kind)
    pattern = None if glob is None else compile_glob(glob)
    start = workspace.relative(path).removeprefix("./")
    return SearchScope(start, not stat.S_ISDIR(stats.st_mode), pattern, include_ignored)
