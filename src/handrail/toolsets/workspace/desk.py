"""Workspace: the folder that the tools work in. What lies outside is not there for them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final

from handrail.ext import ToolError, path_key
from handrail.toolsets.workspace.atomic import DRAFT, Stamp, is_elsewhere, prepared, put, stamp_of
from handrail.toolsets.workspace.beneath import Beneath, Spot
from handrail.toolsets.workspace.change import Journal, Unkept

STATE = ".handrail"
"""The folder of our own: history and drafts."""
_REPOSITORY = ".git"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
ANY: Final = Stamp(-1, -1, -1, -1, -1)
"""Whatever the file is now."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the tools leave alone, as paths from the root."""

    protected: tuple[str, ...] = ()
    """May be read, not changed: settings and policies. Repositories' own folders are so by themselves."""
    hidden: tuple[str, ...] = ()
    """Not there at all: databases and keys. Our own folder is so by itself."""
    hardlinks: bool = False
    """Whether files are read that have a second name, which may lie outside."""


class Workspace:
    """One folder, opened once. Everything in it is reached through here."""

    def __init__(self, root: str | Path, keeping: Keeping | None = None) -> None:
        self.beneath = Beneath(Path(root))
        self.root = self.beneath.root
        self.state = self.root / STATE
        self.keeping = keeping or Keeping()
        self.journal: Journal = Unkept()
        self._listeners: list[Callable[[str | None], None]] = []
        self._drafts: int | None = None

    def close(self) -> None:
        self.beneath.close()
        if self._drafts is not None:
            os.close(self._drafts)
            self._drafts = None

    def listen(self, hear: Callable[[str | None], None]) -> None:
        """Be told of each path that a tool changed; None when anything may have changed."""
        self._listeners.append(hear)

    def tell(self, path: str | None) -> None:
        for hear in self._listeners:
            hear(path)

    def key(self, path: str) -> str:
        """The resource key of a path: one for one file, however it is spelled."""
        return path_key(path, str(self.root))

    def relative(self, path: str) -> str:
        """The way from the root without links; `.` for the root itself."""
        with self._spot(path) as spot:
            return named(spot.parts)

    def stat(self, path: str) -> os.stat_result | None:
        """What the path leads to; None when there is nothing."""
        try:
            with self._spot(path) as spot:
                return os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
        except ToolError as error:
            if error.code == "FILE_NOT_FOUND":
                return None
            raise

    def stamp(self, path: str) -> Stamp | None:
        found = self.stat(path)
        return None if found is None else stamp_of(found)

    def open(self, path: str) -> BinaryIO:
        """The file, for reading."""
        return self.opened(path)[1]

    def opened(self, path: str) -> tuple[str, BinaryIO]:
        """The way from the root to the file without links, and the file, for reading."""
        with self._spot(path) as spot:
            fd = os.open(spot.name, _READ, dir_fd=spot.folder)
        try:
            self._check_file(os.fstat(fd), path)
        except BaseException:
            os.close(fd)
            raise
        return named(spot.parts), os.fdopen(fd, "rb")

    def open_folder(self, path: str) -> int:
        """A descriptor of the folder; the caller closes it."""
        with self._spot(path) as spot:
            try:
                return os.open(spot.name, _FOLDER, dir_fd=spot.folder)
            except NotADirectoryError:
                raise ToolError(f"{path} is a file, not a folder.", code="NOT_A_FOLDER") from None

    def read(self, path: str, most: int | None = None) -> bytes:
        """The bytes of the file; with `most`, no more than that."""
        with self.open(path) as file:
            return file.read() if most is None else file.read(most)

    def may_read(self, found: os.stat_result) -> bool:
        """Whether a file that a search came across is one that `open` would give."""
        return stat.S_ISREG(found.st_mode) and (found.st_nlink < 2 or self.keeping.hardlinks)

    def is_hidden(self, parts: tuple[str, ...]) -> bool:
        """Whether this is among what the tools do not see."""
        if not parts:
            return False
        ours = parts[0].casefold() == STATE or parts[-1].startswith(DRAFT)
        return ours or _is_among(parts, self.keeping.hidden)

    def is_protected(self, parts: tuple[str, ...]) -> bool:
        """Whether this is among what the tools do not change."""
        if any(part.casefold() == _REPOSITORY for part in parts):
            return True
        return self.is_hidden(parts) or _is_among(parts, self.keeping.protected)

    def write(
        self, path: str, data: bytes, *, expected: Stamp | None = ANY, mode: int | None = None
    ) -> Stamp:
        """Give a file these bytes, as a whole or not at all. `expected` is what it must be before."""
        with self._spot(path, partial(self._check_change, path)) as spot:
            old = self._expected(spot, path, expected)
            self._replace(spot, path, data, old, mode)
            stamp = stamp_of(os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False))
        self.tell(named(spot.parts))
        return stamp

    def remove(self, path: str, *, expected: Stamp | None = ANY) -> None:
        """Take a file away."""
        with self._spot(path) as spot:
            self._check_change(path, spot.parts)
            self._expected(spot, path, expected)
            os.unlink(spot.name, dir_fd=spot.folder)
        self.tell(named(spot.parts))

    def missing(self, path: str) -> tuple[str, ...]:
        """The folders on the way to a path that do not exist yet, the outermost first."""
        parents = PurePosixPath(*self.beneath.parts(path)).parents
        folders = [named(one.parts) for one in parents if one.parts]
        return tuple(one for one in reversed(folders) if self.stat(one) is None)

    @contextmanager
    def _spot(self, path: str, change: Callable[[tuple[str, ...]], None] | None = None) -> Iterator[Spot]:
        with self.beneath.spot(path, change) as spot:
            self._check_sight(path, spot.parts)
            if change is not None:
                change(spot.parts)
            yield spot

    def _check_sight(self, path: str, parts: tuple[str, ...]) -> None:
        if self.is_hidden(parts):
            raise ToolError(f"There is no {path} in the workspace.", code="FILE_NOT_FOUND")

    def _expected(self, spot: Spot, path: str, expected: Stamp | None) -> os.stat_result | None:
        """What is there now, if it is what was expected."""
        try:
            found: os.stat_result | None = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
        except FileNotFoundError:
            found = None
        if found is not None:
            self._check_file(found, path)
        now = None if found is None else stamp_of(found)
        if expected is not ANY and now != expected:
            raise ToolError(
                f"{path} was changed by somebody else meanwhile. Nothing was written. Read it again.",
                code="CHANGED_MEANWHILE",
            )
        return found

    def _replace(
        self, spot: Spot, path: str, data: bytes, old: os.stat_result | None, mode: int | None
    ) -> None:
        drafts = self.drafts()
        draft = prepared(drafts, data, old, mode)
        try:
            put(drafts, draft, spot.folder, spot.name, new=old is None)
        except FileExistsError:
            raise ToolError(
                f"{path} was made by somebody else meanwhile. Nothing was written. Read it first.",
                code="CHANGED_MEANWHILE",
            ) from None
        except OSError as error:
            if not is_elsewhere(error):
                raise
            beside = prepared(spot.folder, data, old, mode)
            put(spot.folder, beside, spot.folder, spot.name)

    def drafts(self) -> int:
        """The folder where files are prepared. What killed processes left in it is swept at opening."""
        if self._drafts is None:
            folder = self.own("drafts")
            self._drafts = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            _sweep(self._drafts)
        return self._drafts

    def own(self, name: str) -> Path:
        """A folder of our own, made where it is missing. It is never part of a repository."""
        if self.state.is_symlink():
            raise ToolError(f"{STATE} is a link. Remove it: our history belongs inside.", code="INVALID_PATH")
        folder = self.state / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ignore = self.state / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        return folder

    def _check_change(self, path: str, parts: tuple[str, ...]) -> None:
        self._check_sight(path, parts)
        if not parts:
            raise ToolError(f"{path} is a folder.", code="NOT_A_FILE")
        if self.is_protected(parts):
            raise ToolError(
                f"{path} is protected: tools change neither a repository's own folder nor Handrail's files.",
                code="PROTECTED_PATH",
            )

    def _check_file(self, found: os.stat_result, path: str) -> None:
        if stat.S_ISDIR(found.st_mode):
            raise ToolError(f"{path} is a folder. See what is in it with list_files.", code="NOT_A_FILE")
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(f"{path} is a device, pipe or socket, not a file.", code="NOT_A_FILE")
        if found.st_nlink > 1 and not self.keeping.hardlinks:
            raise ToolError(
                f"{path} has {found.st_nlink} names, and one of them may lie outside the workspace. "
                "Whoever runs this can allow such files with `hardlinks = true`.",
                code="SEVERAL_LINKS",
            )


def named(parts: tuple[str, ...]) -> str:
    """The way from the root as it can be given again: what begins with a dash is no path."""
    way = "/".join(parts) or "."
    return f"./{way}" if way.startswith("-") else way


def _is_among(parts: tuple[str, ...], names: Collection[str]) -> bool:
    if not names:
        return False
    folded = tuple(part.casefold() for part in parts)
    return any(folded[: len(one)] == one for one in (tuple(name.casefold().split("/")) for name in names))


def _sweep(drafts: int) -> None:
    """Remove the drafts of processes that are gone."""
    for name in os.listdir(drafts):
        owner = name.removeprefix(DRAFT).partition("-")[0]
        if not owner.isdigit() or not os.path.exists(f"/proc/{owner}"):
            with suppress(OSError):
                os.unlink(name, dir_fd=drafts)
