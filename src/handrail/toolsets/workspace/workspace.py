"""Workspace: the folder that the tools work in, and the port to the journal of its changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, Literal, Protocol

from handrail import Context, ToolError
from handrail.ext.tools import folded, path_key
from handrail.toolsets.workspace.atomic_write import DRAFT_PREFIX, FileStamp, stamp_of
from handrail.toolsets.workspace.disk_threads import DiskThreads
from handrail.toolsets.workspace.locks import FolderLock, KeyedLocks
from handrail.toolsets.workspace.path_resolution import PathResolver, ResolvedPath
from handrail.toolsets.workspace.path_rules import STATE_FOLDER, PathRules, StateFolder, is_below_any
from handrail.toolsets.workspace.target_file import ANY_STAMP, TargetFile, path_from_root

Operation = Literal["create", "write", "edit", "delete"]

_WORKSPACE_TOOL = {"category": "workspace", "origin": "system"}
READ_TOOL: Final = {**_WORKSPACE_TOOL, "level": "read", "capabilities": ["read"], "concurrency": "parallel"}
"""Options of every tool that only looks."""
_WRITE_TOOL = {**_WORKSPACE_TOOL, "level": "write", "capabilities": ["write"], "concurrency": "by_path"}

MAX_RECORDED_SIZE = 100_000_000
"""Bytes of a file up to which it is kept when it is overwritten or deleted; larger ones are left alone."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One file, before and after. None stands for no file."""

    path: str
    """The way from the root of the workspace, without links."""
    operation: Operation
    before: bytes | None
    after: bytes | None
    mode_before: int | None
    tenant: str
    session: str
    call_id: str
    turn: int | None = None
    agent: str | None = None
    made_folders: tuple[str, ...] = ()
    """Folders that did not exist before, the outermost first."""

    @classmethod
    def of(
        cls,
        ctx: Context,
        path: str,
        operation: Operation,
        before: bytes | None,
        after: bytes | None,
        mode_before: int | None,
    ) -> JournalEntry:
        """A change that the call at hand makes."""
        who = (ctx.tenant_id, ctx.session_id, ctx.call_id, ctx.turn, ctx.agent_id)
        return cls(path, operation, before, after, mode_before, *who)


class Journal(Protocol):
    """Keeps changes, so that they can be undone."""

    def record(self, change: JournalEntry, *, wait: bool = True) -> int:
        """Keep what is about to happen; the number by which it is known. Who cannot wait may find it Busy."""
        ...

    def done(self, number: int) -> None:
        """It has happened."""
        ...

    def dropped(self, number: int) -> None:
        """It has not happened."""
        ...


class NullJournal:
    """The journal of a workspace that keeps none."""

    def record(self, change: JournalEntry, *, wait: bool = True) -> int:
        return 0

    def done(self, number: int) -> None:
        pass

    def dropped(self, number: int) -> None:
        pass


_GIT_FOLDER = ".git"
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Workspace:
    """One folder, opened once. Everything in it is reached through here."""

    def __init__(self, root: str | Path, path_rules: PathRules | None = None) -> None:
        self.resolver = PathResolver(Path(root))
        self.root = self.resolver.root
        self._base = str(self.root)
        self._state = StateFolder(self.root)
        self.state = self._state.path
        self.path_rules = path_rules or PathRules()
        self.journal: Journal = NullJournal()
        self._listeners: list[Callable[[str | None], None]] = []
        self._lock = FolderLock()
        self._path_locks = KeyedLocks()
        self.disk = DiskThreads()

    def close(self) -> None:
        self.disk.close()
        self.resolver.close()
        self._state.close()

    def state_subfolder(self, name: str) -> Path:
        """A folder of our own, made where it is missing. It is never part of a repository."""
        return self._state.folder(name)

    def listen(self, listener: Callable[[str | None], None]) -> None:
        """Be told of each path that a tool changed; None when anything may have changed."""
        self._listeners.append(listener)

    def notify_changed(self, path: str | None) -> None:
        for listener in self._listeners:
            listener(path)

    def key(self, path: str) -> str:
        """The resource key of a path: one for one file, however it is spelled."""
        plain = self._plain_path(path)
        return path_key(path, self._base) if plain is None else folded(plain)

    def _plain_path(self, path: str) -> str | None:
        """Where a path leads whose parts are all there, none of them a link or a step up; else None."""
        parts = path.split("/")
        if not parts[0] or ".." in parts:
            return None
        current = self._base
        for part in parts:
            if part and part != ".":
                current = f"{current}/{part}"
                try:
                    file_stat = os.lstat(current)
                except (OSError, ValueError):
                    return None
                if stat.S_ISLNK(file_stat.st_mode):
                    return None
        return current

    def lock_path(self, path: str) -> AbstractContextManager[None]:
        """Held from reading a file until it is changed, so that no change of this process is refused."""
        return self._path_locks.hold(self.key(path))

    def try_lock(self, target: TargetFile) -> AbstractContextManager[None]:
        """The same where a path leads, for those who cannot wait for it."""
        return self._path_locks.hold(folded(f"{self._base}/{target.relative_path}"), wait=False)

    def relative(self, path: str) -> str:
        """The way from the root without links; `.` for the root itself."""
        with self._resolved(path) as resolved:
            return path_from_root(resolved.parts)

    def stat(self, path: str) -> os.stat_result | None:
        """What the path leads to; None when there is nothing."""
        try:
            with self._resolved(path) as resolved:
                return os.stat(resolved.name, dir_fd=resolved.folder, follow_symlinks=False)
        except ToolError as error:
            if error.code == "FILE_NOT_FOUND":
                return None
            raise

    def stamp(self, path: str) -> FileStamp | None:
        file_stat = self.stat(path)
        return None if file_stat is None else stamp_of(file_stat)

    def open(self, path: str) -> BinaryIO:
        """The file, for reading."""
        with self._resolved(path) as resolved:
            fd, _ = self._target(resolved, path).open()
        return os.fdopen(fd, "rb")

    def read_for_change(self, path: str, most: int) -> tuple[str, os.stat_result, bytes]:
        """A file that is to be changed: the way from the root without links, what it is, and its bytes."""
        with self.target(path) as target:
            return (target.name, *target.read(most))

    @contextmanager
    def target(self, path: str, *, make: bool = False) -> Iterator[TargetFile]:
        """Where a path leads that is to be changed; with `make`, missing folders on the way are made."""
        with self._resolved(path, partial(self._check_change, path), make=make) as resolved:
            yield self._target(resolved, path)

    def open_folder(self, path: str) -> int:
        """A descriptor of the folder; the caller closes it."""
        with self._resolved(path) as resolved:
            try:
                return os.open(resolved.name, _FOLDER, dir_fd=resolved.folder)
            except NotADirectoryError:
                raise ToolError(f"{path} is a file, not a folder.", code="NOT_A_FOLDER") from None

    def read(self, path: str, most: int | None = None) -> bytes:
        """The bytes of the file; with `most`, no more than that."""
        with self.open(path) as file:
            return file.read() if most is None else file.read(most)

    def may_read(self, file_stat: os.stat_result) -> bool:
        """Whether a file that a search came across is one that `open` would give."""
        return stat.S_ISREG(file_stat.st_mode) and (file_stat.st_nlink < 2 or self.path_rules.hardlinks)

    def is_hidden(self, parts: tuple[str, ...]) -> bool:
        """Whether this is among what the tools do not see."""
        if not parts:
            return False
        ours = parts[0].casefold() == STATE_FOLDER or parts[-1].startswith(DRAFT_PREFIX)
        return ours or is_below_any(parts, self.path_rules.hidden)

    def _is_read_only(self, parts: tuple[str, ...]) -> bool:
        """Whether this is shown, and not changed."""
        is_git = any(part.casefold() == _GIT_FOLDER for part in parts)
        return is_git or is_below_any(parts, self.path_rules.protected)

    def check_change(self, path: str) -> None:
        """Refuse a path, given without links, that tools do not change."""
        self._check_change(path, self.resolver.parts(path))

    def write(
        self, path: str, data: bytes, *, expected: FileStamp | None = ANY_STAMP, mode: int | None = None
    ) -> None:
        """Give a file these bytes, as a whole or not at all. `expected` is what it must be before.

        What is raised says that nothing was written.
        """
        with self.target(path, make=True) as target:
            target.write(data, expected, mode)
        self.notify_changed(target.name)

    def remove(self, path: str, *, expected: FileStamp | None = ANY_STAMP) -> None:
        """Take a file away."""
        with self.target(path) as target:
            target.remove(expected)
        self.notify_changed(target.name)

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """The folders on the way to a path that do not exist yet, the outermost first."""
        parents = PurePosixPath(*self.resolver.parts(path)).parents
        folders = [path_from_root(parent.parts) for parent in parents if parent.parts]
        return tuple(folder for folder in reversed(folders) if self.stat(folder) is None)

    def _resolved(
        self, path: str, check: Callable[[tuple[str, ...]], None] | None = None, *, make: bool = False
    ) -> AbstractContextManager[ResolvedPath]:
        return self.resolver.resolved(path, check or partial(self._check_visible, path), make=make)

    def _target(self, resolved: ResolvedPath, path: str) -> TargetFile:
        return TargetFile(resolved, path, self.path_rules.hardlinks, self._state, self._lock)

    def _check_visible(self, path: str, parts: tuple[str, ...]) -> None:
        if self.is_hidden(parts):
            raise ToolError(f"There is no {path} in the workspace.", code="FILE_NOT_FOUND")

    def _check_change(self, path: str, parts: tuple[str, ...]) -> None:
        self._check_visible(path, parts)
        if not parts:
            raise ToolError(f"{path} is a folder.", code="NOT_A_FILE")
        if self._is_read_only(parts):
            raise ToolError(
                f"{path} is protected: tools change neither a repository's own folder nor Handrail's files.",
                code="PROTECTED_PATH",
            )


_PATH_NAMES = ("file_path", "filePath", "file", "filename")
"""What other tools of this kind call the path."""


def file_reader(workspace: Workspace, **aliases: tuple[str, ...]) -> dict[str, Any]:
    """Options of a tool that looks at the file of its path, with other names of its other parameters."""
    names = {"path": _PATH_NAMES, **aliases}
    return {**READ_TOOL, "reads": lambda args: workspace.key(args.path), "param_aliases": names}


def file_writer(workspace: Workspace, **aliases: tuple[str, ...]) -> dict[str, Any]:
    """The same of a tool that gives this file new bytes."""
    names = {"path": _PATH_NAMES, **aliases}
    return {**_WRITE_TOOL, "writes": lambda args: workspace.key(args.path), "param_aliases": names}
