"""Waiting: calls that a person must agree to, held for a while and collected once.

Nothing is kept here: the key under which a call waits follows from who calls what with which arguments, and
what the caller brings back is sealed. So it does not matter which process is asked, or whether it was killed.
"""

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
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.run.answering import expired
from handrail.engine import Handrail

_LATE = 3600.0
"""Seconds after the end of an approval in which its caller may still come for the outcome."""
_SOON = 2.0
"""Seconds that a worker has to end a call which nobody answered; its caller knows the end before."""


@dataclass(frozen=True, slots=True)
class Waited:
    """How a call stands: over, with its outcome, or still waiting for somebody to answer the question."""

    outcome: Outcome
    asked: ApprovalRequest | None = None

    @property
    def waits(self) -> bool:
        return self.outcome.status == "pending"


class Waiting:
    """Makes calls of which the same one, made again, collects the outcome rather than running twice."""

    def __init__(self, hr: Handrail, secret: bytes, hold: float, closing: asyncio.Event) -> None:
        self._hr = hr
        self._secret = secret
        self._hold = hold
        self._closing = closing

    async def call(self, principal: Principal, tool: str, args: Mapping[str, Any] | None, id: str) -> Waited:
        """The outcome of a call; of one that waits, what is asked. It is not held yet."""
        decision = await self._hr.explain(tool, args, principal, source="mcp")
        key = self._key(principal, tool, args) if decision.verdict == "ask" else None
        outcome = await self._hr.call(
            tool, args, principal=principal, source="mcp", idempotency_key=key, id=id
        )
        asked = None
        if outcome.approval_id is not None:
            asked = await self._hr.approvals.get(outcome.approval_id, principal)
        if key is not None and outcome.status != "pending":
            first = outcome.result.metadata.get("duplicate_of")
            self._collect(key, first or (asked and asked.call.id) or outcome.call_id, principal)
        return Waited(outcome, asked)

    async def hold(self, waited: Waited, principal: Principal, gone: asyncio.Event | None = None) -> Waited:
        """Wait for a person, for a while. Whoever has left meanwhile collects nothing."""
        asked = waited.asked
        if asked is None or asked.call.id is None:
            return waited
        outcome = await self._ended(asked.call.id, principal, self._hold, gone)
        if gone is not None and gone.is_set():
            return waited
        asked = await self._hr.approvals.get(asked.id, principal) or asked
        key = asked.call.idempotency_key
        if outcome is None:
            if asked.status != "expired":
                return Waited(waited.outcome, asked)
            outcome = await self._expired(asked, principal)
        if key is not None and asked.call.id is not None:
            self._collect(key, asked.call.id, principal)
        return Waited(outcome, asked)

    async def resumed(self, state: str, principal: Principal) -> Waited:
        """What somebody waits for who came back with the state of an earlier round."""
        try:
            told = json.loads(state)
            approval, call, until = told["approval"], told["call"], told["until"]
        except (ValueError, KeyError, TypeError):
            raise _invalid() from None
        asked = await self._hr.approvals.get(approval, principal)
        if asked is None or asked.call.id != call or _identity(asked.principal) != _identity(principal):
            raise _invalid()
        if until is not None and time.time() > until:
            raise _invalid()
        waits = Result.fail(f"{asked.reason}. It waits for a person.", code="NEEDS_APPROVAL")
        return Waited(Outcome("pending", waits, call, asked.tool, approval_id=approval), asked)

    @staticmethod
    def state(asked: ApprovalRequest) -> str:
        """What the caller is to bring back; the boundary of the server seals it to them and to the call."""
        until = None if asked.expires_at is None else asked.expires_at + _LATE
        return json.dumps({"approval": asked.id, "call": asked.call.id, "until": until})

    async def _ended(
        self, call_id: str, principal: Principal, seconds: float, gone: asyncio.Event | None = None
    ) -> Outcome | None:
        """How a call ended; None when it has not, or there is nobody to tell, or nobody who could."""
        ended = asyncio.ensure_future(self._hr.wait(call_id, seconds, principal=principal))
        stops = {asyncio.ensure_future(one.wait()) for one in (gone, self._closing) if one is not None}
        try:
            await asyncio.wait({ended, *stops}, return_when=asyncio.FIRST_COMPLETED)
            return ended.result() if ended.done() else None
        except TimeoutError:
            return None
        finally:
            for one in (ended, *stops):
                one.cancel()

    async def _expired(self, asked: ApprovalRequest, principal: Principal) -> Outcome:
        """Nobody answered in time. The call is ended and not made again: others may have asked anew."""
        await self._hr.approvals.lapse(asked.id, principal)
        call_id = asked.call.id or ""
        refused = Outcome("refused", expired(asked).result, call_id, asked.tool, approval_id=asked.id)
        return await self._ended(call_id, principal, _SOON) or refused

    def _collect(self, key: str, call_id: str, principal: Principal) -> None:
        self._hr.approvals.collected(key, call_id, principal)

    def _key(self, principal: Principal, tool: str, args: Mapping[str, Any] | None) -> str:
        """The same for the same call of the same principal; it tells nobody what the arguments are."""
        known = self._hr.registry.get(tool)
        name = [tool, ""] if known is None else [known.id, known.digest]
        said = json.dumps([_identity(principal), name, args or {}], sort_keys=True)
        return f"mcp:{hmac.digest(self._secret, said.encode(), 'sha256').hex()}"


def _identity(principal: Principal) -> list[Any]:
    """Who somebody is, and by which key; not what they may do at the moment, unless they have no name."""
    told = principal.to_dict()
    nameless = principal.user is None and principal.agent is None
    return [told[name] for name in sorted(told) if nameless or name not in ("roles", "permissions")]


def bound_to(principal: Principal) -> str:
    """A principal as the seal of a request state knows it."""
    return json.dumps(_identity(principal))


def _invalid() -> MCPError:
    return MCPError(INVALID_PARAMS, "Invalid or expired requestState", {"reason": "invalid_request_state"})
