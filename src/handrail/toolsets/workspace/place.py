"""Place: where the way to a file ends, held open from the look at the file until it has its new bytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from handrail.ext import ToolError
from handrail.toolsets.workspace.atomic import Draft, Stamp, replace, stamp_of
from handrail.toolsets.workspace.beneath import Spot
from handrail.toolsets.workspace.locking import Lock
from handrail.toolsets.workspace.opening import opened_file
from handrail.toolsets.workspace.resembling import Like
from handrail.toolsets.workspace.state import State

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
ANY: Final = Stamp(-1, -1, -1, -1, -1)
"""Whatever the file is now."""


class Place:
    """The file of a name in a folder, which is there or not."""

    __slots__ = ("_hardlinks", "_lock", "_own", "_path", "_spot")

    def __init__(self, spot: Spot, path: str, hardlinks: bool, own: State, lock: Lock) -> None:
        self._spot = spot
        self._path = path
        self._hardlinks = hardlinks
        self._own = own
        self._lock = lock

    @property
    def way(self) -> str:
        """The way from the root without links."""
        return "/".join(self._spot.parts)

    @property
    def name(self) -> str:
        """That, as it can be given again."""
        return named(self._spot.parts)

    def open(self) -> tuple[int, os.stat_result]:
        """The file, opened for reading, and what it is."""
        fd = os.open(self._spot.name, _READ, dir_fd=self._spot.folder)
        try:
            found = opened_file(fd)
            self._check(found)
        except BaseException:
            os.close(fd)
            raise
        return fd, found

    def read(self, most: int) -> tuple[os.stat_result, bytes]:
        """What the file is, and its bytes."""
        fd, found = self.open()
        try:
            if found.st_size > most:
                raise ToolError(
                    f"{self._path} has {found.st_size} bytes; this tool changes files of up to {most}.",
                    code="TOO_LARGE",
                )
            return found, _read_all(fd, found.st_size)
        finally:
            os.close(fd)

    def write(self, data: bytes, expected: Stamp | None, mode: int | None) -> None:
        """Give the file these bytes, as a whole or not at all."""
        old = self._expected(expected)
        like = None if old is None else self._like(old)
        try:
            replace(self._own.drafts(), self._spot, data, like, mode, partial(self._alone, expected))
        except FileExistsError:
            raise ToolError(
                f"{self._path} was made by somebody else meanwhile. Nothing was written. Read it first.",
                code="CHANGED_MEANWHILE",
            ) from None

    def drafted(self, data: bytes, found: os.stat_result) -> Draft:
        """The bytes that shall take the place of what was found, among our own files until they do."""
        return Draft(self._own.drafts(), data, self._like(found))

    def take(self, draft: Draft, expected: Stamp, ready: Callable[[], None]) -> None:
        """Bring a draft to the disk, and let it be the file once that is wanted."""
        draft.to_disk()
        ready()
        with self._alone(expected):
            draft.take_name(self._spot)

    def remove(self, expected: Stamp | None) -> None:
        """Take the file away."""
        with self._alone(expected):
            os.unlink(self._spot.name, dir_fd=self._spot.folder)

    @contextmanager
    def _alone(self, expected: Stamp | None) -> Iterator[None]:
        """One change at a time, of all processes that work here; not if the file is not what was expected."""
        with self._lock.held(self._own.drafts(), self._path):
            self._expected(expected)
            yield

    def _expected(self, expected: Stamp | None) -> os.stat_result | None:
        """What is there now, if it is what was expected."""
        spot = self._spot
        try:
            found: os.stat_result | None = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
        except FileNotFoundError:
            found = None
        if found is not None:
            self._check(found)
        now = None if found is None else stamp_of(found)
        if expected is not ANY and now != expected:
            raise ToolError(
                f"{self._path} was changed by somebody else meanwhile. Nothing was written. Read it again.",
                code="CHANGED_MEANWHILE",
            )
        return found

    def _like(self, found: os.stat_result) -> Like:
        spot = self._spot
        if not os.access(spot.name, os.W_OK, dir_fd=spot.folder, effective_ids=True):
            raise ToolError(
                f"{self._path} is read-only, so it was left as it is. "
                "It can be changed once its mode allows it.",
                code="ACCESS_DENIED",
            )
        return Like(spot.folder, spot.name, found)

    def _check(self, found: os.stat_result) -> None:
        path = self._path
        if stat.S_ISDIR(found.st_mode):
            raise ToolError(f"{path} is a folder. See what is in it with list_files.", code="NOT_A_FILE")
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(f"{path} is a device, pipe or socket, not a file.", code="NOT_A_FILE")
        if found.st_nlink > 1 and not self._hardlinks:
            raise ToolError(
                f"{path} has {found.st_nlink} names, and one of them may lie outside the workspace. "
                "Whoever runs this can allow such files with `hardlinks = true`.",
                code="SEVERAL_LINKS",
            )


def _read_all(fd: int, size: int) -> bytes:
    """What a file holds. Of one that grew since it was looked at, one byte more."""
    data = os.read(fd, size + 1)
    while len(data) < size and (more := os.read(fd, size - len(data))):
        data += more
    return data


def named(parts: tuple[str, ...]) -> str:
    """The way from the root as it can be given again: what begins with a dash is no path."""
    way = "/".join(parts) or "."
    return f"./{way}" if way.startswith("-") else way
