"""Where open questions and standing approvals are kept: the ports, and their twins in memory."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from handrail.core.define.principal import Principal
from handrail.core.guard.approval_request import ApprovalRequest, Reply, RequestStatus, settle


class ApprovalStore(Protocol):
    """Where open questions wait. Each belongs to a tenant, and is found under no other."""

    enqueues: bool
    """Whether to settle a question also puts the run that waited for it into a durable queue."""

    async def add(self, request: ApprovalRequest, /) -> None: ...
    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None: ...
    async def list(
        self, tenant: str, /, after: str | None = None, limit: int | None = None
    ) -> builtins.list[ApprovalRequest]:
        """What is pending, oldest first: all of it, or the next `limit` after a question, answered or not."""
        ...

    async def decided(self, tenant: str, limit: int, /) -> builtins.list[ApprovalRequest]:
        """What was asked last and is over, the newest end first; of each way to end at most `limit`."""
        ...

    async def open_of(self, call_id: str, /) -> builtins.list[tuple[str, str]]:
        """The open questions of calls with this id, whoever asks: each with its tenant."""
        ...

    async def settle(
        self, approval_id: str, tenant: str, status: RequestStatus, reply: Reply | None, /
    ) -> ApprovalRequest | None:
        """End a pending question, once, or count a vote: then it comes back pending.

        None when somebody was faster, it is not there, or the word does not count. A question whose time is
        over can only become `expired`, and no other can.
        """
        ...


def last_decided(requests: Iterable[ApprovalRequest]) -> list[ApprovalRequest]:
    """Questions that are over, the newest end first."""
    return sorted(requests, key=lambda request: (request.decided_at or 0.0, request.id), reverse=True)


class MemoryApprovals:
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
                decided = (key for key, waiting in self._requests.items() if waiting.status != "pending")
                self._requests.pop(next(decided, next(iter(self._requests))))

    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None:
        request = self._requests.get(approval_id)
        if request is None or request.principal.tenant != tenant:
            return None
        return self._current(request)

    async def list(
        self, tenant: str, /, after: str | None = None, limit: int | None = None
    ) -> builtins.list[ApprovalRequest]:
        with self._lock:
            requests = builtins.list(self._requests.values())
        of_tenant = [self._current(request) for request in requests if request.principal.tenant == tenant]
        start = next((at + 1 for at, request in enumerate(of_tenant) if request.id == after), 0)
        return [request for request in of_tenant[start:] if request.status == "pending"][:limit]

    async def decided(self, tenant: str, limit: int, /) -> builtins.list[ApprovalRequest]:
        with self._lock:
            requests = builtins.list(self._requests.values())
        ways: dict[str, builtins.list[ApprovalRequest]] = {}
        for request in requests:
            if request.principal.tenant == tenant and request.decided_at is not None:
                ways.setdefault(request.status, []).append(request)
        return last_decided(request for way in ways.values() for request in way[-limit:])

    async def open_of(self, call_id: str, /) -> builtins.list[tuple[str, str]]:
        with self._lock:
            requests = builtins.list(self._requests.values())
        return [
            (request.id, request.principal.tenant)
            for request in requests
            if request.call.id == call_id and request.status == "pending"
        ]

    async def settle(
        self, approval_id: str, tenant: str, status: RequestStatus, reply: Reply | None, /
    ) -> ApprovalRequest | None:
        with self._lock:
            request = self._requests.get(approval_id)
            if request is None or request.principal.tenant != tenant:
                return None
            settled = settle(request, status, reply, self._now())
            if settled is not None:
                self._requests[approval_id] = settled
            return settled

    def _current(self, request: ApprovalRequest) -> ApprovalRequest:
        late = request.status == "pending" and request.is_late(self._now())
        return replace(request, status="expired") if late else request


class StandingApprovals(Protocol):
    """One tool as it was defined, for one principal in one session.

    One that is forgotten only means that a person is asked again.
    """

    def give(self, principal: Principal, session: str, digest: str, by: str | None, /) -> None:
        """Takes effect in the order in which it was said."""
        ...

    async def holds(self, principal: Principal, session: str, digest: str, /) -> bool: ...


class MemoryStandingApprovals:
    """The standing approvals of a process without a database: the newest ones."""

    def __init__(self, keep: int = 10_000) -> None:
        self._keep = keep
        self._granted: dict[tuple[Principal, str, str], None] = {}

    def give(self, principal: Principal, session: str, digest: str, by: str | None, /) -> None:
        self._granted[principal, session, digest] = None
        if len(self._granted) > self._keep:
            del self._granted[next(iter(self._granted))]

    async def holds(self, principal: Principal, session: str, digest: str, /) -> bool:
        return (principal, session, digest) in self._granted
