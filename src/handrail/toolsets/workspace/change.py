"""Change: what a tool did to a file, and the journal that keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from handrail import Context

Operation = Literal["create", "write", "edit", "delete"]
LARGEST_KEPT = 100_000_000
"""Bytes of a file up to which it is kept when it is overwritten or deleted; larger ones are left alone."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file, before and after. None stands for no file."""

    path: str
    """The way from the root of the workspace, without links."""
    operation: Operation
    before: bytes | None
    after: bytes | None
    mode_before: int | None
    tenant: str
    session: str
    call_id: str
    turn: int | None = None
    agent: str | None = None
    made_folders: tuple[str, ...] = ()
    """Folders that did not exist before, the outermost first."""

    @classmethod
    def of(
        cls,
        ctx: Context,
        path: str,
        operation: Operation,
        before: bytes | None,
        after: bytes | None,
        mode_before: int | None,
    ) -> Change:
        """A change that the call at hand makes."""
        who = (ctx.tenant_id, ctx.session_id, ctx.call_id, ctx.turn, ctx.agent_id)
        return cls(path, operation, before, after, mode_before, *who)


class Journal(Protocol):
    """Keeps changes, so that they can be undone."""

    def record(self, change: Change, *, wait: bool = True) -> int:
        """Keep what is about to happen; the number by which it is known. Who cannot wait may find it Busy."""
        ...

    def done(self, number: int) -> None:
        """It has happened."""
        ...

    def dropped(self, number: int) -> None:
        """It has not happened."""
        ...


class Unkept:
    """The journal of a workspace that keeps none."""

    def record(self, change: Change, *, wait: bool = True) -> int:
        return 0

    def done(self, number: int) -> None:
        pass

    def dropped(self, number: int) -> None:
        pass
