"""Atomic: a file gets new bytes as a whole or not at all.

The bytes go to a file of their own, are brought to the disk, and take the name in one step. Until then they
lie among our own files, where no listing shows them; what a killed process left there is swept later.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from itertools import count
from typing import NamedTuple, Self

from handrail.toolsets.workspace.beneath import Spot
from handrail.toolsets.workspace.resembling import PERMISSIONS, Like, resemble

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
DRAFT = ".handrail-"
"""How the name of a file begins that is being prepared."""
_numbers = count()
_ELSEWHERE = frozenset({errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK})
"""A draft cannot take its name because that is on another file system, or second names are unknown there."""
_NAMED_ONLY = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL})
"""A file system, or a kernel, without files that have no name."""

Alone = AbstractContextManager[None]
"""While it is entered, nobody else changes the file; entering it fails if somebody has."""


class Stamp(NamedTuple):
    """What tells whether a file is the same as it was."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def stamp_of(found: os.stat_result) -> Stamp:
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def replace(
    drafts: int, spot: Spot, data: bytes, like: Like | None, mode: int | None, alone: Callable[[], Alone]
) -> None:
    """Give a file its bytes, once nobody else can give it others meanwhile.

    What is new has no name until it is whole, where the file system knows how to do that; otherwise, and in
    place of another file, it is a draft until then: beside its place, where our drafts are elsewhere.
    """
    new = like is None
    if new and _born(spot, data, mode):
        return
    ways = list(dict.fromkeys([(drafts, new), (spot.folder, new), (spot.folder, False)]))
    for place, only_new in ways:
        try:
            with Draft(place, data, like, mode) as draft:
                draft.to_disk()
                with alone():
                    draft.take_name(spot, only_new)
        except OSError as error:
            if (place, only_new) == ways[-1] or error.errno not in _ELSEWHERE:
                raise
        else:
            break


def _born(spot: Spot, data: bytes, mode: int | None) -> bool:
    """Make a new file in its folder; False where the file system knows no files without a name."""
    try:
        fd = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=spot.folder)
    except OSError as error:
        if error.errno not in _NAMED_ONLY:
            raise
        return False
    try:
        _fill(fd, data, None, mode)
        os.fsync(fd)
        os.link(f"/proc/self/fd/{fd}", spot.name, dst_dir_fd=spot.folder, follow_symlinks=True)
    finally:
        os.close(fd)
    return True


class Draft:
    """The bytes that a file shall have, written where nobody looks."""

    def __init__(self, place: int, data: bytes, like: Like | None, mode: int | None = None) -> None:
        self._place = place
        self._name = f"{DRAFT}{os.getpid()}-{next(_numbers)}"
        self._open = [os.open(self._name, _NEW, 0o666 if like is None else 0o600, dir_fd=place)]
        """The descriptor, until somebody takes it out, and closes it."""
        try:
            _fill(self._open[0], data, like, mode)
        except BaseException:
            self.leave()
            raise

    def to_disk(self) -> None:
        """Wait until the bytes are on the disk."""
        with suppress(IndexError):  # nobody wants them any more
            fd = self._open.pop()
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def take_name(self, spot: Spot, only_new: bool = False) -> None:
        """Become the file, in one step; `only_new`: where nothing has its name."""
        if only_new:
            os.link(self._name, spot.name, src_dir_fd=self._place, dst_dir_fd=spot.folder)
        else:
            os.replace(self._name, spot.name, src_dir_fd=self._place, dst_dir_fd=spot.folder)
            self._name = ""

    def leave(self) -> None:
        """Nothing stays but what took its name."""
        with suppress(IndexError):
            os.close(self._open.pop())
        if self._name:
            with suppress(FileNotFoundError):
                os.unlink(self._name, dir_fd=self._place)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


def _fill(fd: int, data: bytes, like: Like | None, mode: int | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    if like is not None:
        resemble(fd, like)
    if mode is not None:
        os.fchmod(fd, mode & PERMISSIONS)
