"""run_many: the calls of one pass at once, settled, in their order; or as groups, for other loops."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from handrail.core.define.call import BoundCall, Call, Outcome
from handrail.core.guard.dedup import Dedup
from handrail.core.guard.footprint import ALONE, FREE, Footprint, footprint_of
from handrail.core.run import refusals
from handrail.core.run.batch import Batch, BatchSlot
from handrail.core.run.call_state import Resume, new_call_state
from handrail.core.run.find_tool import admit_call
from handrail.core.run.pipeline import run
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import Runtime

CallWithArguments = tuple[BoundCall, Any]
"""A call and its raw arguments."""


async def run_many(
    calls: Sequence[CallWithArguments], runtime: Runtime, limit: int, memory: Dedup | None
) -> list[Outcome]:
    """An outcome for each call, in the order of the calls. One that ends badly disturbs no other.

    When whoever waits here is cancelled, so are the calls.
    """
    batch = Batch(len(calls), limit)
    ids: set[str] = set()
    tasks: list[asyncio.Task[Outcome]] = []
    for (call, raw), slot in zip(calls, batch.slots, strict=True):
        if isinstance(call.id, str) and call.id in ids:
            tasks.append(asyncio.create_task(_refuse_twin(call, raw, runtime, slot)))
            continue
        if isinstance(call.id, str):  # an id that is no text is refused on its way
            ids.add(call.id)
        tasks.append(asyncio.create_task(_run_in_slot(call, raw, runtime, slot, memory)))
    try:
        await batch.over()
    except asyncio.CancelledError:
        await _cancel_all(tasks)
        raise
    outcomes = [task.result() for task in tasks]
    if memory is not None:
        repeats = [slot.repeats for slot in batch.slots]
        raws = [raw for _, raw in calls]
        memory.end_pass(zip(raws, outcomes, repeats, strict=True))
    return outcomes


async def _run_in_slot(
    call: BoundCall, raw: Any, runtime: Runtime, slot: BatchSlot, memory: Dedup | None
) -> Outcome:
    resume = Resume(slot=slot, memory=memory)
    outcome: Outcome | None = None
    try:
        outcome = await run(call, raw, runtime, resume)
    except asyncio.CancelledError:
        # a body that cancels its own task ends itself and nobody else
        outcome = resume.state.outcome if resume.state is not None else None
        if outcome is None:
            raise
    finally:
        state = resume.state
        if state is not None and state.entry is not None and memory is not None:
            memory.settle(*state.entry, outcome)
        slot.leave(None if state is None else state.stray)
    return outcome


async def _refuse_twin(call: BoundCall, raw: Any, runtime: Runtime, slot: BatchSlot) -> Outcome:
    """Two calls of one pass with the same id: the answers could not be told apart."""
    outcome = new_call_state(call, raw, runtime).refuse(refusals.id_in_use())
    slot.leave()
    return outcome


async def _cancel_all(tasks: list[asyncio.Task[Outcome]]) -> None:
    """Cancel what still runs and see it end, however impatient somebody is."""
    while running := [task for task in tasks if not task.done()]:
        for task in running:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait(running)


CallGroupKind = Literal["parallel", "conditional", "sequential"]


@dataclass(frozen=True, slots=True)
class CallGroup:
    """Calls that may run at once. Groups run one after the other."""

    kind: CallGroupKind
    """`conditional`: at once only because what they write differs. `sequential`: a single call."""
    calls: tuple[Call, ...]


async def group_tool_calls_into_batches(
    calls: Iterable[tuple[Call, BoundCall]], runtime: Runtime
) -> list[CallGroup]:
    """Groups whose calls do not touch each other, in the order of the calls."""
    groups: list[CallGroup] = []
    members: list[tuple[Call, Footprint]] = []
    for call, bound in calls:
        footprint = await _footprint(bound, call.args, runtime)
        if any(footprint.clashes(other) for _, other in members):
            groups.append(_group(members))
            members = []
        members.append((call, footprint))
    return [*groups, _group(members)] if members else groups


def _group(members: list[tuple[Call, Footprint]]) -> CallGroup:
    calls = tuple(call for call, _ in members)
    if any(footprint.alone for _, footprint in members):
        return CallGroup("sequential", calls)
    writes = any(footprint.writes for _, footprint in members)
    return CallGroup("conditional" if writes else "parallel", calls)


async def _footprint(call: BoundCall, raw: Any, runtime: Runtime) -> Footprint:
    """Wrong arguments touch nothing; of a tool that cannot be had nobody knows what it would touch."""
    ready = await admit_call(call, raw, runtime)
    if isinstance(ready, Refusal):
        return FREE if ready.layer == "validate" else ALONE
    tool, admitted = ready
    return footprint_of(tool, admitted.values, admitted.args, runtime.init.working_dir)
