"""Tale: what is known of a call on its way, and the one place where its end is told."""

from __future__ import annotations

from asyncio import Future
from typing import Any

from handrail.core.define.call import Call, Outcome, Status
from handrail.core.define.decision import Decision
from handrail.core.define.result import Result
from handrail.core.define.secrecy import masked
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted
from handrail.core.guard.keys import KeyId
from handrail.core.run import refusal
from handrail.core.run.house import House
from handrail.core.run.refusal import Refusal
from handrail.core.tell.events import Event, Settled, ToolCancelled, ToolCompleted, ToolFailed


class Tale:
    """One call's story so far."""

    __slots__ = (
        "admitted",
        "approval_id",
        "began",
        "call",
        "claimed",
        "decision",
        "house",
        "key",
        "outcome",
        "raw",
        "run_id",
        "tool",
    )

    def __init__(self, call: Call, raw: Any, house: House) -> None:
        self.call = call
        self.raw = raw
        self.house = house
        self.began = house.clock.ticks()
        self.tool: Tool | None = None
        self.admitted: Admitted | None = None
        self.decision: Decision | None = None
        self.approval_id: str | None = None
        self.run_id: str | None = None
        self.key: KeyId | None = None
        self.claimed: tuple[list[str], str] | None = None
        self.outcome: Outcome | None = None

    @property
    def tool_id(self) -> str:
        """The canonical id; the name that was asked for where that is all the caller may know."""
        return self.tool.id if self.tool is not None else self.call.tool

    def end(self, status: Status, result: Result) -> Outcome:
        """The call is over: tell it, remember it, answer."""
        house, call = self.house, self.call
        duration = (house.clock.ticks() - self.began) * 1000
        told: Event | None
        now = house.clock.now()
        if status == "completed":
            told = ToolCompleted(call, self.tool_id, now, self.run_id, result, duration)
        elif status == "cancelled" or result.code == "REJECTED":
            told = ToolCancelled(call, self.tool_id, now, self.run_id, result, duration)
        else:
            told = ToolFailed(call, self.tool_id, now, self.run_id, result, duration, self._shown())
        house.teller.tell(told)
        return self._settle(status, result, duration)

    def refuse(self, refused: Refusal) -> Outcome:
        """The call does not run: tell why."""
        house, call = self.house, self.call
        if refused.decision is not None:
            self.decision = refused.decision
        duration = (house.clock.ticks() - self.began) * 1000
        result = refused.result
        house.teller.tell(
            ToolFailed(
                call,
                self.tool_id,
                house.clock.now(),
                self.run_id,
                result,
                duration,
                self._shown(),
                refused.layer,
                refused.rule,
            )
        )
        return self._settle(refused.status, result, duration)

    def quietly(self, status: Status, result: Result) -> Outcome:
        """The call is over without having begun: pending, planned or a duplicate. Nothing is recorded."""
        duration = (self.house.clock.ticks() - self.began) * 1000
        outcome = self._settle(status, result, duration)
        if status != "pending":
            house = self.house
            house.teller.tell(Settled(self.call, self.tool_id, house.clock.now(), outcome))
        return outcome

    def cancelled(self, reason: str, ignored: bool) -> Outcome:
        """A user or the runtime ended the call."""
        error = f"Cancelled: {reason}."
        if ignored:
            error += " The body did not heed it: its effect may have happened, or still happen."
        metadata = {"ignored": True} if ignored else {}
        return self.end(
            "cancelled",
            Result(False, None, "Cancelled", error=error, code="CANCELLED", metadata=metadata),
        )

    def claim(self, tool: Tool, values: Any) -> Refusal | None:
        """Claim what the call will write; a refusal when somebody else holds it."""
        assert tool.writes is not None and self.call.principal is not None
        try:
            given = tool.writes(values)
            keys = [given] if isinstance(given, str) else [str(key) for key in given or ()]
        except Exception as error:
            problem = f"The resources that {tool.id} would write cannot be told ({error}), so it was not run."
            return refusal.broken("POLICY_ERROR", "Not run", problem, "claim")
        principal = self.call.principal
        who = principal.agent or principal.user or "another caller"
        holder = f"{who} in session {self.call.session or self.call.id}"
        taken = self.house.claims.take(keys, holder)
        if taken is not None:
            return refusal.busy(taken.key, taken.holder)
        self.claimed = (keys, holder)
        return None

    def keep_claim_until(self, over: Future[Any]) -> None:
        """A body that did not stop still writes: what it claimed stays claimed until it is over."""
        if self.claimed is not None:
            claimed, self.claimed = self.claimed, None
            over.add_done_callback(lambda _: self.house.claims.release(*claimed))

    def mark_dispatched(self) -> None:
        """From here on the effect may have happened."""
        if self.key is not None:
            self.house.keys.dispatched(self.key)

    def close(self) -> None:
        """Leave nothing open, however the call ended."""
        if self.claimed is not None:
            self.house.claims.release(*self.claimed)
        if self.key is not None and self.outcome is None:
            self.house.keys.release(self.key)

    def _settle(self, status: Status, result: Result, duration: float) -> Outcome:
        house, call = self.house, self.call
        assert call.id is not None and call.principal is not None
        outcome = self.outcome = Outcome(
            status,
            result,
            call.id,
            self.tool_id,
            self.decision,
            self.run_id,
            self.approval_id,
            duration,
            self.admitted.repairs if self.admitted is not None else (),
        )
        if self.key is not None:
            if status in ("refused", "queued") and self.run_id is None:
                house.keys.release(self.key)
            else:
                house.keys.finish(self.key, outcome)
        if self.run_id is not None:
            house.last_results.put(call.principal.tenant, self.tool_id, result)
        if house.on_result is not None:
            house.on_result(result)
        return outcome

    def _shown(self) -> Any:
        """The arguments as a record may hold them."""
        if self.admitted is not None and self.tool is not None:
            return masked(self.admitted.args, self.tool.secrets)
        if self.tool is not None and isinstance(self.raw, dict):
            return masked(self.raw, self.tool.secrets)
        return None
