"""perform: one job, from wherever an earlier worker left it to its end. Every engine calls this."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, cast, runtime_checkable

from handrail.core.define.call import Outcome
from handrail.core.define.context import with_tool_context
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval import Reply
from handrail.core.guard.keys import KeyId, Keys, key_id
from handrail.core.run import refusal
from handrail.core.run.approve import Grant
from handrail.core.run.brought import Brought
from handrail.core.run.house import House
from handrail.core.run.jobs import FINAL, Busy, Job, JobState, Ledger, Taken
from handrail.core.run.letter_office import LetterOffice
from handrail.core.run.pipeline import run
from handrail.core.run.postponed import Postponed
from handrail.core.run.refusal import Refusal
from handrail.core.run.seek import seek
from handrail.core.run.tale import Tale, begin
from handrail.core.tell.letters import DeadLetters
from handrail.core.tell.outcome import outcome_of

_log = logging.getLogger("handrail.jobs")
DUPLICATE_OF = "duplicate of "
"""What is written of a job that was answered by another call, before the id of that one."""
_NOBODY = Reply("reject")
"""Stands for the answer to a question that nobody answered in time."""


@dataclass(frozen=True, slots=True)
class Work:
    """What it takes to perform jobs: the house, its dead letters, and who wants to hear how each ended."""

    house: House
    letters: LetterOffice
    ended: Callable[[str, Outcome], None]
    attempts: int = 3
    """A job that so many workers died over is dead itself."""
    when_final: Callable[[str, str, Callable[[Outcome], None]], None] = lambda tenant, call_id, told: None
    """Tells how a call ended that was answered by a person, for jobs in memory."""


@runtime_checkable
class Shedding(Protocol):
    """A book that keeps the exact arguments of a call until it is told that the call is over."""

    def over(self, approval_id: str, tenant: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _End:
    """What becomes of the job, and the outcome where there is one to hand on."""

    state: JobState
    reason: str | None = None
    outcome: Outcome | None = None


async def perform(tenant: str, call_id: str, work: Work, ledger: Ledger) -> Outcome | Busy | None:
    """The outcome; `busy` when another worker is at it; None when it is over, blocked or not ours."""
    taken = await ledger.take(tenant, call_id)
    if taken is None or taken == "busy":
        return taken
    postponed = Postponed()
    try:
        house = replace(
            work.house,
            keys=cast(Keys, postponed.of(work.house.keys, "finish", "release")),
            letters=cast(DeadLetters, postponed.of(work.house.letters, "add", "doubt")),
        )
        end = await with_tool_context(tenant, lambda: _end(taken, house, work))
        if postponed and await ledger.holds(tenant, call_id):
            postponed.go()
        if not await ledger.finish(tenant, call_id, end.state, end.reason):
            _log.warning("call %s went on elsewhere; what came of it here was dropped", call_id)
            return None
    finally:
        if postponed and (key := _key(taken.job)) is not None:
            work.house.keys.forsake(key)  # what the log tells of the call is what counts
        await ledger.leave(tenant, call_id)
    if taken.job.approval_id is not None and end.state in FINAL and isinstance(house.book, Shedding):
        house.book.over(taken.job.approval_id, tenant)
    if end.outcome is not None:
        await work.letters.ended(taken.job.call, end.outcome)
        if end.outcome.status != "pending":
            work.ended(tenant, end.outcome)
    return end.outcome


async def _end(taken: Taken, house: House, work: Work) -> _End:
    if taken.ended:
        return await _told(taken, house)
    if taken.run is not None and not taken.run.repeatable:
        return _End("done", "needs_review", await _unknown(taken, house))
    if taken.stop is not None:
        return _End("cancelled", taken.stop, await _called_off(taken, taken.stop, house))
    if taken.attempt > work.attempts:
        outcome = await _poisoned(taken, house)
        return _End("dead", outcome.result.error, outcome)
    grant = await _grant(taken.job, house)
    why = await _missing(taken.job, grant, house)
    if why is not None:
        return _End("blocked", why)
    run_id = None if taken.run is None else taken.run.run_id
    brought = Brought(grant, taken.job.secrets, run_id=run_id, told=taken.told)
    raw = taken.job.raw if grant is None else grant.request.raw
    if grant is not None:
        brought.secrets = grant.request.secrets
    outcome = await run(taken.job.call, raw, house, brought)
    state: JobState = "cancelled" if outcome.status == "cancelled" else "done"
    if outcome.status == "duplicate":
        return _End(state, f"{DUPLICATE_OF}{outcome.result.metadata['duplicate_of']}", outcome)
    return _End(state, outcome.status if state == "done" else outcome.result.error, outcome)


async def _told(taken: Taken, house: House) -> _End:
    """The end is in the log, and whoever told it came no further: its key and its letter learn of it."""
    job, log, key = taken.job, house.teller.log, _key(taken.job)
    outcome = outcome_of(await asyncio.to_thread(lambda: list(log.read(job.tenant, call_id=job.id))))
    if outcome is not None and key is not None:
        if outcome.status in ("refused", "cancelled") and outcome.run_id is None and job.approval_id is None:
            house.keys.release(key)
        else:
            house.keys.finish(key, outcome)
    if outcome is None or outcome.status == "cancelled":
        return _End("cancelled", taken.stop or "it was cancelled", outcome)
    return _End("done", outcome.status, outcome)


def _key(job: Job) -> KeyId | None:
    who, name = job.call.principal, job.call.idempotency_key
    return None if who is None or name is None else key_id(who, name)


async def _grant(job: Job, house: House) -> Grant | None:
    if job.approval_id is None:
        return None
    request = await house.book.get(job.approval_id, job.tenant)
    if request is None:
        raise LookupError(f"The approval {job.approval_id!r} behind call {job.id!r} is gone.")
    if request.answer is None and request.status != "expired":
        raise LookupError(f"The approval {job.approval_id!r} behind call {job.id!r} is not answered.")
    return Grant(request, request.answer or _NOBODY)


async def _missing(job: Job, grant: Grant | None, house: House) -> str | None:
    """Why the job cannot run with the tools of this process; it waits until that changes."""
    if grant is not None and (grant.request.status == "expired" or grant.reply.verdict != "approve"):
        return None
    tool = await seek(job.call, house)
    if isinstance(tool, Refusal):
        return tool.result.error
    if grant is not None:
        if tool.digest != grant.request.tool_digest:
            return f"The definition of {tool.id} changed since the call was approved."
        return None
    admitted = admit(tool, job.raw, job.call.tool, house.repairing)
    if not isinstance(admitted, Admitted):
        said = "; ".join(map(str, admitted))
        return f"The arguments no longer fit {tool.id}: {said}"
    return None


async def _tale(taken: Taken, house: House) -> Tale:
    """The call's tale, taken up where it can only be ended."""
    job = taken.job
    tale = begin(job.call, job.raw, house)
    tale.secrets = set(job.secrets)
    tool = await seek(job.call, house)
    if isinstance(tool, Tool):
        tale.tool = tool
        admitted = admit(tool, job.raw, job.call.tool, house.repairing)
        tale.admitted = admitted if isinstance(admitted, Admitted) else None
    tale.approval_id = job.approval_id
    if taken.run is not None:
        tale.run_id = taken.run.run_id
    tale.key = _key(job)
    return tale


async def _unknown(taken: Taken, house: House) -> Outcome:
    tale = await _tale(taken, house)
    tale.begun = True
    what = f"{tale.tool_id} began, and whoever ran it was gone before it ended."
    unknown = refusal.unknown_outcome(what)
    return tale.fail(unknown.status, unknown.result)


async def _called_off(taken: Taken, why: str, house: House) -> Outcome:
    tale = await _tale(taken, house)
    word, code = ("Skipped", "SKIPPED") if taken.skipped else ("Cancelled", "CANCELLED")
    result = Result.fail(f"{word}: {why}.", code=code, summary=word)
    return tale.call_off("cancelled", result)


async def _poisoned(taken: Taken, house: House) -> Outcome:
    tale = await _tale(taken, house)
    tale.begun = True
    tries = taken.attempt - 1
    tale.attempt = tries
    error = (
        f"{tale.tool_id} was begun {tries} times and no worker lived to tell its end, so it was given up. "
        "Find out what it does to its worker, then replay it."
    )
    return tale.fail("failed", Result.fail(error, code="POISONED", summary=f"{tale.tool_id} was given up"))
