"""duplicate: a call that was made before, under the same idempotency key or earlier in an agent's run."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from handrail.core.define.call import Outcome
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.guard.axes import is_effectful
from handrail.core.guard.dedup import Dedup, signature_of
from handrail.core.guard.keys import KeyEntry, key_id
from handrail.core.run import refusal
from handrail.core.run.answering import expired
from handrail.core.run.batch import Turn
from handrail.core.run.brought import Brought
from handrail.core.run.tale import Tale, begin


async def earlier_outcome(tale: Tale, brought: Brought | None) -> Outcome | None:
    """What was answered before, or None when this call is the one that runs.

    A twin that is still running is waited for: a hundred at once make one run.
    """
    if brought is not None and (brought.grant is not None or brought.run_id is not None):
        _go_on(tale)
        return None
    if tale.call.idempotency_key is not None and (earlier := await _under_key(tale)) is not None:
        return earlier
    if brought is not None and brought.memory is not None and brought.turn is not None:
        return await _in_memory(tale, brought.memory, brought.turn)
    return None


def _go_on(tale: Tale) -> None:
    """The call has its key already."""
    call = tale.call
    if call.idempotency_key is not None and call.principal is not None:
        tale.key = key_id(call.principal, call.idempotency_key)


async def _in_memory(tale: Tale, memory: Dedup, turn: Turn) -> Outcome | None:
    """What the agent was told when it made the same call before."""
    tool, principal = tale.tool, tale.call.principal
    assert tool is not None and principal is not None
    if tool.repeatable:
        turn.recalled()
        return None
    signature = signature_of(tool.id, tale.args, principal)
    while True:
        await turn.recall()
        entry, ours = memory.recall(signature, is_effectful(tool, tale.values))
        turn.recalled()
        if ours:
            tale.entry = (signature, entry)
            return None
        if not entry.ended.done():
            turn.step_aside()
            await asyncio.shield(entry.ended)
        if entry.outcome is None:
            continue
        if entry.outcome.status == "queued" and not await _is_planned(tale, entry.outcome.call_id):
            memory.settle(signature, entry, None)
            continue
        known = await _final(tale, entry.outcome)
        if known is not entry.outcome:
            memory.settle(signature, entry, known)
            continue
        turn.repeats = True
        return _again(tale, known)


async def _is_planned(tale: Tale, call_id: str) -> bool:
    assert tale.call.principal is not None
    return await tale.house.plans.holds(call_id, tale.call.principal.tenant)


async def _under_key(tale: Tale) -> Outcome | None:
    call, tool, admitted = tale.call, tale.tool, tale.admitted
    assert call.principal and call.idempotency_key is not None and tool and admitted
    key = key_id(call.principal, call.idempotency_key)
    fingerprint = digest_of([tool.id, admitted.args])
    while True:
        entry, ours = await tale.house.keys.begin(key, fingerprint, call.id or "")
        if ours:
            tale.key = key
            return None
        if entry.fingerprint != fingerprint:
            return tale.refuse(refusal.key_reused(call.idempotency_key))
        if entry.state != "done" and not entry.ended.done() and not _orphaned(entry):
            tale.step_aside()
            await entry.over()
        if entry.outcome is not None:
            known = await _final(tale, entry.outcome)
            if known is not entry.outcome and not tale.house.book.enqueues:
                tale.house.keys.finish(key, known)
            return _again(tale, known)
        if _orphaned(entry):
            if tool.idempotent:
                tale.key = key
                tale.house.keys.dispatched(key)
                return None
            what = (
                f"An earlier call of {tool.id} under the key {call.idempotency_key!r} began and never ended."
            )
            return tale.refuse(refusal.unknown_outcome(what))


def _orphaned(entry: KeyEntry) -> bool:
    """Dispatched by a process that is no more: only a store can hand over such an entry."""
    return entry.state == "dispatched" and entry.outcome is None and entry.ended.done()


async def _final(tale: Tale, earlier: Outcome) -> Outcome:
    """The outcome; of a call that waited too long for an approval, how it ended thereby."""
    house, call = tale.house, tale.call
    if earlier.status != "pending" or earlier.approval_id is None or call.principal is None:
        return earlier
    late = await house.book.settle(earlier.approval_id, call.principal.tenant, "expired", None)
    if late is None:
        return earlier
    if house.book.enqueues:  # the run that ends the call is in the queue, and tells
        return replace(earlier, status="refused", result=expired(late).result)
    waited = begin(late.call, late.raw, house)
    waited.tool, waited.admitted, waited.approval_id = tale.tool, tale.admitted, late.id
    return waited.refuse(expired(late))


def _again(tale: Tale, earlier: Outcome) -> Outcome:
    """The earlier outcome, said again."""
    if earlier.approval_id is not None:
        tale.approval_id = earlier.approval_id
    if earlier.status in ("pending", "needs_review", "refused"):
        tale.decision = earlier.decision
        said_again = tale.quietly(earlier.status, earlier.result)
        return replace(said_again, run_id=earlier.run_id)
    result = earlier.result
    said: Result = replace(result, metadata={**result.metadata, "duplicate_of": earlier.call_id})
    if said.success:
        said = replace(said, code="DUPLICATE")
    outcome = tale.quietly("duplicate", said)
    return replace(outcome, run_id=earlier.run_id, repairs=earlier.repairs)
