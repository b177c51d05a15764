"""CallState: one call on its way. What is known of it, and how its end is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from threading import get_ident
from typing import Any

from pydantic_core import to_jsonable_python

from handrail.core.define.call import BoundCall, Outcome, Repair, Status, make_outcome
from handrail.core.define.context import Host
from handrail.core.define.decision import Decision
from handrail.core.define.json_values import private_copy
from handrail.core.define.levels import Capability
from handrail.core.define.redaction import (
    mask_paths,
    mask_refused_arguments,
    mask_repairs,
    masked_values,
    redact_settled_text,
    redact_values,
)
from handrail.core.define.result import Result
from handrail.core.define.tool import Tool
from handrail.core.errors import StorageError, UsageError
from handrail.core.guard.admit import Admitted
from handrail.core.guard.approval_request import Grant
from handrail.core.guard.dedup import Dedup, DedupEntry, Signature
from handrail.core.guard.footprint import footprint_of, keys_of, name_of
from handrail.core.guard.idempotency import KeyId
from handrail.core.ids import new_id
from handrail.core.run import refusals
from handrail.core.run.batch import BatchSlot
from handrail.core.run.interrupt import NO_RARE_STATE, HeldClaims, Interruptible, RareField
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import RunningCall, Runtime
from handrail.core.tell.dead_letters import DeadLetter
from handrail.core.tell.events import (
    OutputAppended,
    Settled,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.log import EventNote

_log = logging.getLogger("handrail.run")


_ANSWERS = frozenset({"LLM_ASSIST_REQUIRED"})
"""Codes that hand the work back to whoever asked: nothing broke, and a replay would hear the same."""


@dataclass(slots=True)
class Resume:
    """What a run has beside its call: a reply given earlier, secrets, a batch slot, a memory of calls."""

    grant: Grant | None = None
    secrets: Collection[str] = ()
    slot: BatchSlot | None = None
    memory: Dedup | None = None
    is_followed: bool = False
    """Whether somebody hears its events as they happen: what they name must be durable by then."""
    state: CallState | None = None
    """Filled in when the call begins."""
    run_id: str | None = None
    """The run that goes on: a process that is gone began it, and its start is recorded."""
    recorded: frozenset[str] = frozenset()
    """The kinds of events that earlier attempts have recorded of this call."""

    @property
    def looks_back(self) -> bool:
        """Whether there may be something earlier that this call goes on with, or repeats."""
        return self.memory is not None or self.grant is not None or self.run_id is not None

    async def enter_batch(self, tool: Tool, values: Any, args: Mapping[str, Any], root: str) -> bool:
        """Wait until no other call of the batch is in the way. False when one will stay there."""
        return self.slot is None or await self.slot.enter(footprint_of(tool, values, args, root))


def new_call_state(call: BoundCall, raw: Any, runtime: Runtime) -> CallState:
    """The state of a call of which nothing is known yet but who asks for what."""
    state = CallState()
    state.call = call
    state.raw = raw
    state.runtime = runtime
    state.began = runtime.clock.ticks()
    thread, loop = runtime.last_loop
    task = asyncio.current_task(loop) if thread == get_ident() else None
    if task is None:
        task = _task_of_another_loop(runtime)
    state._task = task
    state._cancelling = task.cancelling()
    state.body_began = False
    state.tool = state.args = state.values = state.decision = None
    state.run_id = state.outcome = state.ending = None
    state.resume = None
    state.repairs = ()
    state.rare = NO_RARE_STATE
    return state


def _task_of_another_loop(runtime: Runtime) -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise UsageError("A call runs inside a task: await it there.")
    runtime.last_loop = (get_ident(), task.get_loop())
    return task


class CallState(Interruptible):
    """Everything that is known of one call so far. Made by `new_call_state`."""

    __slots__ = (
        "args",
        "began",
        "body_began",
        "call",
        "decision",
        "next_run_id",
        "outcome",
        "raw",
        "repairs",
        "resume",
        "run_id",
        "runtime",
        "tool",
        "values",
    )

    call: BoundCall
    raw: Any
    runtime: Runtime
    resume: Resume | None
    began: float
    body_began: bool
    """Whether the body began."""
    tool: Tool | None
    args: dict[str, Any] | None
    """The arguments once they fit: as JSON data, repairs included."""
    values: Any
    """The same as the body receives them."""
    repairs: tuple[Repair, ...]
    decision: Decision | None
    next_run_id: str
    run_id: str | None
    """Set once the run has begun and its `tool.started` is recorded."""
    outcome: Outcome | None

    approval_id = RareField[str | None]()
    key = RareField[KeyId | None]()
    entry = RareField[tuple[Signature, DedupEntry] | None]()
    """What a memory of repeated calls holds of this one, if it is the first of its kind."""
    claimed = RareField[HeldClaims | None]()
    secrets = RareField[set[str] | None]()
    """The secret values the body was given."""
    stray = RareField[asyncio.Future[Any] | None]()
    """A thread that did not heed its interruption and is still at it."""
    finished = RareField[bool]()
    """Whether a thread returned after its interruption: because of it, or because it was done."""
    doubtful = RareField[bool]()
    """Whether an effect may have happened, or still happen, though the call did not succeed."""
    attempt = RareField[int]()
    """The attempt at hand, from 1."""
    tries = RareField[tuple[str, ...]]()
    """Why each earlier attempt failed."""
    withheld = RareField[str]()
    """The end of the output so far, while it may be the beginning of a secret."""
    extra = RareField[Mapping[str, Any]]()
    started = RareField[ToolStarted | None]()
    """The start of a read that is not durable yet, where the answer waits for that."""

    def adopt(self, resume: Resume | None) -> None:
        """Take over what the run has beside its call, and the secrets of the call in which it is nested."""
        secrets: Collection[str] = ()
        if resume is not None:
            self.resume = resume
            resume.state = self
            secrets = resume.secrets
        if (outer := self._outer()) is not None and outer.secrets:
            secrets = {*secrets, *outer.secrets}
        if secrets:
            self.secrets = set(secrets)

    def _outer(self) -> RunningCall | None:
        """The running call in which this one is nested; never one of another tenant."""
        call = self.call
        return None if call.parent is None else self.runtime.running.get((call.tenant, call.parent))

    def step_aside(self) -> None:
        """Hold up no other call of the batch while something else is waited for."""
        if self.resume is not None and self.resume.slot is not None:
            self.resume.slot.step_aside()

    def close(self) -> None:
        """Leave nothing open, however the call ended; wake who waits for its end."""
        rare = self.rare
        if rare.timer is not None:
            rare.timer.cancel()
        if rare.claimed is not None:
            self._release(*rare.claimed)
        if rare.key is not None and self.outcome is None:
            self.runtime.keys.release(rare.key)
        for tell in rare.waiting:
            tell()

    @property
    def admitted(self) -> Admitted:
        """The arguments, which fit the tool's schema."""
        if self.args is None:
            raise LookupError(f"the arguments of call {self.call.id} were not validated yet")
        return Admitted(self.args, self.values, self.repairs)

    @admitted.setter
    def admitted(self, given: Admitted) -> None:
        secrets = self.tool.secrets if self.tool is not None else ()
        self.args, self.values = given.args, given.values
        self.repairs = mask_repairs(given.repairs, secrets) if secrets else given.repairs

    @property
    def granted(self) -> frozenset[Capability]:
        return self.runtime.guard.of(self.call.principal).granted

    @property
    def host(self) -> Host:
        return self.runtime.host

    def claim(self, tool: Tool, values: Any) -> Refusal | None:
        """Claim what the call will write; a refusal when somebody else holds it."""
        try:
            keys = sorted(keys_of(tool.writes, values))
        except Exception as error:
            problem = f"The resources that {tool.id} would write cannot be told ({error}), so it was not run."
            return refusals.broken("POLICY_ERROR", "Not run", problem, "claim")
        principal = self.call.principal
        who = principal.agent or principal.user or "another caller"
        holder = f"{who} in session {self.call.log_session}"
        conflict = self.runtime.claims.take(keys, principal.tenant, holder)
        if conflict is not None:
            return refusals.busy(name_of(conflict.key, keys, self.args or {}), conflict.holder)
        self.claimed = (keys, principal.tenant, holder)
        return None

    def show(self, args: dict[str, Any], tool: Tool) -> dict[str, Any]:
        """Arguments as a record or a card may hold them: no password, and no secret a body was given."""
        shown: dict[str, Any] = redact_values(mask_paths(args, tool.secrets), self.secrets or ())
        return shown

    def keep_claim_until(self, over: asyncio.Future[Any]) -> None:
        """A body that did not stop still writes: what it claimed stays claimed until it is over."""
        if self.claimed is not None:
            claimed, self.claimed = self.claimed, None
            over.add_done_callback(lambda _: self._release(*claimed))

    def doubt(self) -> None:
        """An effect goes on, perhaps: no replay of this call, or of one around it, may come beside it."""
        self.doubtful = True
        if self.call.depth and (outer := self._outer()) is not None:
            outer.doubt()

    def _release(self, keys: list[str], tenant: str, holder: str) -> None:
        try:
            self.runtime.claims.release(keys, tenant, holder)
        except Exception:
            _log.exception("the claims of call %s could not be released", self.call.id)

    async def commit_start(self, beginning: EventNote, repeatable: bool) -> Refusal | None:
        """Record, durably, that the effect may happen from here on; why not, when it may not."""
        teller = self.runtime.teller
        started = ToolStarted(*(*beginning[1:], repeatable))
        try:
            if self.key is not None:
                self.runtime.keys.dispatched(self.key)
            teller.log.append(started)
            self.run_id = started.run_id
            await teller.log.flush(started)
            if self.key is not None and not await self.runtime.keys.is_ours(self.key):
                return refusals.taken_over(started.tool, self.call.idempotency_key)
        except Exception as error:
            return self._start_not_recorded(started, error)
        teller.hear(started)
        return None

    def record_start(self, beginning: EventNote) -> Refusal | None:
        """Record the start of a read; the answer waits until both of its rows are durable, as one group."""
        teller = self.runtime.teller
        started = ToolStarted(*beginning[1:])
        try:
            teller.log.append(started)
        except Exception as error:
            return self._start_not_recorded(started, error)
        self.started = started
        teller.hear(started)
        return None

    def _start_not_recorded(self, started: ToolStarted, error: Exception) -> Refusal:
        if self.ending is not None:
            raise error
        _log.error("the event log did not take tool.started, so %s was not run", started.tool, exc_info=error)
        if isinstance(error, StorageError) and not started.seq:  # nothing is written: nothing to end
            self.run_id = None
        return refusals.no_log()

    @property
    def tool_id(self) -> str:
        """The canonical id; the name that was asked for where that is all the caller may know."""
        return self.tool.id if self.tool is not None else self.call.tool

    def append(self, text: str, at: float) -> None:
        """Tell a piece of output, without the secrets in it, also those that are cut in two by its end."""
        if self.secrets:
            text, self.withheld = redact_settled_text(self.withheld + text, self.secrets)
            if self.withheld and not text:
                return
        self.runtime.teller.tell((OutputAppended, self.call, self.tool_id, at, self.next_run_id, text))

    def _append_withheld(self) -> None:
        """No more output comes: what was withheld is told as it is."""
        rest, self.withheld = redact_values(self.withheld, self.secrets or ()), ""
        now = self.runtime.clock.now()
        self.runtime.teller.tell((OutputAppended, self.call, self.tool_id, now, self.next_run_id, rest))

    def complete(self, result: Result, kind: Callable[..., ToolCompleted] = ToolCompleted) -> Outcome:
        """The call succeeded. Of a bare result, which is data and nothing else, only the data is recorded."""
        runtime, call, tool, rare = self.runtime, self.call, self.tool, self.rare
        clock, run_id = runtime.clock, self.run_id
        tool_id = call.tool if tool is None else tool.id
        if rare.withheld:
            self._append_withheld()
        duration = (clock.ticks() - self.began) * 1000
        recorded = result if kind is ToolCompleted else result.data
        runtime.teller.tell((kind, call, tool_id, clock.now(), run_id, recorded, duration))
        outcome = self.outcome = make_outcome(
            "completed",
            result,
            call.id,
            tool_id,
            self.decision,
            run_id,
            rare.approval_id,
            duration,
            self.repairs,
        )
        if rare.key is not None or runtime.on_result.all:
            self._settled(outcome)
        return outcome

    def fail(
        self, status: Status, result: Result, layer: str | None = None, rule: str | None = None
    ) -> Outcome:
        """The call failed, was refused or needs a person to look."""
        runtime = self.runtime
        if self.withheld:
            self._append_withheld()
        if self.tries:
            result = result.with_metadata(**self.evidence)
        duration = (runtime.clock.ticks() - self.began) * 1000
        now, shown = runtime.clock.now(), self._shown()
        fields = (self.call, self.tool_id, now, self.run_id, result, duration, shown, layer, rule)
        runtime.teller.tell((ToolFailed, *fields))
        if status == "failed" and self.body_began and not self.call.depth:
            self._keep_dead_letter(result, shown, now)
        return self._settle(status, result, duration)

    @property
    def evidence(self) -> dict[str, Any]:
        """How often it was tried and why earlier attempts failed, for the metadata of a failure."""
        if not self.tries:
            return {}
        return {"attempts": self.attempt, "earlier_errors": redact_values(list(self.tries), self.hidden)}

    @property
    def hidden(self) -> set[str]:
        """What nobody is told of a failure: secrets the body was given, and those among its arguments."""
        values = set(self.secrets or ())
        if self.args is not None and self.tool is not None and self.tool.secrets:
            values.update(masked_values(self.args, mask_paths(self.args, self.tool.secrets)))
        return values

    def refuse(self, refused: Refusal) -> Outcome:
        """The call does not run: say why."""
        if refused.decision is not None:
            self.decision = refused.decision
        return self.fail(refused.status, refused.result, refused.layer, refused.rule)

    def end_cancelled(self, status: Status, result: Result) -> Outcome:
        """Somebody ended the call: it was cancelled, or a reviewer rejected it."""
        runtime = self.runtime
        if self.withheld:
            self._append_withheld()
        duration = (runtime.clock.ticks() - self.began) * 1000
        now = runtime.clock.now()
        runtime.teller.tell((ToolCancelled, self.call, self.tool_id, now, self.run_id, result, duration))
        return self._settle(status, result, duration)

    def end_silently(self, status: Status, result: Result) -> Outcome:
        """The call is over without having body_began: planned, or answered as before. Nothing is recorded."""
        runtime = self.runtime
        outcome = self.end_waiting(status, result)
        runtime.teller.mention((Settled, self.call, self.tool_id, runtime.clock.now(), outcome))
        return outcome

    def end_waiting(self, status: Status, result: Result) -> Outcome:
        """The call waits for a person, as the record of the question says."""
        return self._settle(status, result, (self.runtime.clock.ticks() - self.began) * 1000)

    def _settle(self, status: Status, result: Result, duration: float) -> Outcome:
        call = self.call
        outcome = self.outcome = make_outcome(
            status,
            result,
            call.id,
            self.tool_id,
            self.decision,
            self.run_id,
            self.approval_id,
            duration,
            self.repairs,
        )
        if self.doubtful:
            self._close_dead_letters()
        self._settled(outcome)
        return outcome

    def _keep_dead_letter(self, result: Result, shown: Any, now: float) -> None:
        """A body that failed leaves a dead letter. A port that does not take it disturbs nobody."""
        if result.code in _ANSWERS:
            return
        try:
            self.runtime.dead_letters.add(
                DeadLetter(
                    id=new_id("letter"),
                    call=self.call,
                    tool=self.tool_id,
                    args=to_jsonable_python(shown, inf_nan_mode="null", fallback=str),
                    attempts=self.attempt,
                    at=now,
                    status="unknown" if self.doubtful else "open",
                    raw=private_copy(self.raw),
                    secrets=frozenset(self.secrets or ()),
                    error=result.error or "Unknown error",
                    code=result.code,
                    earlier_errors=tuple(result.metadata.get("earlier_errors", ())),
                )
            )
        except Exception:
            _log.exception("the dead letter of call %s could not be kept", self.call.id)

    def _close_dead_letters(self) -> None:
        """What a doubtful replay came from is not replayed again."""
        call = self.call
        if call.parent is None or call.depth:
            return
        try:
            self.runtime.dead_letters.doubt(call.id, call.tenant)
        except Exception:
            _log.exception("the dead letters behind call %s could not be closed", call.id)

    def _settled(self, outcome: Outcome) -> None:
        """Whoever keeps keys or listens for results is told."""
        keys = self.runtime.keys
        if self.key is not None:
            if not self.body_began and outcome.status in ("refused", "queued", "cancelled"):
                keys.release(self.key)
            else:
                keys.finish(self.key, outcome)
        self.runtime.on_result.hear(outcome.result)

    def _shown(self) -> Any:
        """The arguments as a record may hold them."""
        if self.tool is None:
            return None
        if self.args is not None:
            return self.show(self.args, self.tool)
        try:
            unread = mask_refused_arguments(self.raw, self.tool.input_schema, self.tool.secrets)
            return redact_values(unread, self.secrets or ())
        except Exception:
            return None  # an object that does not let itself be read is not worth a record
