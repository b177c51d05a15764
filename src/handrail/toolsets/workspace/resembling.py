"""Resembling: a file takes over from another who owns it, who may use it, and what is attached to it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import NamedTuple

PERMISSIONS = 0o777
_ACCESS_LIST = "system.posix_acl_access"


class Like(NamedTuple):
    """A file that another one shall resemble: the folder, held open, the name in it, and what it is."""

    folder: int
    name: str
    found: os.stat_result


def resemble(fd: int, like: Like) -> None:
    """Owner, mode, access list and attributes of another file, as far as the system lets us.

    What cannot be kept never gives anybody more rights; the right to run as somebody else is not kept.
    """
    now, then = os.fstat(fd), like.found
    mode = stat.S_IMODE(then.st_mode) & PERMISSIONS
    if (now.st_uid, now.st_gid) != (then.st_uid, then.st_gid) and not _owned(fd, then):
        mode = _without_group(mode)
    os.fchmod(fd, mode)
    path = f"/proc/self/fd/{like.folder}/{like.name}"
    for name in _attributes(path):
        try:
            os.setxattr(fd, name, os.getxattr(path, name, follow_symlinks=False))
        except OSError:
            if name == _ACCESS_LIST:  # with a list, the rights of the group are those of the whole list
                os.fchmod(fd, _without_group(mode))


def _owned(fd: int, then: os.stat_result) -> bool:
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
