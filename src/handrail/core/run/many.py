"""run_many: the calls of one pass at once, settled, in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from handrail.core.define.call import Call, Outcome
from handrail.core.guard.dedup import Dedup
from handrail.core.run import refusal
from handrail.core.run.batch import Batch, Turn
from handrail.core.run.brought import Brought
from handrail.core.run.house import House
from handrail.core.run.pipeline import run
from handrail.core.run.tale import begin

Asked = tuple[Call, Any]
"""A call and its raw arguments."""


async def run_many(asked: Sequence[Asked], house: House, limit: int, memory: Dedup | None) -> list[Outcome]:
    """An outcome for each call, in the order of the calls. One that ends badly disturbs no other.

    When whoever waits here is cancelled, so are the calls.
    """
    batch = Batch(len(asked), limit)
    ids: set[str | None] = set()
    tasks: list[asyncio.Task[Outcome]] = []
    for (call, raw), turn in zip(asked, batch.turns, strict=True):
        named = call.id if isinstance(call.id, str) else None  # what is no text is refused on its way
        one = _twin(call, raw, house, turn) if named in ids else _one(call, raw, house, turn, memory)
        if named is not None:
            ids.add(named)
        tasks.append(asyncio.create_task(one))
    try:
        await batch.over()
    except asyncio.CancelledError:
        await _cancelled(tasks)
        raise
    outcomes = [task.result() for task in tasks]
    if memory is not None:
        repeats = (turn.repeats for turn in batch.turns)
        memory.end_pass((*one, end, again) for one, end, again in zip(asked, outcomes, repeats, strict=True))
    return outcomes


async def _one(call: Call, raw: Any, house: House, turn: Turn, memory: Dedup | None) -> Outcome:
    brought = Brought(turn=turn, memory=memory)
    outcome: Outcome | None = None
    try:
        outcome = await run(call, raw, house, brought)
    except asyncio.CancelledError:
        # a body that cancels its own task ends itself and nobody else
        outcome = brought.tale.outcome if brought.tale is not None else None
        if outcome is None:
            raise
    finally:
        tale = brought.tale
        if tale is not None and tale.entry is not None and memory is not None:
            memory.settle(*tale.entry, outcome)
        turn.leave(None if tale is None else tale.stray)
    return outcome


async def _twin(call: Call, raw: Any, house: House, turn: Turn) -> Outcome:
    """Two calls of one pass with the same id: the answers could not be told apart."""
    outcome = begin(call, raw, house).refuse(refusal.id_in_use())
    turn.leave()
    return outcome


async def _cancelled(tasks: list[asyncio.Task[Outcome]]) -> None:
    """Cancel what still runs and see it end, however impatient somebody is."""
    while left := [task for task in tasks if not task.done()]:
        for task in left:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait(left)
