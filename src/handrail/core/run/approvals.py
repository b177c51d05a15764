"""Approvals: open questions, listed and answered. An answer starts the run that was waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.guard.approval import ApprovalRequest, Reply, RequestStatus, approve, reject, respond
from handrail.core.run.approve import Grant
from handrail.core.run.house import House
from handrail.core.run.normalise import answered
from handrail.core.run.seek import seek


class Conflict(UsageError):
    """The approval or dead letter is no longer open, is not yours, or the answer does not fit."""


class Approvals:
    """The inbox of one Handrail."""

    def __init__(self, house: House, resume: Callable[[Grant], None]) -> None:
        self._house = house
        self._resume = resume

    async def list(self, principal: Principal) -> list[ApprovalRequest]:
        """What waits for an answer in this principal's tenant, oldest first."""
        return await self._house.book.list(principal.tenant)

    async def get(self, approval_id: str, principal: Principal) -> ApprovalRequest | None:
        return await self._house.book.get(approval_id, principal.tenant)

    async def approve(
        self,
        approval_id: str,
        *,
        by: Principal,
        edits: Mapping[str, Any] | None = None,
        for_session: bool = False,
    ) -> ApprovalRequest:
        """Yes: the call runs, with other arguments if edits are given. Wait for it with `hr.wait`."""
        reply = approve(by=by.user, edits=edits, for_session=for_session)
        return await self._answer(approval_id, by, reply, "approved")

    async def reject(self, approval_id: str, *, by: Principal, reason: str | None = None) -> ApprovalRequest:
        """No: the caller is told so, with the reason."""
        return await self._answer(approval_id, by, reject(reason, by=by.user), "rejected")

    async def respond(self, approval_id: str, *, by: Principal, result: Any) -> ApprovalRequest:
        """Answer in the tool's place, with data that fits its output schema or a Result that has only words.

        What does not fit raises `Conflict`, and the question stays open.
        """
        reply = respond(result, by=by.user)
        _check_person(by)
        await self._check_answer(approval_id, by, reply)
        return await self._answer(approval_id, by, reply, "responded")

    async def _check_answer(self, approval_id: str, by: Principal, reply: Reply) -> None:
        request = await self._house.book.get(approval_id, by.tenant)
        if request is None or request.status != "pending":
            return
        tool = await seek(request.call, self._house)
        if isinstance(tool, Tool) and reply.result is not None:
            answer = answered(reply.result, tool)
            if isinstance(answer, str):
                raise Conflict(
                    f"{answer}. The approval {approval_id!r} is still open: "
                    "respond with data that fits, or with words alone, as Result(output=...)."
                )

    async def _answer(
        self, approval_id: str, by: Principal, reply: Reply, status: RequestStatus
    ) -> ApprovalRequest:
        _check_person(by)
        book = self._house.book
        settled = await book.settle(approval_id, by.tenant, status, reply)
        if settled is None:
            raise await self._not_open(approval_id, by, reply)
        if not book.enqueues:
            self._resume(Grant(settled, reply))
        return settled

    async def _not_open(self, approval_id: str, by: Principal, reply: Reply) -> Conflict:
        """Why it cannot be answered. Whoever first finds it expired ends the call that was waiting."""
        book = self._house.book
        late = await book.settle(approval_id, by.tenant, "expired", None)
        if late is not None and not book.enqueues:
            self._resume(Grant(late, reply))
        request = late or await book.get(approval_id, by.tenant)
        if request is None:
            return Conflict(f"There is no approval {approval_id!r}.")
        return Conflict(f"The approval {approval_id!r} is no longer open: it is {request.status}.")


def _check_person(by: Principal) -> None:
    if by.agent is not None or by.user is None or by.key == "service":
        raise Conflict("An approval is answered by a person, not by an agent or a service.")
