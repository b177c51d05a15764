"""duplicate: a call that was made before, under the same idempotency key or earlier in an agent's run."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from handrail.core.define.call import Outcome
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.dedup import Dedup, signature_of
from handrail.core.guard.idempotency import KeyEntry, key_id
from handrail.core.guard.risk import is_effectful
from handrail.core.run import refusals
from handrail.core.run.approvals.resume import expired_refusal
from handrail.core.run.batch import BatchSlot
from handrail.core.run.call_state import CallState, Resume, new_call_state


async def earlier_outcome(state: CallState, tool: Tool, resume: Resume | None) -> Outcome | None:
    """What was answered before, or None when this call is the one that runs.

    A twin that is still running is waited for: a hundred at once make one run.
    """
    key = state.call.idempotency_key
    if resume is not None and (resume.grant is not None or resume.run_id is not None):
        if key is not None:
            state.key = key_id(state.call.principal, key)  # it is this call's already
        return None
    if key is not None and (earlier := await _under_key(state, tool, key)) is not None:
        return earlier
    if resume is not None and resume.memory is not None and resume.slot is not None:
        return await _in_memory(state, tool, resume.memory, resume.slot)
    return None


async def outcome_under_approval_key(state: CallState, tool: Tool) -> Outcome | None:
    """The same for a call that has to ask a person, and named a key for that case alone."""
    key = state.call.approval_key
    if key is None:
        return None
    state.call = replace(state.call, idempotency_key=key, approval_key=None)
    return await _under_key(state, tool, key)


async def _in_memory(state: CallState, tool: Tool, memory: Dedup, slot: BatchSlot) -> Outcome | None:
    """What the agent was answered when it made the same call before."""
    if tool.repeatable:
        slot.recalled()
        return None
    signature = signature_of(tool.id, state.args, state.call.principal)
    plans, tenant = state.runtime.plans, state.call.tenant
    while True:
        await slot.recall()
        entry, is_first = memory.recall(signature, is_effectful(tool, state.values))
        slot.recalled()
        if is_first:
            state.entry = (signature, entry)
            return None
        if not entry.ended.done():
            slot.step_aside()
            await asyncio.shield(entry.ended)
        if entry.outcome is None:
            continue
        if entry.outcome.status == "queued" and not await plans.holds(entry.outcome.call_id, tenant):
            memory.settle(signature, entry, None)
            continue
        outcome = await _final(state, entry.outcome)
        if outcome is not entry.outcome:
            memory.settle(signature, entry, outcome)
            continue
        slot.repeats = True
        return _answer_again(state, outcome)


async def _under_key(state: CallState, tool: Tool, name: str) -> Outcome | None:
    call, keys = state.call, state.runtime.keys
    key = key_id(call.principal, name)
    fingerprint = digest_of([tool.id, state.args])
    while True:
        entry, is_ours = await keys.begin(key, fingerprint, call.id)
        if is_ours:
            state.key = key
            return None
        if entry.fingerprint != fingerprint:
            return state.refuse(refusals.key_reused(name))
        if entry.state != "done" and not entry.ended.done() and not _is_orphaned(entry):
            state.step_aside()
            await entry.over()
        if entry.outcome is not None:
            outcome = await _final(state, entry.outcome)
            if outcome is not entry.outcome and not state.runtime.approvals.enqueues:
                keys.finish(key, outcome)
            return _answer_again(state, outcome)
        if _is_orphaned(entry):
            if tool.idempotent:
                state.key = key
                keys.dispatched(key)
                return None
            what = f"An earlier call of {tool.id} under the key {name!r} began and never ended."
            return state.refuse(refusals.unknown_outcome(what))


def _is_orphaned(entry: KeyEntry) -> bool:
    """Dispatched by a process that is no more: only a store can hand over such an entry."""
    return entry.state == "dispatched" and entry.outcome is None and entry.ended.done()


async def _final(state: CallState, earlier: Outcome) -> Outcome:
    """The outcome; of a call that waited too long for an approval, how it ended thereby."""
    runtime = state.runtime
    if earlier.status != "pending" or earlier.approval_id is None:
        return earlier
    late = await runtime.approvals.settle(earlier.approval_id, state.call.tenant, "expired", None)
    if late is None:
        return earlier
    if runtime.approvals.enqueues:  # the run that ends the call is in the queue, and records it
        return replace(earlier, status="refused", result=expired_refusal(late).result)
    waited = new_call_state(late.call, late.raw, runtime)
    waited.tool, waited.admitted, waited.approval_id = state.tool, state.admitted, late.id
    return waited.refuse(expired_refusal(late))


def _answer_again(state: CallState, earlier: Outcome) -> Outcome:
    """The earlier outcome once more. One that still waits is the earlier call's own: wait for that one."""
    if earlier.approval_id is not None:
        state.approval_id = earlier.approval_id
    if earlier.status in ("pending", "needs_review", "refused"):
        state.decision = earlier.decision or state.decision
        repeated = state.end_silently(earlier.status, earlier.result)
        call_id = earlier.call_id if earlier.status == "pending" else repeated.call_id
        return replace(repeated, call_id=call_id, run_id=earlier.run_id)
    result: Result = replace(
        earlier.result, metadata={**earlier.result.metadata, "duplicate_of": earlier.call_id}
    )
    if result.success:
        result = replace(result, code="DUPLICATE")
    outcome = state.end_silently("duplicate", result)
    return replace(outcome, run_id=earlier.run_id, repairs=earlier.repairs)
