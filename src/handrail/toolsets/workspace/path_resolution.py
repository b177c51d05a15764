"""Path resolution: opens what lies below a root, and nothing else, whatever links and renames do meanwhile.

A path is walked part by part over descriptors of folders that are held open. No part is ever looked up
through a link: a link is read and walked like the path that it stands for, so that it never leads out.
"""

from __future__ import annotations

import errno
import os
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from handrail import ToolError

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_PATH_BYTES = 4_096
_MAX_NAME_BYTES = 255
_MAX_PARTS = 128
"""Each folder on the way is held open."""
_MAX_LINKS = 40


def _no_check(parts: tuple[str, ...]) -> None:
    """No check."""


class ResolvedPath(NamedTuple):
    """Where a path ends: the folder, held open, and the name in it, which is no link."""

    folder: int
    name: str
    parts: tuple[str, ...]
    """The way from the root, without links; empty for the root itself, whose name is `.`."""


class PathResolver:
    """A root folder, held open."""

    def __init__(self, root: Path) -> None:
        self._given = Path(os.path.abspath(root))
        self.root = Path(os.path.realpath(root))
        self._fd = os.open(self.root, _FOLDER)

    def close(self) -> None:
        os.close(self._fd)

    def parts(self, path: str) -> tuple[str, ...]:
        """The parts of a path as they are written; one that names the root in full is led back to it."""
        _check_path(path)
        if not path.startswith("/"):
            return tuple([part for part in path.split("/") if part and part != "."])
        named = PurePosixPath(path).parts
        for root in (self.root.parts, self._given.parts):
            if named[: len(root)] == root:
                return named[len(root) :]
        raise outside_workspace(path)

    @contextmanager
    def resolved(
        self, path: str, check: Callable[[tuple[str, ...]], None] = _no_check, *, make: bool = False
    ) -> Iterator[ResolvedPath]:
        """Where the path ends, after all links. That is checked, and each link before it is followed.

        With `make`, folders on the way that are missing are made, after they were checked.
        """
        todo = deque(self.parts(path))
        open_folders: list[tuple[int, str]] = []
        links = 0
        try:
            while todo:
                folder = open_folders[-1][0] if open_folders else self._fd
                part = todo.popleft()
                if part == "..":
                    if not open_folders:
                        raise outside_workspace(path)
                    os.close(open_folders.pop()[0])
                    continue
                if not part.isascii():
                    part = _stored_spelling(part, folder)
                names = (*[name for _, name in open_folders], part)
                if not todo and (target := _read_link(part, folder, path)) is None:
                    check(names)
                    yield ResolvedPath(folder, part, names)
                    return
                opened = (
                    self._enter(part, folder, path, partial(check, names) if make else None) if todo else None
                )
                if opened is not None:
                    open_folders.append((opened, part))
                    continue
                if todo:
                    target = _read_link(part, folder, path)
                links += 1
                if target is None or links > _MAX_LINKS:
                    raise ToolError(f"{path} leads in a circle of links.", code="INVALID_PATH")
                check(names)
                if target.startswith("/"):
                    _close_all(open_folders)
                todo.extendleft(reversed(self._target(target, path)))
            names = tuple([name for _, name in open_folders])
            check(names)
            yield ResolvedPath(self._fd if not open_folders else open_folders[-1][0], ".", names)
        except OSError as error:
            raise path_error(error, path) from error
        finally:
            _close_all(open_folders)

    def link_at(self, path: str) -> str | None:
        """What the last part of a path says if it is a link; None for anything else."""
        *above, last = self.parts(path) or (".",)
        with self.resolved("/".join([".", *above])) as resolved:
            folder = os.open(resolved.name, _FOLDER, dir_fd=resolved.folder)
            try:
                return _read_link(last if last.isascii() else _stored_spelling(last, folder), folder, path)
            finally:
                os.close(folder)

    def _target(self, target: str, path: str) -> tuple[str, ...]:
        try:
            return self.parts(f"./{target}" if target.startswith("-") else target)
        except ToolError as error:
            if error.code == "OUTSIDE_WORKSPACE":
                raise outside_workspace(path) from None
            raise ToolError(f"{path} is a link to what is no path here.", code="INVALID_PATH") from None

    def _enter(self, part: str, folder: int, path: str, make: Callable[[], None] | None) -> int | None:
        """The folder of that name, opened; None where the name is a link."""
        for _ in range(2):
            try:
                return os.open(part, _FOLDER, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.ENOTDIR, errno.ELOOP):
                    if _read_link(part, folder, path) is not None:
                        return None
                    raise ToolError(
                        f"{part} in {path} is a file, not a folder.", code="NOT_A_FOLDER"
                    ) from None
                if error.errno != errno.ENOENT or make is None:
                    raise
            make()
            try:
                os.mkdir(part, dir_fd=folder)
            except FileExistsError:
                continue
        raise ToolError(f"{path} changed while it was opened. Try again.", code="CHANGED_MEANWHILE")


def _close_all(open_folders: list[tuple[int, str]]) -> None:
    while open_folders:
        os.close(open_folders.pop()[0])


def _read_link(part: str, folder: int, path: str) -> str | None:
    """What a link says; None for anything else, and for nothing at all."""
    try:
        target = os.readlink(part, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise
    if not target:
        raise outside_workspace(path)
    return target


def _stored_spelling(part: str, folder: int) -> str:
    """A name as the folder has it: what is one letter to a reader may be stored as two, or the reverse."""
    for spelled in (part, *(unicodedata.normalize(form, part) for form in ("NFC", "NFD"))):
        try:
            os.stat(spelled, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue
        return spelled
    return part


def _depth(path: str) -> int:
    return len([part for part in path.split("/") if part not in ("", ".")])


def _check_path(path: str) -> None:
    wrong = None
    if not path:
        wrong = "is empty"
    elif "\0" in path:
        wrong = "has a NUL in it"
    elif path.startswith("~/"):
        wrong = "begins with ~, which is nobody's home here: give it from the root of the workspace"
    elif path.startswith("-"):
        wrong = f"begins with a dash: write ./{path[:40]}"
    else:
        try:
            sizes = [len(part.encode()) for part in path.split("/")]
        except UnicodeEncodeError:
            wrong = "is not valid Unicode"
        else:
            if sum(sizes) + len(sizes) > _MAX_PATH_BYTES or max(sizes) > _MAX_NAME_BYTES:
                wrong = f"is too long: {_MAX_NAME_BYTES} bytes for a name, {_MAX_PATH_BYTES} for a path"
            elif len(sizes) > _MAX_PARTS and _depth(path) > _MAX_PARTS:
                wrong = f"is too deep: {_MAX_PARTS} parts at most"
    if wrong is not None:
        raise ToolError(f"The path {wrong}.", code="INVALID_PATH")


def outside_workspace(path: str) -> ToolError:
    """The path leaves the workspace."""
    return ToolError(
        f"{path} leads out of the workspace. Give a path inside it, relative to its root.",
        code="OUTSIDE_WORKSPACE",
    )


def path_error(error: OSError, path: str) -> ToolError:
    """What a system call says about a path, in words and with the code that a model can act on."""
    words = {
        errno.ENOENT: (f"There is no {path} in the workspace.", "FILE_NOT_FOUND"),
        errno.ENOTDIR: (f"A part of {path} is a file, not a folder.", "NOT_A_FOLDER"),
        errno.ENXIO: (f"{path} is a device, pipe or socket, not a file.", "NOT_A_FILE"),
        errno.EISDIR: (f"{path} is a folder.", "NOT_A_FILE"),
        errno.ELOOP: (f"{path} became a link while it was opened. Try again.", "CHANGED_MEANWHILE"),
        errno.EACCES: (f"The system does not give us access to {path} or to its folder.", "ACCESS_DENIED"),
        errno.EPERM: (f"The system does not let us change {path}.", "ACCESS_DENIED"),
        errno.EROFS: (f"{path} is on a file system that is read-only.", "ACCESS_DENIED"),
        errno.ENAMETOOLONG: (f"The path {path[:80]} is too long.", "INVALID_PATH"),
        errno.ENOSPC: ("The disk is full. Nothing was changed.", "DISK_FULL"),
        errno.EDQUOT: ("The disk quota is used up. Nothing was changed.", "DISK_FULL"),
        errno.ENOTEMPTY: (f"The folder {path} is not empty.", "NOT_A_FILE"),
    }
    text, code = words.get(error.errno or 0, (f"{path}: {error.strerror or error}.", "FILE_ERROR"))
    return ToolError(text, code=code)
