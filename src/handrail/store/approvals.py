"""Approval requests of a database, the votes on them, and standing approvals; settling enqueues the job."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import delete, insert, or_, select, tuple_, update
from sqlalchemy.engine import Connection, Row

from handrail.core.define.principal import Principal
from handrail.core.define.schema import digest_of
from handrail.core.guard.approval_request import (
    ApprovalRequest,
    Reply,
    RequestStatus,
    ShownArguments,
    Vote,
    settle,
)
from handrail.core.guard.approval_store import last_decided
from handrail.store import codec
from handrail.store.database import Database
from handrail.store.encryption import Seal, SealError
from handrail.store.statements import insert_if_absent, matching
from handrail.store.tables.calls import approval_votes as votes
from handrail.store.tables.calls import approvals
from handrail.store.tables.calls import standing_approvals as standing

_log = logging.getLogger("handrail.approval")

OnSettled = Callable[[Connection, ApprovalRequest], object]
"""Called in the transaction that ends a request."""
_PLAIN_COLUMNS = (
    *("id", "tool", "tool_digest", "level", "danger", "args_hash"),
    *("quorum", "four_eyes", "created_at", "expires_at"),
)
"""Columns that hold a field of the same name as it is."""
_DECIDED: tuple[RequestStatus, ...] = ("approved", "rejected", "responded", "expired", "withdrawn")


def to_row(request: ApprovalRequest, seal: Seal) -> dict[str, Any]:
    call, principal = request.call, request.principal
    return {
        **{name: getattr(request, name) for name in _PLAIN_COLUMNS},
        "tenant_id": principal.tenant,
        "call_id": codec.fit_column(call.id),
        "session_id": codec.fit_column(call.log_session),
        "decision": codec.dump(codec.encode_decision(request.decision)),
        "user_id": None if principal.user is None else codec.fit_column(principal.user),
        "agent": None if principal.agent is None else codec.fit_column(principal.agent),
        "source": call.source,
        "args": codec.dump(request.args),
        "repairs": codec.dump(codec.encode_repairs(request.repairs)),
        "sealed": sealed_call(request, seal),
        **answer_columns(request, seal),
    }


def sealed_call(request: ApprovalRequest, seal: Seal, over: bool = False) -> str:
    """The exact call. Once it is over, its arguments, secrets and preview are dropped."""
    value: dict[str, Any] = {
        "call": codec.encode_call(request.call),
        "raw": None,
        "secrets": [],
        "preview": None,
    }
    if not over:
        value |= {"raw": request.raw, "secrets": sorted(request.secrets), "preview": request.preview}
    return seal.close(request.principal.tenant, value, f"approval:{request.id}")


def answer_columns(request: ApprovalRequest, seal: Seal, over: bool = False) -> dict[str, Any]:
    """What an answer changes."""
    edited, effective = request.edited, request.effective
    return {
        "status": request.status,
        "decided_by": request.decided_by,
        "decided_at": request.decided_at,
        "reply": None
        if request.answer is None
        else codec.dump(_encode_reply(request, request.answer, seal, over)),
        "edited_args": None if edited is None else codec.dump(edited.shown),
        "edited_hash": None if edited is None else edited.hash,
        "effective_args": None if effective is None else codec.dump(effective.shown),
        "effective_hash": None if effective is None else effective.hash,
    }


def _encode_reply(request: ApprovalRequest, reply: Reply, seal: Seal, over: bool) -> dict[str, Any]:
    result = None if reply.result is None or over else codec.encode_result(reply.result)
    exact = {"edits": None if over else reply.edits, "result": result}
    return {
        "verdict": reply.verdict,
        "by": reply.by,
        "reason": reply.reason,
        "for_session": reply.for_session,
        "sealed": seal.close(request.principal.tenant, exact, f"reply:{request.id}"),
    }


def from_row(row: Row[Any], votes: Iterable[Row[Any]], seal: Seal) -> ApprovalRequest:
    exact = seal.open(row.tenant_id, row.sealed, f"approval:{row.id}")
    edited = _decode_arguments(row.edited_args, row.edited_hash)
    effective = _decode_arguments(row.effective_args, row.effective_hash)
    return ApprovalRequest(
        **{name: getattr(row, name) for name in _PLAIN_COLUMNS},
        call=codec.decode_call(exact["call"]),
        args=codec.load(row.args),
        decision=codec.decode_decision(codec.load(row.decision)),
        repairs=codec.decode_repairs(codec.load(row.repairs)),
        raw=exact["raw"],
        secrets=frozenset(exact["secrets"]),
        preview=exact.get("preview"),
        status=row.status,
        votes=tuple(Vote(vote.user_id, vote.effective_hash, vote.voted_at) for vote in votes),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        answer=None
        if row.reply is None
        else _decode_reply(row, codec.load(row.reply), edited, effective, seal),
        edited=edited,
        effective=effective,
    )


def _decode_arguments(shown: str | None, fingerprint: str | None) -> ShownArguments | None:
    return None if shown is None or fingerprint is None else ShownArguments(codec.load(shown), fingerprint)


def _decode_reply(
    row: Row[Any],
    data: dict[str, Any],
    edited: ShownArguments | None,
    effective: ShownArguments | None,
    seal: Seal,
) -> Reply:
    exact = seal.open(row.tenant_id, data["sealed"], f"reply:{row.id}")
    return Reply(
        verdict=data["verdict"],
        by=data["by"],
        edits=exact["edits"],
        reason=data["reason"],
        result=None if exact["result"] is None else codec.decode_result(exact["result"]),
        for_session=data["for_session"],
        edited=edited,
        effective=effective,
    )


def add_request(conn: Connection, tenant: str, request: ApprovalRequest, seal: Seal) -> None:
    if request.principal.tenant != tenant:
        return
    conn.execute(insert(approvals), to_row(request, seal))
    _write_votes(conn, tenant, request)


def delete_pending_request(conn: Connection, tenant: str, approval_id: str) -> bool:
    """Delete a request that nobody heard of, unless somebody answered it all the same."""
    pending = matching(approvals, tenant_id=tenant, id=approval_id, status="pending")
    is_deleted = conn.execute(delete(approvals).where(pending)).rowcount == 1
    if is_deleted:
        conn.execute(delete(votes).where(matching(votes, tenant_id=tenant, approval_id=approval_id)))
    return is_deleted


def get_request(
    conn: Connection, tenant: str, approval_id: str, seal: Seal, *, lock: bool = False
) -> ApprovalRequest | None:
    """One request, as its row has it; with `lock`, nobody else changes it meanwhile."""
    query = select(approvals).where(matching(approvals, tenant_id=tenant, id=approval_id))
    row = conn.execute(query.with_for_update() if lock else query).first()
    if row is None:
        return None
    of_request = votes.select().where(matching(votes, tenant_id=tenant, approval_id=approval_id))
    return from_row(row, conn.execute(of_request.order_by(votes.c.voted_at, votes.c.user_id)), seal)


def pending_requests_of_call(conn: Connection, call_id: str) -> list[tuple[str, str]]:
    """Of all tenants: the pending requests of calls with this id; request, tenant."""
    pending = matching(approvals, call_id=codec.fit_column(call_id), status="pending")
    query = select(approvals.c.id, approvals.c.tenant_id).where(pending)
    return [(row.id, row.tenant_id) for row in conn.execute(query)]


def list_pending_requests(
    conn: Connection,
    tenant: str,
    now: float,
    seal: Seal,
    *,
    after: str | None = None,
    limit: int | None = None,
) -> list[ApprovalRequest]:
    """What waits for an answer, oldest first. One that cannot be read hides no other."""
    where = [matching(approvals, tenant_id=tenant, status="pending"), _not_expired(now)]
    order = (approvals.c.created_at, approvals.c.id)
    if after is not None:
        last = select(*order).where(matching(approvals, tenant_id=tenant, id=codec.fit_column(after)))
        last_row = conn.execute(last).first()
        if last_row is not None:
            where.append(tuple_(*order) > tuple_(*last_row))
    rows = conn.execute(select(approvals).where(*where).order_by(*order).limit(limit)).all()
    return _requests_of_rows(conn, tenant, rows, seal)


def list_decided_requests(conn: Connection, tenant: str, seal: Seal, *, limit: int) -> list[ApprovalRequest]:
    """The newest requests that are over: so many of each status, by the index over the status."""
    newest = select(approvals).order_by(approvals.c.created_at.desc(), approvals.c.id.desc()).limit(limit)
    rows: list[Row[Any]] = []
    for status in _DECIDED:
        rows += conn.execute(newest.where(matching(approvals, tenant_id=tenant, status=status))).all()
    return _requests_of_rows(conn, tenant, rows, seal)


def _requests_of_rows(
    conn: Connection, tenant: str, rows: Sequence[Row[Any]], seal: Seal
) -> list[ApprovalRequest]:
    votes_of: dict[str, list[Any]] = {}
    if shared := [row.id for row in rows if row.quorum > 1]:
        of_these = (votes.c.tenant_id == tenant, votes.c.approval_id.in_(shared))
        for vote in conn.execute(select(votes).where(*of_these).order_by(votes.c.voted_at, votes.c.user_id)):
            votes_of.setdefault(vote.approval_id, []).append(vote)
    requests: list[ApprovalRequest] = []
    for row in rows:
        try:
            requests.append(from_row(row, votes_of.get(row.id, ()), seal))
        except (SealError, ValueError, LookupError, TypeError):
            _log.exception("the approval %s of %s cannot be read", row.id, tenant)
    return requests


def settle_request(
    conn: Connection,
    tenant: str,
    approval_id: str,
    status: RequestStatus,
    reply: Reply | None,
    *,
    now: float,
    seal: Seal,
    on_settled: OnSettled,
) -> ApprovalRequest | None:
    """End a request, once, or count a vote; what follows from its end is done in the same transaction."""
    request = get_request(conn, tenant, approval_id, seal, lock=True)
    after = None if request is None else settle(request, status, reply, now)
    if after is None:
        return None
    if after.status == "pending":
        _write_votes(conn, tenant, after)
        return after
    in_time = approvals.c.expires_at <= now if status == "expired" else _not_expired(now)
    pending = matching(approvals, tenant_id=tenant, id=approval_id, status="pending")
    settled = update(approvals).where(pending, in_time).values(answer_columns(after, seal))
    if conn.execute(settled).rowcount != 1:
        return None
    _write_votes(conn, tenant, after)
    on_settled(conn, after)
    return after


def expire_due(
    conn: Connection, now: float, *, seal: Seal, on_settled: OnSettled, limit: int = 100
) -> list[ApprovalRequest]:
    """End requests of all tenants that have expired, each once. For a sweeper's connection.

    One that cannot be ended, such as one whose key is lost, holds up no other.
    """
    due = (
        select(approvals.c.tenant_id, approvals.c.id)
        .where(approvals.c.status == "pending", approvals.c.expires_at <= now)
        .order_by(approvals.c.expires_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    ended: list[ApprovalRequest] = []
    for tenant, approval_id in conn.execute(due).all():
        try:
            with conn.begin_nested():
                expired = settle_request(
                    conn, tenant, approval_id, "expired", None, now=now, seal=seal, on_settled=on_settled
                )
        except Exception:
            _log.exception("the approval %s of %s could not be ended", approval_id, tenant)
            continue
        if expired is not None:
            ended.append(expired)
    return ended


def next_expiry(conn: Connection) -> float | None:
    """When the next pending request of any tenant expires. For a sweeper's connection."""
    due = select(approvals.c.expires_at).where(
        approvals.c.status == "pending", approvals.c.expires_at.is_not(None)
    )
    expires_at: float | None = conn.execute(due.order_by(approvals.c.expires_at).limit(1)).scalar()
    return expires_at


def forget_request_arguments(conn: Connection, tenant: str, approval_id: str, seal: Seal) -> bool:
    """Forget the exact arguments of a request whose call is over; what it shows stays."""
    request = get_request(conn, tenant, approval_id, seal, lock=True)
    if request is None or request.status == "pending":
        return False
    values = {**answer_columns(request, seal, over=True), "sealed": sealed_call(request, seal, over=True)}
    this = matching(approvals, tenant_id=tenant, id=approval_id)
    return conn.execute(update(approvals).where(this).values(values)).rowcount == 1


def forget_call_arguments(conn: Connection, tenant: str, call_id: str, seal: Seal) -> int:
    """The same by the call; of how many requests. What cannot be opened stays sealed as it is."""
    of_call = matching(approvals, tenant_id=tenant, call_id=codec.fit_column(call_id))
    count = 0
    for approval_id in conn.execute(select(approvals.c.id).where(of_call)).scalars().all():
        with suppress(SealError):
            count += forget_request_arguments(conn, tenant, approval_id, seal)
    return count


def _not_expired(now: float) -> Any:
    return or_(approvals.c.expires_at.is_(None), approvals.c.expires_at > now)


def _write_votes(conn: Connection, tenant: str, request: ApprovalRequest) -> None:
    """The votes as they are now: an approval with other arguments made earlier ones void."""
    if request.quorum == 1:
        return
    conn.execute(delete(votes).where(matching(votes, tenant_id=tenant, approval_id=request.id)))
    rows = [
        {
            "tenant_id": tenant,
            "approval_id": request.id,
            "user_id": vote.user,
            "verdict": "approve",
            "effective_hash": vote.hash,
            "voted_at": vote.at,
        }
        for vote in request.votes
    ]
    if rows:
        conn.execute(insert(votes), rows)


class StoreApprovals:
    """The port of approvals in rows. `on_settled` adds the job, in the transaction that decides."""

    enqueues = True

    def __init__(self, db: Database, seal: Seal, on_settled: OnSettled) -> None:
        self._db = db
        self._seal = seal
        self._on_settled = on_settled

    async def add(self, request: ApprovalRequest, /) -> None:
        tenant = request.principal.tenant
        try:
            await self._db.write(tenant, add_request, tenant, request, self._seal)
        except BaseException:  # the call is over, and the request may be stored all the same
            self._db.post(tenant, delete_pending_request, tenant, request.id)
            raise

    async def get(self, approval_id: str, tenant: str, /) -> ApprovalRequest | None:
        request = await self._db.read(tenant, get_request, tenant, approval_id, self._seal)
        if request is not None and request.status == "pending" and request.is_late(self._db.clock.now()):
            return replace(request, status="expired")
        return request

    async def list(
        self, tenant: str, /, after: str | None = None, limit: int | None = None
    ) -> builtins.list[ApprovalRequest]:
        now = self._db.clock.now()
        return await self._db.read(
            tenant, list_pending_requests, tenant, now, self._seal, after=after, limit=limit
        )

    async def decided(self, tenant: str, limit: int, /) -> builtins.list[ApprovalRequest]:
        return last_decided(
            await self._db.read(tenant, list_decided_requests, tenant, self._seal, limit=limit)
        )

    async def open_of(self, call_id: str, /) -> builtins.list[tuple[str, str]]:
        return await self._db.read_all(pending_requests_of_call, call_id)

    async def settle(
        self, approval_id: str, tenant: str, status: RequestStatus, reply: Reply | None, /
    ) -> ApprovalRequest | None:
        def decide(conn: Connection) -> ApprovalRequest | None:
            return settle_request(
                conn,
                tenant,
                approval_id,
                status,
                reply,
                now=self._db.clock.now(),
                seal=self._seal,
                on_settled=self._on_settled,
            )

        return await self._db.write(tenant, decide)

    def expire(self) -> builtins.list[ApprovalRequest]:
        """End what is due, of all tenants; for a sweeper, in a thread of its own."""
        now = self._db.clock.now()
        with self._db.reading_all() as conn:  # most often nothing is due, and no writer has to wait
            due = next_expiry(conn)
        if due is None or due > now:
            return []
        with self._db.system() as conn:
            return expire_due(conn, now, seal=self._seal, on_settled=self._on_settled)


def add_standing_approval(
    conn: Connection, tenant: str, principal: Principal, session: str, digest: str, by: str | None, now: float
) -> None:
    if principal.tenant != tenant:
        return
    row = {**_standing_columns(tenant, principal, session, digest), "granted_at": now, "granted_by": by}
    insert_if_absent(conn, standing, row)


def has_standing_approval(
    conn: Connection, tenant: str, principal: Principal, session: str, digest: str
) -> bool:
    this = matching(standing, **_standing_columns(tenant, principal, session, digest))
    return conn.execute(select(standing.c.granted_at).where(this)).first() is not None


def _standing_columns(tenant: str, principal: Principal, session: str, digest: str) -> dict[str, str]:
    """Everything about the principal counts: with more rights or another role it is not the same one."""
    return {
        "tenant_id": tenant,
        "principal_digest": digest_of(principal.to_dict()),
        "session_id": codec.fit_column(session),
        "tool_digest": digest,
    }


class StoreStandingApprovals:
    """The port of standing approvals in rows."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def give(self, principal: Principal, session: str, digest: str, by: str | None, /) -> None:
        tenant, now = principal.tenant, self._db.clock.now()
        self._db.post(tenant, add_standing_approval, tenant, principal, session, digest, by, now)

    async def holds(self, principal: Principal, session: str, digest: str, /) -> bool:
        tenant = principal.tenant
        return await self._db.read(tenant, has_standing_approval, tenant, principal, session, digest)
