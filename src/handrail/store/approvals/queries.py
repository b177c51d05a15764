"""What can be asked and said of the approvals of a tenant, each in the transaction it is given."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import delete, insert, or_, select, tuple_, update
from sqlalchemy.engine import Connection, Row

from handrail.core.guard.approval import ApprovalRequest, Reply, RequestStatus
from handrail.core.guard.settling import settle
from handrail.store.approvals.rows import answer_columns, from_row, sealed_call, to_row
from handrail.store.sealing import Seal, SealError
from handrail.store.tables import approval_votes as votes
from handrail.store.tables import approvals
from handrail.store.text import column

_log = logging.getLogger("handrail.approval")

OnWin = Callable[[Connection, ApprovalRequest, Reply | None], object]
"""Told in the same transaction that a question has ended, with the answer if there was one."""
_OVER: tuple[RequestStatus, ...] = ("approved", "rejected", "responded", "expired", "withdrawn")


def add_request(conn: Connection, tenant: str, request: ApprovalRequest, seal: Seal) -> None:
    if request.principal.tenant != tenant:
        return
    conn.execute(insert(approvals), to_row(request, seal))
    _write_votes(conn, tenant, request)


def take_back(conn: Connection, tenant: str, approval_id: str) -> bool:
    """Forget a question that nobody was told of, unless somebody answered it all the same."""
    asked = (approvals.c.tenant_id == tenant, approvals.c.id == approval_id)
    gone = conn.execute(delete(approvals).where(*asked, approvals.c.status == "pending")).rowcount == 1
    if gone:
        conn.execute(delete(votes).where(votes.c.tenant_id == tenant, votes.c.approval_id == approval_id))
    return gone


def get_request(
    conn: Connection, tenant: str, approval_id: str, seal: Seal, *, lock: bool = False
) -> ApprovalRequest | None:
    """One question, as it stands in its row; with `lock`, nobody else changes it meanwhile."""
    wanted = select(approvals).where(approvals.c.tenant_id == tenant, approvals.c.id == approval_id)
    row = conn.execute(wanted.with_for_update() if lock else wanted).first()
    if row is None:
        return None
    cast = votes.select().where(votes.c.tenant_id == tenant, votes.c.approval_id == approval_id)
    return from_row(row, conn.execute(cast.order_by(votes.c.at, votes.c.user_id)), seal)


def open_questions(conn: Connection, call_id: str) -> list[tuple[str, str]]:
    """The open questions of calls with this id and their tenants, as whoever sees all tenants finds them."""
    wanted = select(approvals.c.id, approvals.c.tenant_id)
    found = wanted.where(approvals.c.call_id == column(call_id), approvals.c.status == "pending")
    return [(row.id, row.tenant_id) for row in conn.execute(found)]


def list_requests(
    conn: Connection,
    tenant: str,
    now: float,
    seal: Seal,
    *,
    after: str | None = None,
    limit: int | None = None,
) -> list[ApprovalRequest]:
    """What waits for an answer, oldest first. One that cannot be read hides no other."""
    wanted = [approvals.c.tenant_id == tenant, approvals.c.status == "pending", _in_time(now)]
    place = (approvals.c.created_at, approvals.c.id)
    if after is not None:
        last = select(*place).where(approvals.c.tenant_id == tenant, approvals.c.id == column(after))
        found_last = conn.execute(last).first()
        if found_last is not None:
            wanted.append(tuple_(*place) > tuple_(*found_last))
    rows = conn.execute(select(approvals).where(*wanted).order_by(*place).limit(limit)).all()
    return _read(conn, tenant, rows, seal)


def decided_requests(conn: Connection, tenant: str, seal: Seal, *, limit: int) -> list[ApprovalRequest]:
    """What was asked last and is over: of each way to end, so many by the index of open questions."""
    place = (approvals.c.created_at.desc(), approvals.c.id.desc())
    rows: list[Row[Any]] = []
    for status in _OVER:
        ended = (approvals.c.tenant_id == tenant, approvals.c.status == status)
        rows += conn.execute(select(approvals).where(*ended).order_by(*place).limit(limit)).all()
    return _read(conn, tenant, rows, seal)


def _read(conn: Connection, tenant: str, rows: Sequence[Row[Any]], seal: Seal) -> list[ApprovalRequest]:
    cast: dict[str, list[Any]] = {}
    if shared := [row.id for row in rows if row.quorum > 1]:
        of_these = (votes.c.tenant_id == tenant, votes.c.approval_id.in_(shared))
        for vote in conn.execute(select(votes).where(*of_these).order_by(votes.c.at, votes.c.user_id)):
            cast.setdefault(vote.approval_id, []).append(vote)
    found: list[ApprovalRequest] = []
    for row in rows:
        try:
            found.append(from_row(row, cast.get(row.id, ()), seal))
        except (SealError, ValueError, LookupError, TypeError):
            _log.exception("the approval %s of %s cannot be read", row.id, tenant)
    return found


def settle_request(
    conn: Connection,
    tenant: str,
    approval_id: str,
    status: RequestStatus,
    reply: Reply | None,
    *,
    now: float,
    seal: Seal,
    on_win: OnWin,
) -> ApprovalRequest | None:
    """End a question, once, or count a vote. Whoever ends it has the rest done in the same transaction."""
    request = get_request(conn, tenant, approval_id, seal, lock=True)
    after = None if request is None else settle(request, status, reply, now)
    if after is None:
        return None
    if after.status == "pending":
        _write_votes(conn, tenant, after)
        return after
    late = approvals.c.expires_at <= now if status == "expired" else _in_time(now)
    this = (approvals.c.tenant_id == tenant, approvals.c.id == approval_id)
    changed = conn.execute(
        update(approvals)
        .where(*this, approvals.c.status == "pending", late)
        .values(answer_columns(after, seal))
    )
    if changed.rowcount != 1:
        return None
    _write_votes(conn, tenant, after)
    on_win(conn, after, reply)
    return after


def expire_due(
    conn: Connection, now: float, *, seal: Seal, on_win: OnWin, limit: int = 100
) -> list[ApprovalRequest]:
    """End questions of all tenants whose time is over, each once. For a sweeper's connection.

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
                late = settle_request(
                    conn, tenant, approval_id, "expired", None, now=now, seal=seal, on_win=on_win
                )
        except Exception:
            _log.exception("the approval %s of %s could not be ended", approval_id, tenant)
            continue
        if late is not None:
            ended.append(late)
    return ended


def next_expiry(conn: Connection) -> float | None:
    """When the next open question of any tenant expires. For a sweeper's connection."""
    due = select(approvals.c.expires_at).where(
        approvals.c.status == "pending", approvals.c.expires_at.is_not(None)
    )
    found: float | None = conn.execute(due.order_by(approvals.c.expires_at).limit(1)).scalar()
    return found


def shed_request(conn: Connection, tenant: str, approval_id: str, seal: Seal) -> bool:
    """Forget the exact arguments of a question whose call is over; what it shows stays."""
    request = get_request(conn, tenant, approval_id, seal, lock=True)
    if request is None or request.status == "pending":
        return False
    values = {**answer_columns(request, seal, over=True), "sealed": sealed_call(request, seal, over=True)}
    this = (approvals.c.tenant_id == tenant, approvals.c.id == approval_id)
    return conn.execute(update(approvals).where(*this).values(values)).rowcount == 1


def shed_call(conn: Connection, tenant: str, call_id: str, seal: Seal) -> int:
    """The same by the call; of how many questions. What cannot be opened stays sealed as it is."""
    asked = (approvals.c.tenant_id == tenant, approvals.c.call_id == column(call_id))
    count = 0
    for approval_id in conn.execute(select(approvals.c.id).where(*asked)).scalars().all():
        with suppress(SealError):
            count += shed_request(conn, tenant, approval_id, seal)
    return count


def _in_time(now: float) -> Any:
    return or_(approvals.c.expires_at.is_(None), approvals.c.expires_at > now)


def _write_votes(conn: Connection, tenant: str, request: ApprovalRequest) -> None:
    """The votes as they are now: an approval with other arguments made earlier ones void."""
    if request.quorum == 1:
        return
    this = (votes.c.tenant_id == tenant, votes.c.approval_id == request.id)
    conn.execute(delete(votes).where(*this))
    rows = [
        {
            "tenant_id": tenant,
            "approval_id": request.id,
            "user_id": vote.user,
            "verdict": "approve",
            "effective_hash": vote.hash,
            "at": vote.at,
        }
        for vote in request.votes
    ]
    if rows:
        conn.execute(insert(votes), rows)
