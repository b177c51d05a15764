"""HeldCalls: calls that wait for an approval, held for a while and collected once."""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.resume import expired_refusal
from handrail.engine.handrail import Handrail

_COLLECT_WITHIN = 3600.0
"""Seconds after the end of an approval in which its caller may still come for the outcome."""
_END_WITHIN = 2.0
"""Seconds that a worker has to end a call which nobody answered; its caller knows the end before."""


@dataclass(frozen=True, slots=True)
class HeldCall:
    """How a call stands: over, with its outcome, or still waiting for somebody to answer the question."""

    outcome: Outcome
    approval: ApprovalRequest | None = None

    @property
    def waits(self) -> bool:
        return self.outcome.status == "pending"


class HeldCalls:
    """Makes calls of which the same one, made again, collects the outcome rather than running twice."""

    def __init__(self, hr: Handrail, secret: bytes, hold: float, closing: asyncio.Event) -> None:
        self._hr = hr
        self._secret = secret
        self._hold = hold
        self._closing = closing

    async def call(
        self, principal: Principal, tool: str, args: Mapping[str, Any] | None, id: str
    ) -> HeldCall:
        """The outcome of a call; of one that waits, what is asked. It is not held yet."""
        key = self._key(principal, tool, args)
        outcome = await self._hr.call(tool, args, principal=principal, source="mcp", approval_key=key, id=id)
        approval = None
        if outcome.approval_id is not None:
            approval = await self._hr.approvals.get(outcome.approval_id, principal)
        if _had_to_ask(outcome) and outcome.status != "pending":
            first = outcome.result.metadata.get("duplicate_of")
            self._collect(key, first or (approval and approval.call.id) or outcome.call_id, principal)
        return HeldCall(outcome, approval)

    async def hold(self, held: HeldCall, principal: Principal, gone: asyncio.Event | None = None) -> HeldCall:
        """Wait for a person, for a while. Whoever has left meanwhile collects nothing."""
        approval = held.approval
        if approval is None:
            return held
        outcome = await self._ended(approval.call.id, principal, self._hold, gone)
        if gone is not None and gone.is_set():
            return held
        approval = await self._hr.approvals.get(approval.id, principal) or approval
        key = approval.call.idempotency_key
        if outcome is None:
            if approval.status != "expired":
                return HeldCall(held.outcome, approval)
            outcome = await self._expired(approval, principal)
        if key is not None:
            self._collect(key, approval.call.id, principal)
        return HeldCall(outcome, approval)

    async def resumed(self, state: str, principal: Principal) -> HeldCall:
        """What somebody waits for who came back with the state of an earlier round."""
        try:
            fields = json.loads(state)
            approval_id, call, until = fields["approval"], fields["call"], fields["until"]
        except (ValueError, KeyError, TypeError):
            raise _invalid_state() from None
        approval = await self._hr.approvals.get(approval_id, principal)
        if (
            approval is None
            or approval.call.id != call
            or _identity(approval.principal) != _identity(principal)
        ):
            raise _invalid_state()
        if until is not None and time.time() > until:
            raise _invalid_state()
        waits = Result.fail(f"{approval.reason}. It waits for a person.", code="NEEDS_APPROVAL")
        return HeldCall(Outcome("pending", waits, call, approval.tool, approval_id=approval.id), approval)

    @staticmethod
    def state(approval: ApprovalRequest) -> str:
        """What the caller is to bring back; the boundary of the server seals it to them and to the call."""
        until = None if approval.expires_at is None else approval.expires_at + _COLLECT_WITHIN
        return json.dumps({"approval": approval.id, "call": approval.call.id, "until": until})

    async def _ended(
        self, call_id: str, principal: Principal, seconds: float, gone: asyncio.Event | None = None
    ) -> Outcome | None:
        """How a call ended; None when it has not, or there is nobody to tell, or nobody who could."""
        ended = asyncio.ensure_future(self._hr.wait(call_id, seconds, principal=principal))
        stops = {
            asyncio.ensure_future(waiter.wait()) for waiter in (gone, self._closing) if waiter is not None
        }
        try:
            await asyncio.wait({ended, *stops}, return_when=asyncio.FIRST_COMPLETED)
            return ended.result() if ended.done() else None
        except TimeoutError:
            return None
        finally:
            for waiter in (ended, *stops):
                waiter.cancel()

    async def _expired(self, approval: ApprovalRequest, principal: Principal) -> Outcome:
        """Nobody answered in time. The call is ended and not made again: others may have asked anew."""
        await self._hr.approvals.lapse(approval.id, principal)
        call_id = approval.call.id or ""
        refused = Outcome(
            "refused", expired_refusal(approval).result, call_id, approval.tool, approval_id=approval.id
        )
        return await self._ended(call_id, principal, _END_WITHIN) or refused

    def _collect(self, key: str, call_id: str, principal: Principal) -> None:
        self._hr.approvals.collected(key, call_id, principal)

    def _key(self, principal: Principal, tool: str, args: Mapping[str, Any] | None) -> str:
        """The same for the same call of the same principal; it tells nobody what the arguments are."""
        definition = self._hr.registry.get(tool)
        name = [tool, ""] if definition is None else [definition.id, definition.digest]
        text = json.dumps([_identity(principal), name, args or {}], sort_keys=True)
        return f"mcp:{hmac.digest(self._secret, text.encode(), 'sha256').hex()}"


def _identity(principal: Principal) -> list[Any]:
    """The caller, and the bounds of the key that was shown."""
    return [*principal.caller, principal.key, principal.scope, principal.ceiling]


def _had_to_ask(outcome: Outcome) -> bool:
    """Whether the call needed a person's word, so that it has its approval key."""
    return outcome.decision is not None and any(step.verdict == "ask" for step in outcome.decision.trace)


def binding_of(principal: Principal) -> str:
    """A principal as the seal of a request state knows it."""
    return json.dumps(_identity(principal))


def _invalid_state() -> MCPError:
    return MCPError(INVALID_PARAMS, "Invalid or expired requestState", {"reason": "invalid_request_state"})
