"""Finder: the way of a search through either engine, and what of it may be seen."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from handrail.ext import Signal, ToolError
from handrail.toolsets.workspace.file_content import is_binary
from handrail.toolsets.workspace.search import ripgrep
from handrail.toolsets.workspace.search.glob_patterns import compile_glob, kind_pattern
from handrail.toolsets.workspace.search.process import SECONDS
from handrail.toolsets.workspace.search.python_engine import PythonEngine
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
from handrail.toolsets.workspace.workspace import Workspace

_HEAD = 8_192
_MAX_OPEN = 100
"""Files that are held open for one engine."""


class SearchEngine(Protocol):
    """What looks through files."""

    def files(self, scope: SearchScope, signal: Signal) -> list[str]: ...
    def count(self, query: SearchQuery, scope: SearchScope, signal: Signal) -> MatchCounts: ...
    def show(
        self, query: SearchQuery, opened: Sequence[int], signal: Signal, before: int, after: int, most: int
    ) -> list[tuple[int, SearchLine]]: ...


class Finder:
    """Finds in one workspace, with ripgrep where that is installed.

    An engine may be led astray by a link that is swapped in while it walks. So what it names is only a hint:
    each file that is told of is opened again below the root, and its lines are taken from there.
    """

    def __init__(self, workspace: Workspace, program: str | None = None, seconds: float = SECONDS) -> None:
        self.workspace = workspace
        self._python_engine: SearchEngine = PythonEngine(workspace, seconds)
        self._ripgrep: SearchEngine | None = None
        if program is not None:
            self._ripgrep = ripgrep.Ripgrep(program, workspace, seconds)

    @classmethod
    def of(cls, workspace: Workspace) -> Finder:
        return cls(workspace, ripgrep.find_ripgrep())

    def files(self, scope: SearchScope, signal: Signal) -> list[str]:
        """All files, in any order."""
        try:
            found = (self._ripgrep or self._python_engine).files(scope, signal)
        except UnsupportedPattern:
            found = self._python_engine.files(scope, signal)
        return [path for path in found if not self._is_hidden(path)]

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
        for engine in (self._ripgrep, self._python_engine):
            if engine is not None:
                try:
                    return self._checked(engine.count(query, scope, signal), signal), engine
                except UnsupportedPattern:
                    continue
        raise self._wrong(query)

    def _wrong(self, query: SearchQuery) -> ToolError:
        if query.expression.python is not None:
            return invalid_regex("no engine understands it")
        reason = python_problem(query.expression.ripgrep or "")
        if self._ripgrep is None and not query.expression.mistaken:
            reason += ". Perhaps ripgrep would know it, which is not installed here"
        return invalid_regex(reason)

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
                told = engine.show(query, list(opened), signal, *around, most)
            except UnsupportedPattern:
                if engine is self._python_engine or query.expression.python is None:
                    raise self._wrong(query) from None
                told = self._python_engine.show(query, list(opened), signal, *around, most)
            for fd, line in told:
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
        folders = LinkFreeOpener(str(self.workspace.root))
        try:
            for folder, inside in sorted(names.items()):
                signal.throw_if_aborted()
                try:
                    fd = folders.enter(folder[:-1])
                except OSError:
                    continue
                for name in inside:
                    try:
                        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
                    except OSError:
                        continue
                    if stat.S_ISREG(found.st_mode):
                        yield folder + name, found
        finally:
            folders.close()

    def _open(self, path: str) -> int | None:
        folders = LinkFreeOpener(str(self.workspace.root))
        try:
            fd = folders.open(path)
        except OSError:
            return None
        finally:
            folders.close()
        if self.workspace.may_read(os.fstat(fd)):
            return fd
        os.close(fd)
        return None

    def _checked(self, match_counts: MatchCounts, signal: Signal) -> MatchCounts:
        """What is left of what an engine found once each file was opened below the root."""
        folders = LinkFreeOpener(str(self.workspace.root))
        files: dict[str, int] = {}
        binary = linked = 0
        try:
            for path in sorted(match_counts.files):
                signal.throw_if_aborted()
                if self._is_hidden(path):
                    continue
                try:
                    fd = folders.open(path)
                except OSError:
                    continue
                try:
                    if not self.workspace.may_read(os.fstat(fd)):
                        linked += 1
                    elif is_binary(os.read(fd, _HEAD)):
                        binary += 1
                    else:
                        files[path] = match_counts.files[path]
                except OSError:
                    continue
                finally:
                    os.close(fd)
        finally:
            folders.close()
        return MatchCounts(files, match_counts.large, binary, linked)


def read_keys(workspace: Workspace, path: str) -> tuple[str, str]:
    """The resource keys of a look at a file, or at everything below a folder."""
    key = workspace.key(path)
    return key, f"{key}/"


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
    found = workspace.stat(path)
    if found is None:
        raise ToolError(
            f"There is no {path} in the workspace. See what there is with list_files.", code="FILE_NOT_FOUND"
        )
    if not stat.S_ISDIR(found.st_mode) and not stat.S_ISREG(found.st_mode):
        raise ToolError(f"{path} is a device, pipe or socket, not a file.", code="NOT_A_FILE")
    wanted = kind_pattern(kind) if kind is not None else glob
    pattern = None if wanted is None else compile_glob(wanted)
    start = workspace.relative(path).removeprefix("./")
    return SearchScope(start, not stat.S_ISDIR(found.st_mode), pattern, include_ignored)
