"""Workspace: the folder that the tools work in. What lies outside is not there for them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from handrail.ext import ToolError, folded, path_key
from handrail.toolsets.workspace.atomic import DRAFT, Stamp, stamp_of
from handrail.toolsets.workspace.beneath import Beneath, Spot
from handrail.toolsets.workspace.change import Journal, Unkept
from handrail.toolsets.workspace.disk import Disk
from handrail.toolsets.workspace.keeping import Keeping, is_among
from handrail.toolsets.workspace.locking import Lock, Turns
from handrail.toolsets.workspace.place import ANY, Place, named
from handrail.toolsets.workspace.state import STATE, State

_REPOSITORY = ".git"
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Workspace:
    """One folder, opened once. Everything in it is reached through here."""

    def __init__(self, root: str | Path, keeping: Keeping | None = None) -> None:
        self.beneath = Beneath(Path(root))
        self.root = self.beneath.root
        self._base = str(self.root)
        self._own = State(self.root)
        self.state = self._own.path
        self.keeping = keeping or Keeping()
        self.journal: Journal = Unkept()
        self._listeners: list[Callable[[str | None], None]] = []
        self._lock = Lock()
        self._turns = Turns()
        self.disk = Disk()

    def close(self) -> None:
        self.disk.close()
        self.beneath.close()
        self._own.close()

    def own(self, name: str) -> Path:
        """A folder of our own, made where it is missing. It is never part of a repository."""
        return self._own.folder(name)

    def listen(self, hear: Callable[[str | None], None]) -> None:
        """Be told of each path that a tool changed; None when anything may have changed."""
        self._listeners.append(hear)

    def tell(self, path: str | None) -> None:
        for hear in self._listeners:
            hear(path)

    def key(self, path: str) -> str:
        """The resource key of a path: one for one file, however it is spelled."""
        plain = self._plain(path)
        return path_key(path, self._base) if plain is None else folded(plain)

    def _plain(self, path: str) -> str | None:
        """Where a path leads whose parts are all there, none of them a link or a step up; else None."""
        parts = path.split("/")
        if not parts[0] or ".." in parts:
            return None
        here = self._base
        for part in parts:
            if part and part != ".":
                here = f"{here}/{part}"
                try:
                    found = os.lstat(here)
                except (OSError, ValueError):
                    return None
                if stat.S_ISLNK(found.st_mode):
                    return None
        return here

    def turn(self, path: str) -> AbstractContextManager[None]:
        """Held from reading a file until it is changed, so that no change of this process is refused."""
        return self._turns.held(self.key(path))

    def turn_at(self, place: Place) -> AbstractContextManager[None]:
        """The same where a path leads, for those who cannot wait for it."""
        return self._turns.held(folded(f"{self._base}/{place.way}"), wait=False)

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
        with self._spot(path) as spot:
            fd, _ = self._place(spot, path).open()
        return os.fdopen(fd, "rb")

    def taken(self, path: str, most: int) -> tuple[str, os.stat_result, bytes]:
        """A file that is to be changed: the way from the root without links, what it is, and its bytes."""
        with self.place(path) as place:
            return (place.name, *place.read(most))

    @contextmanager
    def place(self, path: str, *, make: bool = False) -> Iterator[Place]:
        """Where a path leads that is to be changed; with `make`, missing folders on the way are made."""
        with self._spot(path, partial(self._check_change, path), make=make) as spot:
            yield self._place(spot, path)

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
        return ours or is_among(parts, self.keeping.hidden)

    def is_protected(self, parts: tuple[str, ...]) -> bool:
        """Whether this is among what the tools do not change."""
        return self.is_hidden(parts) or self._is_kept(parts)

    def _is_kept(self, parts: tuple[str, ...]) -> bool:
        """Whether this is shown, and not changed."""
        for part in parts:
            if part.casefold() == _REPOSITORY:
                return True
        return is_among(parts, self.keeping.protected)

    def check_change(self, path: str) -> None:
        """Refuse a path, given without links, that tools do not change."""
        self._check_change(path, self.beneath.parts(path))

    def write(self, path: str, data: bytes, *, expected: Stamp | None = ANY, mode: int | None = None) -> None:
        """Give a file these bytes, as a whole or not at all. `expected` is what it must be before.

        What is raised says that nothing was written.
        """
        with self.place(path, make=True) as place:
            place.write(data, expected, mode)
        self.tell(place.name)

    def remove(self, path: str, *, expected: Stamp | None = ANY) -> None:
        """Take a file away."""
        with self.place(path) as place:
            place.remove(expected)
        self.tell(place.name)

    def missing(self, path: str) -> tuple[str, ...]:
        """The folders on the way to a path that do not exist yet, the outermost first."""
        parents = PurePosixPath(*self.beneath.parts(path)).parents
        folders = [named(one.parts) for one in parents if one.parts]
        return tuple(one for one in reversed(folders) if self.stat(one) is None)

    def _spot(
        self, path: str, check: Callable[[tuple[str, ...]], None] | None = None, *, make: bool = False
    ) -> AbstractContextManager[Spot]:
        return self.beneath.spot(path, check or partial(self._check_sight, path), make=make)

    def _place(self, spot: Spot, path: str) -> Place:
        return Place(spot, path, self.keeping.hardlinks, self._own, self._lock)

    def _check_sight(self, path: str, parts: tuple[str, ...]) -> None:
        if self.is_hidden(parts):
            raise ToolError(f"There is no {path} in the workspace.", code="FILE_NOT_FOUND")

    def _check_change(self, path: str, parts: tuple[str, ...]) -> None:
        self._check_sight(path, parts)
        if not parts:
            raise ToolError(f"{path} is a folder.", code="NOT_A_FILE")
        if self._is_kept(parts):
            raise ToolError(
                f"{path} is protected: tools change neither a repository's own folder nor Handrail's files.",
                code="PROTECTED_PATH",
            )
