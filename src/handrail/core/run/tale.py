"""Tale: one call on its way. What is known of it, and how its end is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any

from handrail.core.define.call import Call, Outcome, Repair, Status, make_outcome
from handrail.core.define.context import Host
from handrail.core.define.decision import Decision
from handrail.core.define.permission import Capability
from handrail.core.define.result import Result
from handrail.core.define.secrecy import hidden, masked, masked_repairs, masked_unread, scrubbed, settled
from handrail.core.define.tool import Tool
from handrail.core.errors import StorageError
from handrail.core.guard.admit import Admitted
from handrail.core.guard.dedup import Entry, Signature
from handrail.core.guard.footprint import keys_of, name_of
from handrail.core.guard.keys import KeyId
from handrail.core.run import refusal
from handrail.core.run.aside import NOTHING_ASIDE, Claimed, Lies
from handrail.core.run.brought import Brought
from handrail.core.run.burying import bury, close_letters
from handrail.core.run.house import House, Interruptible
from handrail.core.run.refusal import Refusal
from handrail.core.run.stoppable import Stoppable
from handrail.core.tell.events import (
    OutputAppended,
    Settled,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.log import Note

_log = logging.getLogger("handrail.run")


def begin(call: Call, raw: Any, house: House) -> Tale:
    """A tale of which nothing is known yet but who asks for what."""
    tale = Tale()
    tale.call = call
    tale.raw = raw
    tale.house = house
    tale.began = house.clock.ticks()
    task = asyncio.current_task()
    assert task is not None, "calls run inside a task"
    tale._task = task
    tale._cancelling = task.cancelling()
    tale.begun = False
    tale.tool = tale.args = tale.values = tale.decision = tale.run_id = tale.outcome = tale.ending = None
    tale.brought = None
    tale.repairs = ()
    tale.aside = NOTHING_ASIDE
    return tale


class Tale(Stoppable):
    """One call's story so far. Made by `begin`."""

    __slots__ = (
        "args",
        "began",
        "begun",
        "brought",
        "call",
        "decision",
        "house",
        "next_run_id",
        "outcome",
        "raw",
        "repairs",
        "run_id",
        "tool",
        "values",
    )

    call: Call
    raw: Any
    house: House
    brought: Brought | None
    began: float
    begun: bool
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
    """Set once the run has begun and its `tool.started` is told."""
    outcome: Outcome | None

    approval_id = Lies[str | None]()
    key = Lies[KeyId | None]()
    entry = Lies[tuple[Signature, Entry] | None]()
    """What a memory of repeated calls holds of this one, if it is the first of its kind."""
    claimed = Lies[Claimed | None]()
    secrets = Lies[set[str] | None]()
    """The secret values the body was given."""
    stray = Lies[asyncio.Future[Any] | None]()
    """A thread that did not heed its interruption and is still at it."""
    finished = Lies[bool]()
    """Whether a thread returned after its interruption: because of it, or because it was done."""
    doubtful = Lies[bool]()
    """Whether an effect may have happened, or still happen, though the call did not succeed."""
    attempt = Lies[int]()
    """The attempt at hand, from 1."""
    tries = Lies[tuple[str, ...]]()
    """Why each earlier attempt failed."""
    withheld = Lies[str]()
    """The end of the output so far, while it may be the beginning of a secret."""
    extra = Lies[Mapping[str, Any]]()

    def bring(self, brought: Brought | None) -> None:
        """Take what the call brings along, and the secrets that the body was given in which it is nested."""
        secrets: Collection[str] = ()
        if brought is not None:
            self.brought = brought
            brought.tale = self
            secrets = brought.secrets
        if (outer := self._outer()) is not None and outer.secrets:
            secrets = {*secrets, *outer.secrets}
        if secrets:
            self.secrets = set(secrets)

    def _outer(self) -> Interruptible | None:
        """The running call in which this one is nested; never one of another tenant."""
        call = self.call
        if call.parent is None or call.principal is None:
            return None
        return self.house.running.get((call.principal.tenant, call.parent))

    def step_aside(self) -> None:
        """Hold up no other call of the batch while something else is waited for."""
        if self.brought is not None and self.brought.turn is not None:
            self.brought.turn.step_aside()

    def leave(self) -> None:
        """Leave nothing open, however the call ended; whoever waits for its end is told."""
        aside = self.aside
        if aside.timer is not None:
            aside.timer.cancel()
        if aside.claimed is not None:
            self._release(*aside.claimed)
        if aside.key is not None and self.outcome is None:
            self.house.keys.release(aside.key)
        for tell in aside.waiting:
            tell()

    @property
    def admitted(self) -> Admitted | None:
        """The arguments once they fit the tool's schema."""
        return None if self.args is None else Admitted(self.args, self.values, self.repairs)

    @admitted.setter
    def admitted(self, given: Admitted | None) -> None:
        if given is not None:
            secrets = self.tool.secrets if self.tool is not None else ()
            self.args, self.values = given.args, given.values
            self.repairs = masked_repairs(given.repairs, secrets) if secrets else given.repairs

    @property
    def granted(self) -> frozenset[Capability]:
        principal = self.call.principal
        assert principal is not None
        return self.house.guard.of(principal).granted

    @property
    def host(self) -> Host:
        return self.house.host

    def claim(self, tool: Tool, values: Any) -> Refusal | None:
        """Claim what the call will write; a refusal when somebody else holds it."""
        assert tool.writes is not None and self.call.principal is not None
        try:
            keys = sorted(keys_of(tool.writes, values))
        except Exception as error:
            problem = f"The resources that {tool.id} would write cannot be told ({error}), so it was not run."
            return refusal.broken("POLICY_ERROR", "Not run", problem, "claim")
        principal = self.call.principal
        who = principal.agent or principal.user or "another caller"
        session = self.call.session or f"call:{self.call.id}"
        holder = f"{who} in session {session}"
        taken = self.house.claims.take(keys, principal.tenant, holder)
        if taken is not None:
            return refusal.busy(name_of(taken.key, keys, self.args or {}), taken.holder)
        self.claimed = (keys, principal.tenant, holder)
        return None

    def show(self, args: dict[str, Any], tool: Tool) -> dict[str, Any]:
        """Arguments as a record or a card may hold them: no password, and no secret a body was given."""
        shown: dict[str, Any] = scrubbed(masked(args, tool.secrets), self.secrets or ())
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
            self.house.claims.release(keys, tenant, holder)
        except Exception:
            _log.exception("the claims of call %s could not be released", self.call.id)

    async def committed(self, beginning: Note, repeatable: bool) -> Refusal | None:
        """Write down, durably, that the effect may happen from here on; why not, when it may not."""
        teller = self.house.teller
        started = ToolStarted(*(*beginning[1:], repeatable))
        try:
            if self.key is not None:
                self.house.keys.dispatched(self.key)
            teller.log.append(started)
            self.run_id = started.run_id
            if not self._is_answered_later(started):
                await teller.log.flush(started)
            if self.key is not None and not await self.house.keys.is_ours(self.key):
                return refusal.taken_over(started.tool, self.call.idempotency_key)
        except Exception as error:
            if self.ending is not None:
                raise
            _log.exception("the event log did not take tool.started, so %s was not run", started.tool)
            if isinstance(error, StorageError) and not started.seq:  # nothing is written: nothing to end
                self.run_id = None
            return refusal.no_log()
        teller.hear(started)
        return None

    def _is_answered_later(self, started: ToolStarted) -> bool:
        """Whether this only reads and whoever answers waits for its row: both rows are then one group."""
        principal, call_id, tool = self.call.principal, self.call.id, self.tool
        if principal is None or call_id is None or self.key is not None or tool is None or not tool.quiet:
            return False
        place, answering = (principal.tenant, call_id), self.house.answering
        if place in answering:
            answering[place] = started
        return place in answering

    @property
    def tool_id(self) -> str:
        """The canonical id; the name that was asked for where that is all the caller may know."""
        return self.tool.id if self.tool is not None else self.call.tool

    def append(self, text: str, at: float) -> None:
        """Tell a piece of output, without the secrets in it, also those that are cut in two by its end."""
        if self.secrets:
            text, self.withheld = settled(self.withheld + text, self.secrets)
            if self.withheld and not text:
                return
        self.house.teller.tell((OutputAppended, self.call, self.tool_id, at, self.next_run_id, text))

    def _append_withheld(self) -> None:
        """No more output comes: what was withheld is told as it is."""
        rest, self.withheld = scrubbed(self.withheld, self.secrets or ()), ""
        now = self.house.clock.now()
        self.house.teller.tell((OutputAppended, self.call, self.tool_id, now, self.next_run_id, rest))

    def complete(self, result: Result, kind: Callable[..., ToolCompleted] = ToolCompleted) -> Outcome:
        """The call succeeded. Of a bare result, which is data and nothing else, only the data is noted."""
        house, call, tool, aside = self.house, self.call, self.tool, self.aside
        assert tool is not None and call.id is not None
        clock, run_id = house.clock, self.run_id
        if aside.withheld:
            self._append_withheld()
        duration = (clock.ticks() - self.began) * 1000
        told = result if kind is ToolCompleted else result.data
        house.teller.tell((kind, call, tool.id, clock.now(), run_id, told, duration))
        outcome = self.outcome = make_outcome(
            "completed",
            result,
            call.id,
            tool.id,
            self.decision,
            run_id,
            aside.approval_id,
            duration,
            self.repairs,
        )
        if aside.key is not None or house.on_result.all:
            self._settled(outcome)
        return outcome

    def fail(
        self, status: Status, result: Result, layer: str | None = None, rule: str | None = None
    ) -> Outcome:
        """The call failed, was refused or needs a person to look."""
        house = self.house
        if self.withheld:
            self._append_withheld()
        if self.tries:
            result = result.with_metadata(**self.evidence)
        duration = (house.clock.ticks() - self.began) * 1000
        now, shown = house.clock.now(), self._shown()
        told = (self.call, self.tool_id, now, self.run_id, result, duration, shown, layer, rule)
        house.teller.tell((ToolFailed, *told))
        if status == "failed" and self.begun and not self.call.depth:
            bury(self, result, shown, now)
        return self._settle(status, result, duration)

    @property
    def evidence(self) -> dict[str, Any]:
        """How often it was tried and why earlier attempts failed, for the metadata of a failure."""
        if not self.tries:
            return {}
        return {"attempts": self.attempt, "earlier_errors": scrubbed(list(self.tries), self.hidden)}

    @property
    def hidden(self) -> set[str]:
        """What nobody is told of a failure: secrets the body was given, and those among its arguments."""
        found = set(self.secrets or ())
        if self.args is not None and self.tool is not None and self.tool.secrets:
            found.update(hidden(self.args, masked(self.args, self.tool.secrets)))
        return found

    def refuse(self, refused: Refusal) -> Outcome:
        """The call does not run: tell why."""
        if refused.decision is not None:
            self.decision = refused.decision
        return self.fail(refused.status, refused.result, refused.layer, refused.rule)

    def call_off(self, status: Status, result: Result) -> Outcome:
        """Somebody ended the call: it was cancelled, or a reviewer rejected it."""
        house = self.house
        if self.withheld:
            self._append_withheld()
        duration = (house.clock.ticks() - self.began) * 1000
        now = house.clock.now()
        house.teller.tell((ToolCancelled, self.call, self.tool_id, now, self.run_id, result, duration))
        return self._settle(status, result, duration)

    def quietly(self, status: Status, result: Result) -> Outcome:
        """The call is over without having begun: planned, or answered as before. Nothing is recorded."""
        house = self.house
        outcome = self.waiting(status, result)
        house.teller.mention((Settled, self.call, self.tool_id, house.clock.now(), outcome))
        return outcome

    def waiting(self, status: Status, result: Result) -> Outcome:
        """The call waits for a person, as was told when the question was put."""
        return self._settle(status, result, (self.house.clock.ticks() - self.began) * 1000)

    def _settle(self, status: Status, result: Result, duration: float) -> Outcome:
        call = self.call
        assert call.id is not None
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
            close_letters(self)
        self._settled(outcome)
        return outcome

    def _settled(self, outcome: Outcome) -> None:
        """Whoever keeps keys or listens for results is told."""
        keys = self.house.keys
        if self.key is not None:
            if not self.begun and outcome.status in ("refused", "queued", "cancelled"):
                keys.release(self.key)
            else:
                keys.finish(self.key, outcome)
        self.house.on_result.hear(outcome.result)

    def _shown(self) -> Any:
        """The arguments as a record may hold them."""
        if self.tool is None:
            return None
        if self.args is not None:
            return self.show(self.args, self.tool)
        try:
            unread = masked_unread(self.raw, self.tool.input_schema, self.tool.secrets)
            return scrubbed(unread, self.secrets or ())
        except Exception:
            return None  # an object that does not let itself be read is not worth a record
