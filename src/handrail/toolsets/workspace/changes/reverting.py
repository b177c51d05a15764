"""Reverting: what an undo makes of files, decided before anything is touched. Bytes count, not times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from handrail.toolsets.workspace.changes.past import Kept

ELSEWHERE = b""
"""In the place of a hash: something is there that is no file of ours."""


@dataclass(slots=True)
class Reversal:
    """One file: what it is now, what it will be, and the steps between, the newest first."""

    path: str
    now: bytes | None
    then: bytes | None
    mode: int | None = None
    """For a file that comes back; None for one that keeps its own."""
    steps: list[Kept] = field(default_factory=list)

    @property
    def action(self) -> str:
        if self.then is None:
            return "removed"
        return "restored" if self.now is None else "changed back"


@dataclass(frozen=True, slots=True)
class Clash:
    """A file is not what the last change left, so that undoing it would lose what somebody else did."""

    path: str
    step: Kept


def reversals(
    steps: Iterable[Kept], now: Callable[[str], bytes | None]
) -> tuple[list[Reversal], list[Clash]]:
    """What becomes of each file when these steps are undone in this order, and where that is impossible."""
    files: dict[str, Reversal] = {}
    clashes: dict[str, Clash] = {}
    for step in steps:
        if step.path not in files:
            found = now(step.path)
            files[step.path] = Reversal(step.path, found, found)
        file = files[step.path]
        if file.then != step.after:
            clashes.setdefault(step.path, Clash(step.path, step))
        if step.after is None or step.before is None:
            file.mode = step.mode
        file.then = step.before
        file.steps.append(step)
    return list(files.values()), list(clashes.values())
