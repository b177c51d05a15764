"""Spawner: whoever can start another agent for a piece of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from handrail import Context, Result


@dataclass(frozen=True, slots=True)
class SpawnRequest:
    """What another agent is to do."""

    prompt: str
    description: str = ""
    """The same in a few words, for people who watch."""
    agent: str | None = None
    """Which kind of agent; the spawner knows which there are."""
    tools: tuple[str, ...] | None = None
    """The only tools it may use; None for all that the caller may."""


class Spawned(BaseModel):
    """What another agent came to."""

    answer: str
    agent: str | None = None
    """The kind of agent that answered."""


class Spawner(Protocol):
    """Starts agents.

    An agent never gets more than its caller has. It acts as `ctx.principal` or as somebody with less, and
    each of its calls goes through `ctx.call`, where the guard sees it like any nested call. It stops when
    `ctx.signal` is set.
    """

    async def spawn(self, request: SpawnRequest, ctx: Context, /) -> Result:
        """What the agent came to, once it is done: in words as `output`, with a `Spawned` as data."""
        ...
