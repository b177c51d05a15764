"""Atomic: a file gets new bytes as a whole or not at all.

The bytes go to a file of their own, are brought to the disk, and take the name in one step. Until then they
lie among our own files, where no listing shows them; what a killed process left there is swept later.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from itertools import count
from typing import NamedTuple

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PERMISSIONS = 0o777
DRAFT = ".handrail-"
"""How the name of a file begins that is being prepared."""
_numbers = count()


class Stamp(NamedTuple):
    """What tells whether a file is the same as it was."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def stamp_of(found: os.stat_result) -> Stamp:
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def prepared(drafts: int, data: bytes, like: os.stat_result | None, mode: int | None = None) -> str:
    """The name of a new file among the drafts that holds the bytes, with mode and owner of another."""
    name = f"{DRAFT}{os.getpid()}-{next(_numbers)}"
    fd = os.open(name, _NEW, 0o666, dir_fd=drafts)
    try:
        try:
            _write_all(fd, data)
            if like is not None:
                _resemble(fd, like)
            if mode is not None:
                os.fchmod(fd, mode & _PERMISSIONS)
            os.fsync(fd)
        finally:
            os.close(fd)
    except BaseException:
        os.unlink(name, dir_fd=drafts)
        raise
    return name


def put(drafts: int, draft: str, folder: int, name: str, *, new: bool = False) -> None:
    """Give the draft its name, in one step. `new`: only where nothing has it."""
    try:
        if new:
            os.link(draft, name, src_dir_fd=drafts, dst_dir_fd=folder)
            os.unlink(draft, dir_fd=drafts)
        else:
            os.replace(draft, name, src_dir_fd=drafts, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=drafts)
        raise


def is_elsewhere(error: OSError) -> bool:
    """Whether a file cannot take its name because that is on another file system, or links are unknown."""
    return error.errno in (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK)


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _resemble(fd: int, like: os.stat_result) -> None:
    """Mode, owner and attributes of another file; never the right to run as somebody else."""
    now = os.fstat(fd)
    if (now.st_uid, now.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):
            os.fchown(fd, like.st_uid, like.st_gid)
    mode = stat.S_IMODE(like.st_mode) & _PERMISSIONS
    if stat.S_IMODE(now.st_mode) != mode:
        os.fchmod(fd, mode)
