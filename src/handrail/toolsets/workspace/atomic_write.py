"""Atomic write: a file gets new bytes as a whole or not at all; owner, mode and attributes stay."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from itertools import count
from typing import NamedTuple, Self

from handrail.toolsets.workspace.path_resolution import ResolvedPath

PERMISSION_BITS = 0o777
_ACCESS_LIST = "system.posix_acl_access"


class MetadataSource(NamedTuple):
    """A file that another one shall resemble: the folder, held open, the name in it, and what it is."""

    folder: int
    name: str
    file_stat: os.stat_result


def copy_metadata(fd: int, source: MetadataSource) -> None:
    """Owner, mode, access list and attributes of another file, as far as the system lets us.

    What cannot be kept never gives anybody more rights; the right to run as somebody else is not kept.
    """
    now, then = os.fstat(fd), source.file_stat
    mode = stat.S_IMODE(then.st_mode) & PERMISSION_BITS
    if (now.st_uid, now.st_gid) != (then.st_uid, then.st_gid) and not _copy_owner(fd, then):
        mode = _without_group(mode)
    os.fchmod(fd, mode)
    path = f"/proc/self/fd/{source.folder}/{source.name}"
    for name in _attributes(path):
        try:
            os.setxattr(fd, name, os.getxattr(path, name, follow_symlinks=False))
        except OSError:
            if name == _ACCESS_LIST:  # with a list, the rights of the group are those of the whole list
                os.fchmod(fd, _without_group(mode))


def _copy_owner(fd: int, then: os.stat_result) -> bool:
    """Whether a file has the group of another now; its owner too, if we may give it away."""
    for owner in (then.st_uid, -1):
        with suppress(OSError):  # we may not, or nobody has this number here
            os.fchown(fd, owner, then.st_gid)
            return True
    return False


def _without_group(mode: int) -> int:
    """The mode, with no more rights for the group than others have."""
    return mode & ~0o070 | mode & (mode & 0o007) << 3


def _attributes(path: str) -> list[str]:
    """The extended attributes that belong to a file's contents or say who may use it."""
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return []
    return [name for name in names if name.startswith("user.") or name == _ACCESS_LIST]


_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

DRAFT_PREFIX = ".handrail-"
"""How the name of a file begins that is being prepared."""
_numbers = count()

_CROSS_DEVICE = frozenset({errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK})
"""A draft cannot take its name because that is on another file system, or second names are unknown there."""

_NO_UNNAMED_FILES = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL})
"""A file system, or a kernel, without files that have no name."""

ExclusiveAccess = AbstractContextManager[None]
"""While it is entered, nobody else changes the file; entering it fails if somebody has."""


class FileStamp(NamedTuple):
    """What tells whether a file is the same as it was."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def stamp_of(file_stat: os.stat_result) -> FileStamp:
    return FileStamp(
        file_stat.st_dev, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ctime_ns
    )


def atomic_replace(
    drafts: int,
    resolved: ResolvedPath,
    data: bytes,
    source: MetadataSource | None,
    mode: int | None,
    exclusive: Callable[[], ExclusiveAccess],
) -> None:
    """Give a file its bytes, once nobody else can give it others meanwhile.

    What is new has no name until it is whole, where the file system knows how to do that; otherwise, and in
    place of another file, it is a draft until then: beside its place, where our drafts are elsewhere.
    """
    new = source is None
    if new and _create_unnamed(resolved, data, mode):
        return
    ways = list(dict.fromkeys([(drafts, new), (resolved.folder, new), (resolved.folder, False)]))
    for folder, only_new in ways:
        try:
            with DraftFile(folder, data, source, mode) as draft:
                draft.sync()
                with exclusive():
                    draft.publish_as(resolved, only_new)
        except OSError as error:
            if (folder, only_new) == ways[-1] or error.errno not in _CROSS_DEVICE:
                raise
        else:
            break


def _create_unnamed(resolved: ResolvedPath, data: bytes, mode: int | None) -> bool:
    """Make a new file in its folder; False where the file system knows no files without a name."""
    try:
        fd = os.open(".", os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666, dir_fd=resolved.folder)
    except OSError as error:
        if error.errno not in _NO_UNNAMED_FILES:
            raise
        return False
    try:
        _write_all(fd, data, None, mode)
        os.fsync(fd)
        os.link(f"/proc/self/fd/{fd}", resolved.name, dst_dir_fd=resolved.folder, follow_symlinks=True)
    finally:
        os.close(fd)
    return True


class DraftFile:
    """The bytes that a file shall have, written where nobody looks."""

    def __init__(
        self, folder: int, data: bytes, source: MetadataSource | None, mode: int | None = None
    ) -> None:
        self._folder = folder
        self._name = f"{DRAFT_PREFIX}{os.getpid()}-{next(_numbers)}"
        self._open = [os.open(self._name, _CREATE_FLAGS, 0o666 if source is None else 0o600, dir_fd=folder)]
        """The descriptor, until somebody takes it out, and closes it."""
        try:
            _write_all(self._open[0], data, source, mode)
        except BaseException:
            self.discard()
            raise

    def sync(self) -> None:
        """Wait until the bytes are on the disk."""
        with suppress(IndexError):  # nobody wants them any more
            fd = self._open.pop()
            try:
                os.fsync(fd)
            finally:
                os.close(fd)

    def publish_as(self, resolved: ResolvedPath, only_new: bool = False) -> None:
        """Become the file, in one step; `only_new`: where nothing has its name."""
        if only_new:
            os.link(self._name, resolved.name, src_dir_fd=self._folder, dst_dir_fd=resolved.folder)
        else:
            os.replace(self._name, resolved.name, src_dir_fd=self._folder, dst_dir_fd=resolved.folder)
            self._name = ""

    def discard(self) -> None:
        """Nothing stays but what took its name."""
        with suppress(IndexError):
            os.close(self._open.pop())
        if self._name:
            with suppress(FileNotFoundError):
                os.unlink(self._name, dir_fd=self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()


def _write_all(fd: int, data: bytes, source: MetadataSource | None, mode: int | None) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    if source is not None:
        copy_metadata(fd, source)
    if mode is not None:
        os.fchmod(fd, mode & PERMISSION_BITS)
