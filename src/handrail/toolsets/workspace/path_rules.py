"""Path rules: protected and hidden paths, and the folder of our own, `.handrail`."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from handrail import ToolError
from handrail.ext.errors import DefinitionError
from handrail.ext.tools import folded
from handrail.toolsets.workspace.atomic_write import DRAFT_PREFIX


@dataclass(frozen=True, slots=True)
class PathRules:
    """What the tools leave alone, as paths from the root."""

    protected: tuple[str, ...] = ()
    """May be read, not changed: settings and policies. Repositories' own folders are so by themselves."""
    hidden: tuple[str, ...] = ()
    """Not there at all: databases and keys. Our own folder is so by itself."""
    hardlinks: bool = False
    """Whether files are read that have a second name, which may lie outside."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "protected", _all_spellings(map(_from_root, self.protected)))
        object.__setattr__(self, "hidden", _all_spellings(map(_from_root, self.hidden)))


def _from_root(path: str) -> str:
    """A path in its plainest spelling; one that would keep nothing, or everything, is an error."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or not parts or ".." in parts or any(char in path for char in "*?\0"):
        raise DefinitionError(
            f"{path!r} is no path from the root of a workspace",
            remedy="name a file or a folder in it, such as secrets/key.pem; patterns are not understood",
        )
    return "/".join(parts)


def _all_spellings(names: Iterable[str]) -> tuple[str, ...]:
    """Each name in every way in which a folder may hold it: what is one letter may be stored as two."""
    forms: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
    spelled = ((name, *(unicodedata.normalize(form, name) for form in forms)) for name in names)
    return tuple(dict.fromkeys(spelling for ways in spelled for spelling in ways))


def is_below_any(parts: tuple[str, ...], names: Collection[str]) -> bool:
    """Whether a path is one of those named or lies in it, however it is spelled."""
    if not names:
        return False
    path = tuple(map(folded, parts))
    return any(path[: len(prefix)] == prefix for prefix in (tuple(folded(name).split("/")) for name in names))


STATE_FOLDER = ".handrail"
_DRAFTS = "drafts"


class StateFolder:
    """`.handrail` below a root."""

    def __init__(self, root: Path) -> None:
        self.path = root / STATE_FOLDER
        self._drafts: list[int] = []
        """The folder of drafts, held open; the last one is in use, those before it were removed."""
        if (self.path / _DRAFTS).is_dir():
            with suppress(ToolError, OSError):
                self.drafts()

    def close(self) -> None:
        while self._drafts:
            os.close(self._drafts.pop())

    def folder(self, name: str) -> Path:
        """A folder in it, made where it is missing."""
        folder, ignore = self.path / name, self.path / ".gitignore"
        self._check_real(self.path, folder, ignore)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._check_real(*folder.iterdir())
        if not ignore.exists():
            ignore.write_text("*\n")
        return folder

    def drafts(self) -> int:
        """Where files are prepared; made again if somebody removed all that is ignored.

        What killed processes left in it is swept at opening.
        """
        if not self._drafts or not os.fstat(self._drafts[-1]).st_nlink:
            folder = self.folder(_DRAFTS)
            self._drafts.append(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC))
            _remove_stale_drafts(self._drafts[-1])
        return self._drafts[-1]

    def _check_real(self, *paths: Path) -> None:
        """A repository may come with a folder of our name in which links lead out."""
        for path in paths:
            if path.is_symlink():
                name = path.relative_to(self.path.parent)
                raise ToolError(
                    f"{name} is a link. Whoever runs this has to remove it: what we keep belongs inside.",
                    code="INVALID_PATH",
                )


def _remove_stale_drafts(drafts: int) -> None:
    """Remove the drafts of processes that are gone."""
    for name in os.listdir(drafts):
        owner = name.removeprefix(DRAFT_PREFIX).partition("-")[0]
        if not owner.isdigit() or not os.path.exists(f"/proc/{owner}"):
            with suppress(OSError):
                os.unlink(name, dir_fd=drafts)
