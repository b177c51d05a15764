"""Approval: the question put to a person, the answer, and where open questions wait."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from handrail.core.define.call import Call, Repair
from handrail.core.define.decision import Decision
from handrail.core.define.permission import Danger, Level
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.errors import UsageError

RequestStatus = Literal["pending", "approved", "rejected", "responded", "expired"]


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One question: may exactly this tool run with exactly these arguments?"""

    id: str
    call: Call
    tool: str
    tool_digest: str
    args: Mapping[str, Any]
    """The exact arguments, secrets masked."""
    args_hash: str
    level: Level
    danger: Danger
    decision: Decision
    created_at: float
    expires_at: float | None = None
    repairs: tuple[Repair, ...] = ()
    raw: Any = field(default=None, repr=False)
    """The arguments as they were sent, for the run after the answer."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """What an outer body was told in confidence: masked in every record of the call."""
    status: RequestStatus = "pending"
    decided_by: str | None = None
    answer: Reply | None = None

    @property
    def reason(self) -> str:
        return self.decision.reason

    @property
    def by(self) -> str | None:
        """Who may answer: a reviewer, or the calling person at once."""
        return self.decision.by

    @property
    def principal(self) -> Principal:
        assert self.call.principal is not None
        return self.call.principal

    def is_late(self, now: float) -> bool:
        """Whether the time to answer is over."""
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer."""

    verdict: Literal["approve", "reject", "respond"]
    by: str | None = None
    edits: Mapping[str, Any] | None = None
    """With approve: the whole arguments to run with instead."""
    reason: str | None = None
    result: Result | None = None
    """With respond: the answer given in the tool's place."""
    for_session: bool = False
    """With approve: the same tool need not ask again in this session (write level only)."""


def approve(
    *, by: str | None = None, edits: Mapping[str, Any] | None = None, for_session: bool = False
) -> Reply:
    """Yes, as asked or with other arguments."""
    return Reply("approve", by, edits, for_session=for_session)


def reject(reason: str | None = None, *, by: str | None = None) -> Reply:
    """No."""
    return Reply("reject", by, reason=reason)


def respond(result: Any, *, by: str | None = None) -> Reply:
    """Do not run it; this is the answer."""
    return Reply("respond", by, result=result if isinstance(result, Result) else Result(data=result))


Approver = Callable[[ApprovalRequest], Awaitable[Any]]
"""Asked in the middle of a call. A reply goes on with the same run; None leaves it pending."""

_VERDICTS = frozenset({"approve", "reject", "respond"})
_YES = frozenset({"approve", "approved", "allow", "yes"})
_NO = frozenset({"reject", "rejected", "deny", "denied", "no"})


def read_reply(answer: Any) -> Reply | None:
    """What an approver returned, as a Reply: also True and False, a word, or a Decision."""
    if answer is None or (isinstance(answer, Reply) and answer.verdict in _VERDICTS):
        return answer
    if isinstance(answer, bool):
        return Reply("approve" if answer else "reject")
    reason: str | None = None
    word = answer
    if isinstance(answer, Decision):
        word, reason = answer.verdict, answer.reason or None
    if isinstance(word, str):
        if word.lower() in _YES:
            return Reply("approve", reason=reason)
        if word.lower() in _NO:
            return Reply("reject", reason=reason)
        if word == "ask":
            return None
    raise UsageError(f"The approver returned {answer!r}. Return approve(), reject(), respond() or None.")


class ApprovalBook(Protocol):
    """Where open questions wait."""

    enqueues: bool
    """Whether to settle a question also puts the run that waited for it into a durable queue."""

    async def add(self, request: ApprovalRequest, /) -> None: ...
    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None: ...
    async def list(self, tenant: str, /) -> builtins.list[ApprovalRequest]: ...
    async def settle(
        self, approval_id: str, tenant: str, status: RequestStatus, reply: Reply | None, /
    ) -> ApprovalRequest | None:
        """End a pending question, once; None when somebody was faster, or it is not there.

        A question whose time is over can only become `expired`, and no other can.
        """
        ...


class MemoryBook:
    """The approvals of a process without a database."""

    enqueues = False

    def __init__(self, now: Callable[[], float], keep: int = 10_000) -> None:
        self._now = now
        self._keep = keep
        self._requests: dict[str, ApprovalRequest] = {}
        self._lock = threading.Lock()

    async def add(self, request: ApprovalRequest, /) -> None:
        with self._lock:
            self._requests[request.id] = request
            if len(self._requests) > self._keep:
                decided = (key for key, one in self._requests.items() if one.status != "pending")
                self._requests.pop(next(decided, next(iter(self._requests))))

    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None:
        request = self._requests.get(approval_id)
        if request is None or request.principal.tenant != tenant:
            return None
        return self._current(request)

    async def list(self, tenant: str, /) -> builtins.list[ApprovalRequest]:
        with self._lock:
            requests = builtins.list(self._requests.values())
        mine = (self._current(one) for one in requests if one.principal.tenant == tenant)
        return [one for one in mine if one.status == "pending"]

    async def settle(
        self, approval_id: str, tenant: str, status: RequestStatus, reply: Reply | None, /
    ) -> ApprovalRequest | None:
        with self._lock:
            request = self._requests.get(approval_id)
            if request is None or request.principal.tenant != tenant or request.status != "pending":
                return None
            if request.is_late(self._now()) != (status == "expired"):
                return None
            by = reply.by if reply else None
            settled = replace(request, status=status, decided_by=by, answer=reply)
            self._requests[approval_id] = settled
            return settled

    def _current(self, request: ApprovalRequest) -> ApprovalRequest:
        late = request.status == "pending" and request.is_late(self._now())
        return replace(request, status="expired") if late else request


class Standing:
    """Approvals that hold for the rest of a session: one tool as it was defined, for one principal.

    Keeps the newest; one that is forgotten only means that a person is asked again.
    """

    def __init__(self, keep: int = 10_000) -> None:
        self._keep = keep
        self._given: dict[tuple[Principal, str, str], None] = {}

    def give(self, principal: Principal, session: str, digest: str) -> None:
        self._given[principal, session, digest] = None
        if len(self._given) > self._keep:
            del self._given[next(iter(self._given))]

    def holds(self, principal: Principal, session: str | None, digest: str) -> bool:
        return session is not None and (principal, session, digest) in self._given
