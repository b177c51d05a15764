"""Target file: the file that a path leads to, held from the look at it until it has its new bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Final

from handrail import ToolError
from handrail.toolsets.workspace.atomic_write import (
    DraftFile,
    FileStamp,
    MetadataSource,
    atomic_replace,
    stamp_of,
)
from handrail.toolsets.workspace.locks import FolderLock
from handrail.toolsets.workspace.path_resolution import ResolvedPath
from handrail.toolsets.workspace.path_rules import StateFolder


class OpenObserver:
    """Looks on while others open files, from where it is made on, until another one does."""

    __slots__ = ("stamp",)

    def __init__(self) -> None:
        self.stamp: FileStamp | None = None
        """Of the file that was opened last."""
        _OBSERVER.set(self)


_OBSERVER: ContextVar[OpenObserver | None] = ContextVar("handrail_open_observer", default=None)


def stat_opened_file(fd: int) -> os.stat_result:
    """What the system says of a file that was just opened, and the observer is told too."""
    file_stat = os.fstat(fd)
    if (observer := _OBSERVER.get()) is not None:
        observer.stamp = stamp_of(file_stat)
    return file_stat


_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC

ANY_STAMP: Final = FileStamp(-1, -1, -1, -1, -1)
"""Whatever the file is now."""


@dataclass(slots=True)
class TargetFile:
    """The file of a name in a folder, which is there or not."""

    _resolved: ResolvedPath
    _path: str
    _hardlinks: bool
    _state: StateFolder
    _lock: FolderLock

    @property
    def relative_path(self) -> str:
        """The way from the root without links."""
        return "/".join(self._resolved.parts)

    @property
    def name(self) -> str:
        """That, as it can be given again."""
        return path_from_root(self._resolved.parts)

    def open(self) -> tuple[int, os.stat_result]:
        """The file, opened for reading, and what it is."""
        fd = os.open(self._resolved.name, _READ_FLAGS, dir_fd=self._resolved.folder)
        try:
            file_stat = stat_opened_file(fd)
            self._check(file_stat)
        except BaseException:
            os.close(fd)
            raise
        return fd, file_stat

    def read(self, most: int) -> tuple[os.stat_result, bytes]:
        """What the file is, and its bytes."""
        fd, file_stat = self.open()
        try:
            if file_stat.st_size > most:
                raise ToolError(
                    f"{self._path} has {file_stat.st_size} bytes; this tool changes files of up to {most}.",
                    code="TOO_LARGE",
                )
            return file_stat, _read_all(fd, file_stat.st_size)
        finally:
            os.close(fd)

    def write(self, data: bytes, expected: FileStamp | None, mode: int | None) -> None:
        """Give the file these bytes, as a whole or not at all."""
        old = self._check_expected(expected)
        source = None if old is None else self._metadata_source(old)
        try:
            atomic_replace(
                self._state.drafts(), self._resolved, data, source, mode, partial(self._exclusively, expected)
            )
        except FileExistsError:
            raise ToolError(
                f"{self._path} was made by somebody else meanwhile. Nothing was written. Read it first.",
                code="CHANGED_MEANWHILE",
            ) from None

    def draft_for(self, data: bytes, file_stat: os.stat_result) -> DraftFile:
        """The bytes that shall take the place of what was found, among our own files until they do."""
        return DraftFile(self._state.drafts(), data, self._metadata_source(file_stat))

    def publish(self, draft: DraftFile, expected: FileStamp, ready: Callable[[], None]) -> None:
        """Bring a draft to the disk, and let it be the file once that is wanted."""
        draft.sync()
        ready()
        with self._exclusively(expected):
            draft.publish_as(self._resolved)

    def remove(self, expected: FileStamp | None) -> None:
        """Take the file away."""
        with self._exclusively(expected):
            os.unlink(self._resolved.name, dir_fd=self._resolved.folder)

    @contextmanager
    def _exclusively(self, expected: FileStamp | None) -> Iterator[None]:
        """One change at a time, of all processes that work here; not if the file is not what was expected."""
        with self._lock.hold(self._state.drafts(), self._path):
            self._check_expected(expected)
            yield

    def _check_expected(self, expected: FileStamp | None) -> os.stat_result | None:
        """What is there now, if it is what was expected."""
        resolved = self._resolved
        try:
            file_stat: os.stat_result | None = os.stat(
                resolved.name, dir_fd=resolved.folder, follow_symlinks=False
            )
        except FileNotFoundError:
            file_stat = None
        if file_stat is not None:
            self._check(file_stat)
        now = None if file_stat is None else stamp_of(file_stat)
        if expected is not ANY_STAMP and now != expected:
            raise ToolError(
                f"{self._path} was changed by somebody else meanwhile. Nothing was written. Read it again.",
                code="CHANGED_MEANWHILE",
            )
        return file_stat

    def _metadata_source(self, file_stat: os.stat_result) -> MetadataSource:
        resolved = self._resolved
        if not os.access(resolved.name, os.W_OK, dir_fd=resolved.folder, effective_ids=True):
            raise ToolError(
                f"{self._path} is read-only, so it was left as it is. "
                "It can be changed once its mode allows it.",
                code="ACCESS_DENIED",
            )
        return MetadataSource(resolved.folder, resolved.name, file_stat)

    def _check(self, file_stat: os.stat_result) -> None:
        path = self._path
        if stat.S_ISDIR(file_stat.st_mode):
            raise ToolError(f"{path} is a folder. See what is in it with list_files.", code="NOT_A_FILE")
        if not stat.S_ISREG(file_stat.st_mode):
            raise ToolError(f"{path} is a device, pipe or socket, not a file.", code="NOT_A_FILE")
        if file_stat.st_nlink > 1 and not self._hardlinks:
            raise ToolError(
                f"{path} has {file_stat.st_nlink} names, and one of them may lie outside the workspace. "
                "Whoever runs this can allow such files with `hardlinks = true`.",
                code="SEVERAL_LINKS",
            )


def _read_all(fd: int, size: int) -> bytes:
    """What a file holds. Of one that grew since it was looked at, one byte more."""
    data = os.read(fd, size + 1)
    while len(data) < size and (more := os.read(fd, size - len(data))):
        data += more
    return data


def path_from_root(parts: tuple[str, ...]) -> str:
    """The way from the root as it can be given again: what begins with a dash is no path."""
    relative_path = "/".join(parts) or "."
    return f"./{relative_path}" if relative_path.startswith("-") else relative_path
