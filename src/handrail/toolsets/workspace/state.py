"""State: the folder of our own in a workspace, for history, tasks and drafts. It is part of no repository."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from handrail.ext import ToolError
from handrail.toolsets.workspace.atomic import DRAFT

STATE = ".handrail"
_DRAFTS = "drafts"


class State:
    """`.handrail` below a root."""

    def __init__(self, root: Path) -> None:
        self.path = root / STATE
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
            _sweep(self._drafts[-1])
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


def _sweep(drafts: int) -> None:
    """Remove the drafts of processes that are gone."""
    for name in os.listdir(drafts):
        owner = name.removeprefix(DRAFT).partition("-")[0]
        if not owner.isdigit() or not os.path.exists(f"/proc/{owner}"):
            with suppress(OSError):
                os.unlink(name, dir_fd=drafts)
