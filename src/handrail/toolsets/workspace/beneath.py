"""Beneath: opens what lies below a root, and nothing else, whatever links and renames do meanwhile.

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

from handrail.ext import ToolError

_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_PATH = 4_096
_LONGEST_NAME = 255
_MOST_PARTS = 128
"""Each folder on the way is held open."""
_MOST_LINKS = 40


def _nothing(parts: tuple[str, ...]) -> None:
    """No check."""


class Spot(NamedTuple):
    """Where a path ends: the folder, held open, and the name in it, which is no link."""

    folder: int
    name: str
    parts: tuple[str, ...]
    """The way from the root, without links; empty for the root itself, whose name is `.`."""


class Beneath:
    """A root folder, held open."""

    def __init__(self, root: Path) -> None:
        self._given = Path(os.path.abspath(root))
        self.root = Path(os.path.realpath(root))
        self._fd = os.open(self.root, _FOLDER)

    def close(self) -> None:
        os.close(self._fd)

    def parts(self, path: str) -> tuple[str, ...]:
        """The parts of a path as they are written; one that names the root in full is led back to it."""
        _check(path)
        if not path.startswith("/"):
            return tuple([part for part in path.split("/") if part and part != "."])
        named = PurePosixPath(path).parts
        for root in (self.root.parts, self._given.parts):
            if named[: len(root)] == root:
                return named[len(root) :]
        raise outside(path)

    @contextmanager
    def spot(
        self, path: str, check: Callable[[tuple[str, ...]], None] = _nothing, *, make: bool = False
    ) -> Iterator[Spot]:
        """Where the path ends, after all links. That is checked, and each link before it is followed.

        With `make`, folders on the way that are missing are made, after they were checked.
        """
        todo = deque(self.parts(path))
        held: list[tuple[int, str]] = []
        links = 0
        try:
            while todo:
                folder = held[-1][0] if held else self._fd
                part = todo.popleft()
                if part == "..":
                    if not held:
                        raise outside(path)
                    os.close(held.pop()[0])
                    continue
                if not part.isascii():
                    part = _as_spelled(part, folder)
                names = (*[name for _, name in held], part)
                if not todo and (target := _link(part, folder, path)) is None:
                    check(names)
                    yield Spot(folder, part, names)
                    return
                opened = (
                    self._enter(part, folder, path, partial(check, names) if make else None) if todo else None
                )
                if opened is not None:
                    held.append((opened, part))
                    continue
                if todo:
                    target = _link(part, folder, path)
                links += 1
                if target is None or links > _MOST_LINKS:
                    raise ToolError(f"{path} leads in a circle of links.", code="INVALID_PATH")
                check(names)
                if target.startswith("/"):
                    _let_go(held)
                todo.extendleft(reversed(self._target(target, path)))
            names = tuple([name for _, name in held])
            check(names)
            yield Spot(self._fd if not held else held[-1][0], ".", names)
        except OSError as error:
            raise said(error, path) from error
        finally:
            _let_go(held)

    def link_at(self, path: str) -> str | None:
        """What the last part of a path says if it is a link; None for anything else."""
        *above, last = self.parts(path) or (".",)
        with self.spot("/".join([".", *above])) as spot:
            folder = os.open(spot.name, _FOLDER, dir_fd=spot.folder)
            try:
                return _link(last if last.isascii() else _as_spelled(last, folder), folder, path)
            finally:
                os.close(folder)

    def _target(self, target: str, path: str) -> tuple[str, ...]:
        try:
            return self.parts(f"./{target}" if target.startswith("-") else target)
        except ToolError as error:
            if error.code == "OUTSIDE_WORKSPACE":
                raise outside(path) from None
            raise ToolError(f"{path} is a link to what is no path here.", code="INVALID_PATH") from None

    def _enter(self, part: str, folder: int, path: str, make: Callable[[], None] | None) -> int | None:
        """The folder of that name, opened; None where the name is a link."""
        for _ in range(2):
            try:
                return os.open(part, _FOLDER, dir_fd=folder)
            except OSError as error:
                if error.errno in (errno.ENOTDIR, errno.ELOOP):
                    if _link(part, folder, path) is not None:
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


def _let_go(held: list[tuple[int, str]]) -> None:
    while held:
        os.close(held.pop()[0])


def _link(part: str, folder: int, path: str) -> str | None:
    """What a link says; None for anything else, and for nothing at all."""
    try:
        target = os.readlink(part, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise
    if not target:
        raise outside(path)
    return target


def _as_spelled(part: str, folder: int) -> str:
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


def _check(path: str) -> None:
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
            if sum(sizes) + len(sizes) > _LONGEST_PATH or max(sizes) > _LONGEST_NAME:
                wrong = f"is too long: {_LONGEST_NAME} bytes for a name, {_LONGEST_PATH} for a path"
            elif len(sizes) > _MOST_PARTS and _depth(path) > _MOST_PARTS:
                wrong = f"is too deep: {_MOST_PARTS} parts at most"
    if wrong is not None:
        raise ToolError(f"The path {wrong}.", code="INVALID_PATH")


def outside(path: str) -> ToolError:
    """The path leaves the workspace."""
    return ToolError(
        f"{path} leads out of the workspace. Give a path inside it, relative to its root.",
        code="OUTSIDE_WORKSPACE",
    )


def said(error: OSError, path: str) -> ToolError:
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
