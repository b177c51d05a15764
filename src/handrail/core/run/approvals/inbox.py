"""Approvals: open questions, listed and answered. A reply that settles one starts the waiting run."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

from handrail.core.define.levels import LEVELS
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.guard.approval_request import (
    ApprovalRequest,
    Grant,
    Reply,
    RequestStatus,
    approve,
    has_voted,
    is_faithful,
    is_own,
    reject,
    respond,
)
from handrail.core.guard.idempotency import key_id
from handrail.core.run.approvals.resume import reply_for_record
from handrail.core.run.find_tool import find_tool
from handrail.core.run.normalise import answered
from handrail.core.run.runtime import Runtime

DECIDE = "approvals.decide"
"""The permission to answer the questions of a tenant."""


class Conflict(UsageError):
    """The approval or dead letter is no longer open, is not yours, or the answer does not fit."""

    def __init__(self, message: str | None = None, *, code: str = "CONFLICT") -> None:
        super().__init__(message)
        self.code = code
        """The machine's name for which of these it is."""


class Approvals:
    """The inbox of one Handrail."""

    def __init__(self, runtime: Runtime, resume: Callable[[Grant], None]) -> None:
        self._runtime = runtime
        self._resume_here = resume

    async def list(
        self, principal: Principal, *, after: str | None = None, limit: int | None = None
    ) -> list[ApprovalRequest]:
        """What waits for an answer in this principal's tenant, oldest first.

        With a limit, the next so many after the question `after`, whether that is answered or not.
        """
        return await self._runtime.approvals.list(principal.tenant, after, limit)

    async def get(self, approval_id: str, principal: Principal) -> ApprovalRequest | None:
        return await self._runtime.approvals.get(approval_id, principal.tenant)

    async def decided(self, principal: Principal, *, limit: int = 20) -> builtins.list[ApprovalRequest]:
        """What was asked last in this principal's tenant and is over, the newest end first."""
        return await self._runtime.approvals.decided(principal.tenant, limit)

    async def approve(
        self,
        approval_id: str,
        *,
        by: Principal,
        edits: Mapping[str, Any] | None = None,
        for_session: bool = False,
    ) -> ApprovalRequest:
        """Yes: the call runs, with other arguments if edits are given. Wait for it with `hr.wait`.

        Where the tool wants several persons, the question comes back pending until all have agreed to the
        same arguments. Edits that do not fit raise `Conflict`, and the question stays open. So does a
        question that does not show what would run.
        """
        request = await self._open(approval_id, by)
        reply = approve(by=by.user, edits=edits, for_session=for_session)
        tool = await self._tool(request)
        if tool is not None and tool.digest == request.tool_digest and not is_faithful(request, tool):
            raise Conflict(
                f"What the approval {approval_id!r} shows of {request.tool} is not what would run: somebody "
                "changed it in the database. It cannot be approved; reject it, and call again.",
                code="NOT_APPROVED",
            )
        recording = reply_for_record(request, reply, tool, self._runtime.repairing)
        if not isinstance(recording, Reply):
            wrong = "; ".join(map(str, recording))
            message = f"The edits do not fit {request.tool}: {wrong}. {_still_open(approval_id)}"
            raise Conflict(message, code="INVALID_PARAM")
        return await self._answer(request, by, recording, "approved")

    async def reject(self, approval_id: str, *, by: Principal, reason: str | None = None) -> ApprovalRequest:
        """No: the caller is told so, with the reason. One no is enough."""
        request = await self._open(approval_id, by)
        return await self._answer(request, by, reject(reason, by=by.user), "rejected")

    async def respond(self, approval_id: str, *, by: Principal, result: Any) -> ApprovalRequest:
        """Answer in the tool's place, with data that fits its output schema or a Result that has only words.

        What does not fit raises `Conflict`, and the question stays open.
        """
        request = await self._open(approval_id, by)
        reply = respond(result, by=by.user)
        tool = await self._tool(request)
        problem = None if tool is None or reply.result is None else answered(reply.result, tool)
        if isinstance(problem, str):
            raise Conflict(
                f"{problem}. The approval {approval_id!r} is still open: "
                "respond with data that fits, or with words alone, as Result(output=...).",
                code="INVALID_PARAM",
            )
        return await self._answer(request, by, reply, "responded")

    async def _tool(self, request: ApprovalRequest) -> Tool | None:
        call = request.call
        tool = await find_tool(call.tool, call.principal, self._runtime, call.source)
        return tool if isinstance(tool, Tool) else None

    async def _open(self, approval_id: str, by: Principal) -> ApprovalRequest:
        """The question, if it is open and `by` may answer it; otherwise raises, and says why."""
        if not _is_person(by):
            message = "An approval is answered by a person, not by an agent or a service."
            raise Conflict(message, code="NOT_PERMITTED")
        request = await self._runtime.approvals.get(approval_id, by.tenant)
        if request is None:
            raise Conflict(f"There is no approval {approval_id!r}.", code="NOT_FOUND")
        if not may_decide(by, request):
            raise Conflict(
                f"You may not answer this approval: that takes the permission {DECIDE!r}, and a key that "
                f"reaches {request.tool}. Ask somebody who has both, or an administrator for them.",
                code="NOT_PERMITTED",
            )
        if request.status != "pending":
            raise await self._not_open(approval_id, by)
        return request

    async def _answer(
        self, request: ApprovalRequest, by: Principal, reply: Reply, status: RequestStatus
    ) -> ApprovalRequest:
        if reply.verdict != "reject" and is_own(request, by.user):
            raise Conflict(
                f"{request.tool} wants four eyes: whoever is behind the call cannot approve it. "
                f"{_still_open(request.id)}",
                code="NOT_PERMITTED",
            )
        approvals = self._runtime.approvals
        settled = await approvals.settle(request.id, by.tenant, status, reply)
        if settled is None:
            now = await approvals.get(request.id, by.tenant)
            if now is not None and now.status == "pending" and has_voted(now, reply):
                missing = now.quorum - len(now.votes)
                raise Conflict(f"You have approved {request.id!r} already; {missing} more must.")
            raise await self._not_open(request.id, by)
        if settled.status != "pending":
            self._start_run(settled, reply)
        return settled

    def _start_run(self, settled: ApprovalRequest, reply: Reply) -> None:
        """Resume the call here, unless settling it in the store has enqueued its job already."""
        if not self._runtime.approvals.enqueues:
            self._resume_here(Grant(settled, reply))

    async def withdraw(self, call_id: str, tenant: str, reason: str) -> bool:
        """A call is cancelled while it waits, so nobody is asked any more; False when it does not wait."""
        approvals, reply = self._runtime.approvals, reject(reason)
        for approval_id, whose in await approvals.open_of(call_id):
            if whose != tenant:
                continue
            if settled := await approvals.settle(approval_id, tenant, "withdrawn", reply):
                self._start_run(settled, reply)
                return True
        return False

    def collected(self, key: str, call_id: str, principal: Principal) -> None:
        """The caller was told how a call ended that waited under a key: the same call now asks anew."""
        self._runtime.keys.collected(key_id(principal, key), call_id)

    async def lapse(self, approval_id: str, principal: Principal) -> ApprovalRequest | None:
        """Whoever first finds that a question has expired ends the call that was waiting; None for others."""
        approvals = self._runtime.approvals
        late = await approvals.settle(approval_id, principal.tenant, "expired", None)
        if late is not None:
            self._start_run(late, reject())
        return late

    async def _not_open(self, approval_id: str, by: Principal) -> Conflict:
        """Why it cannot be answered."""
        late = await self.lapse(approval_id, by)
        request = late or await self._runtime.approvals.get(approval_id, by.tenant)
        if request is None:
            return Conflict(f"There is no approval {approval_id!r}.", code="NOT_FOUND")
        code = "APPROVAL_EXPIRED" if request.status == "expired" else "CONFLICT"
        return Conflict(f"The approval {approval_id!r} is no longer open: it is {request.status}.", code=code)


def may_decide(by: Principal, request: ApprovalRequest) -> bool:
    """Whether a person may answer: with the right to, or where a confirmation of their own call is asked.

    A key that does not reach the tool, or its level, cannot let it run either.
    """
    own = request.by == "caller" and by.user == request.principal.user
    reaches = by.scope is None or any(fnmatchcase(request.tool, pattern) for pattern in by.scope)
    bounded = by.ceiling is not None and LEVELS.index(request.level) > LEVELS.index(by.ceiling)
    return (own or by.holds(DECIDE)) and reaches and not bounded


def is_reviewer(who: Principal, request: ApprovalRequest) -> bool:
    """Whether somebody is a person who may answer: to them alone a preview is shown."""
    return _is_person(who) and may_decide(who, request)


def _is_person(who: Principal) -> bool:
    return who.agent is None and who.user is not None and who.key != "service"


def _still_open(approval_id: str) -> str:
    return f"The approval {approval_id!r} is still open."
