"""perform: one job, from wherever an earlier worker left it to its end. Every engine calls this."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

from handrail.core.define.call import BoundCall, Outcome
from handrail.core.define.context import with_tool_context
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval_request import Grant, Reply
from handrail.core.guard.idempotency import IdempotencyKeys, KeyId, key_id
from handrail.core.run import refusals
from handrail.core.run.call_state import CallState, Resume, new_call_state
from handrail.core.run.find_tool import find_tool
from handrail.core.run.jobs.job import FINAL, Busy, ClaimedJob, Job, JobLedger, JobState
from handrail.core.run.pipeline import run
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import Runtime
from handrail.core.tell.dead_letters import DeadLetters
from handrail.core.tell.log import events_of_call
from handrail.core.tell.projections import outcome_of


class _DeferringPort:
    """A port, but these methods of it are added to `calls` instead of called: ones that nobody awaits."""

    def __init__(self, port: object, calls: list[Callable[[], object]], *methods: str) -> None:
        self._port = port
        self._calls = calls
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._port, name)
        if name not in self._methods:
            return real
        return lambda *args: self._calls.append(lambda: real(*args))


_log = logging.getLogger("handrail.jobs")

DUPLICATE_OF = "duplicate of "
"""What is written of a job that was answered by another call, before the id of that one."""

_NOBODY = Reply("reject")
"""Stands for the answer to a question that nobody answered in time."""


def _never(tenant: str, call_id: str, callback: Callable[[Outcome], None], /) -> None:
    """Nothing waits for a person in a database: the reply enqueues the call."""


@dataclass(frozen=True, slots=True)
class JobContext:
    """What it takes to perform jobs, and who wants to know how each ended."""

    runtime: Runtime
    settle_replay: Callable[[BoundCall, Outcome], Awaitable[None]]
    """Given a call that is over: if it was the replay of a dead letter, that learns how it ended."""
    on_end: Callable[[str, Outcome], None]
    attempts: int = 3
    """A job that so many workers died over is dead itself."""
    when_final: Callable[[str, str, Callable[[Outcome], None]], None] = _never
    """Calls back when a call is final that waited for a person, for jobs in memory."""


@runtime_checkable
class ForgetsArguments(Protocol):
    """An approval store that keeps the exact arguments of a call until that is over."""

    def over(self, approval_id: str, tenant: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _End:
    """What becomes of the job, and the outcome where there is one to hand on."""

    state: JobState
    reason: str | None = None
    outcome: Outcome | None = None


async def perform(tenant: str, call_id: str, context: JobContext, ledger: JobLedger) -> Outcome | Busy | None:
    """The outcome; `busy` when another worker is at it; None when it is over, blocked or not ours."""
    claimed = await ledger.take(tenant, call_id)
    if claimed is None or claimed == "busy":
        return claimed
    postponed: list[Callable[[], object]] = []
    keys = _DeferringPort(context.runtime.keys, postponed, "finish", "release")
    dead_letters = _DeferringPort(context.runtime.dead_letters, postponed, "add", "doubt")
    runtime = replace(
        context.runtime, keys=cast(IdempotencyKeys, keys), dead_letters=cast(DeadLetters, dead_letters)
    )
    try:
        end = await with_tool_context(tenant, lambda: _end(claimed, runtime, context))
        if postponed and await ledger.holds(tenant, call_id):
            for call in postponed:
                call()
            postponed.clear()
        if not await ledger.finish(tenant, call_id, end.state, end.reason):
            _log.warning("call %s went on elsewhere; what came of it here was dropped", call_id)
            return None
    finally:
        if postponed and (key := _key(claimed.job)) is not None:
            context.runtime.keys.forsake(key)  # what the log tells of the call is what counts
        await ledger.leave(tenant, call_id)
    approval_id, approvals = claimed.job.approval_id, runtime.approvals
    if approval_id is not None and end.state in FINAL and isinstance(approvals, ForgetsArguments):
        approvals.over(approval_id, tenant)
    if end.outcome is not None:
        await context.settle_replay(claimed.job.call, end.outcome)
        if end.outcome.status != "pending":
            context.on_end(tenant, end.outcome)
    return end.outcome


async def _end(claimed: ClaimedJob, runtime: Runtime, context: JobContext) -> _End:
    if claimed.ended:
        return await _already_ended(claimed, runtime)
    if claimed.run is not None and not claimed.run.repeatable:
        return _End("done", "needs_review", await _unknown(claimed, runtime))
    if claimed.stop is not None:
        return _End("cancelled", claimed.stop, await _cancelled(claimed, claimed.stop, runtime))
    if claimed.attempt > context.attempts:
        outcome = await _poisoned(claimed, runtime)
        return _End("dead", outcome.result.error, outcome)
    grant = await _grant(claimed.job, runtime)
    why = await _missing(claimed.job, grant, runtime)
    if why is not None:
        return _End("blocked", why)
    run_id = None if claimed.run is None else claimed.run.run_id
    source = claimed.job if grant is None else grant.request
    resume = Resume(grant, source.secrets, run_id=run_id, recorded=claimed.recorded)
    outcome = await run(claimed.job.call, source.raw, runtime, resume)
    state: JobState = "cancelled" if outcome.status == "cancelled" else "done"
    if outcome.status == "duplicate":
        return _End(state, f"{DUPLICATE_OF}{outcome.result.metadata['duplicate_of']}", outcome)
    return _End(state, outcome.status if state == "done" else outcome.result.error, outcome)


async def _already_ended(claimed: ClaimedJob, runtime: Runtime) -> _End:
    """The end is recorded, and who recorded it came no further: the key and the dead letter learn of it."""
    job, key = claimed.job, _key(claimed.job)
    outcome = outcome_of(await events_of_call(runtime.teller.log, job.tenant, job.id))
    if outcome is not None and key is not None:
        if outcome.status in ("refused", "cancelled") and outcome.run_id is None and job.approval_id is None:
            runtime.keys.release(key)
        else:
            runtime.keys.finish(key, outcome)
    if outcome is None or outcome.status == "cancelled":
        return _End("cancelled", claimed.stop or "it was cancelled", outcome)
    return _End("done", outcome.status, outcome)


def _key(job: Job) -> KeyId | None:
    name = job.call.idempotency_key
    return None if name is None else key_id(job.call.principal, name)


async def _grant(job: Job, runtime: Runtime) -> Grant | None:
    if job.approval_id is None:
        return None
    request = await runtime.approvals.get(job.approval_id, job.tenant)
    if request is None:
        raise LookupError(f"The approval {job.approval_id!r} behind call {job.id!r} is gone.")
    if request.answer is None and request.status != "expired":
        raise LookupError(f"The approval {job.approval_id!r} behind call {job.id!r} is not answered.")
    return Grant(request, request.answer or _NOBODY)


async def _missing(job: Job, grant: Grant | None, runtime: Runtime) -> str | None:
    """Why the job cannot run with the tools of this process; it waits until that changes."""
    if grant is not None and (grant.request.status == "expired" or grant.reply.verdict != "approve"):
        return None
    tool = await find_tool(job.call.tool, job.call.principal, runtime, job.call.source)
    if isinstance(tool, Refusal):
        return tool.result.error
    if grant is not None:
        changed = tool.digest != grant.request.tool_digest
        return f"The definition of {tool.id} changed since the call was approved." if changed else None
    admitted = admit(tool, job.raw, job.call.tool, runtime.repairing)
    if isinstance(admitted, Admitted):
        return None
    return f"The arguments no longer fit {tool.id}: {'; '.join(map(str, admitted))}"


async def _state_of(claimed: ClaimedJob, runtime: Runtime) -> CallState:
    """The state of a call that can only be ended."""
    job = claimed.job
    state = new_call_state(job.call, job.raw, runtime)
    state.secrets = set(job.secrets)
    tool = await find_tool(job.call.tool, job.call.principal, runtime, job.call.source)
    if isinstance(tool, Tool):
        state.tool = tool
        admitted = admit(tool, job.raw, job.call.tool, runtime.repairing)
        if isinstance(admitted, Admitted):
            state.admitted = admitted
    state.approval_id = job.approval_id
    if claimed.run is not None:
        state.run_id = claimed.run.run_id
    state.key = _key(job)
    return state


async def _unknown(claimed: ClaimedJob, runtime: Runtime) -> Outcome:
    state = await _state_of(claimed, runtime)
    state.body_began = True
    unknown = refusals.unknown_outcome(f"{state.tool_id} began, and whoever ran it was gone before it ended.")
    return state.fail(unknown.status, unknown.result)


async def _cancelled(claimed: ClaimedJob, why: str, runtime: Runtime) -> Outcome:
    state = await _state_of(claimed, runtime)
    word, code = ("Skipped", "SKIPPED") if claimed.skipped else ("Cancelled", "CANCELLED")
    result = Result.fail(f"{word}: {why}.", code=code, summary=word)
    return state.end_cancelled("cancelled", result)


async def _poisoned(claimed: ClaimedJob, runtime: Runtime) -> Outcome:
    state = await _state_of(claimed, runtime)
    state.body_began = True
    state.attempt = tries = claimed.attempt - 1
    error = (
        f"{state.tool_id} was begun {tries} times and no worker lived to tell its end, so it was given up. "
        "Find out what it does to its worker, then replay it."
    )
    return state.fail("failed", Result.fail(error, code="POISONED", summary=f"{state.tool_id} was given up"))
