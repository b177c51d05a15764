"""Brought: what a call brings along that does not come straight from its caller."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handrail.core.define.tool import Tool
from handrail.core.guard.footprint import footprint_of

if TYPE_CHECKING:
    from handrail.core.guard.dedup import Dedup
    from handrail.core.run.approve import Grant
    from handrail.core.run.batch import Turn
    from handrail.core.run.tale import Tale


@dataclass(slots=True)
class Brought:
    """An answer given earlier, what must stay secret, a place among others, a memory of what was called."""

    grant: Grant | None = None
    secrets: Collection[str] = ()
    turn: Turn | None = None
    memory: Dedup | None = None
    tale: Tale | None = None
    """Filled in when the call begins."""
    run_id: str | None = None
    """The run that goes on: it was begun by somebody who is gone, and its start is told."""
    told: frozenset[str] = frozenset()
    """The kinds of events that earlier attempts have told of this call."""

    @property
    def looks_back(self) -> bool:
        """Whether there may be something earlier that this call goes on with, or repeats."""
        return self.memory is not None or self.grant is not None or self.run_id is not None

    def takes_turn(self, tool: Tool, values: Any, args: Mapping[str, Any], root: str) -> bool:
        """Whether no other call of the batch is in the way, so that this one runs now."""
        return self.turn is None or self.turn.take(footprint_of(tool, values, args, root))

    async def in_turn(self) -> bool:
        """Wait until no other call of the batch is in the way. False when one will stay there."""
        return self.turn is None or await self.turn.wait()
