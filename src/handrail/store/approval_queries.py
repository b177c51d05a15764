"""Approval requests as rows: what can be asked and changed, each in the transaction it is given."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import delete, insert, or_, select, tuple_, update
from sqlalchemy.engine import Connection, Row

from handrail.core.guard.approval_request import (
    ApprovalRequest,
    Reply,
    RequestStatus,
    ShownArguments,
    Vote,
    settle,
)
from handrail.store.codec import (
    decode_call,
    decode_decision,
    decode_repairs,
    decode_result,
    dump,
    encode_call,
    encode_decision,
    encode_repairs,
    encode_result,
    fit_column,
    load,
)
from handrail.store.encryption import Seal, SealError
from handrail.store.tables import approval_votes as votes
from handrail.store.tables import approvals


def to_row(request: ApprovalRequest, seal: Seal) -> dict[str, Any]:
    call, principal = request.call, request.principal
    return {
        "tenant_id": principal.tenant,
        "id": request.id,
        "call_id": fit_column(call.id or ""),
        "session_id": fit_column(call.session or f"call:{call.id}"),
        "tool": request.tool,
        "tool_digest": request.tool_digest,
        "level": request.level,
        "danger": request.danger,
        "decision": dump(encode_decision(request.decision)),
        "user_id": None if principal.user is None else fit_column(principal.user),
        "agent": None if principal.agent is None else fit_column(principal.agent),
        "source": call.source,
        "args": dump(request.args),
        "args_hash": request.args_hash,
        "repairs": dump(encode_repairs(request.repairs)),
        "sealed": sealed_call(request, seal),
        "quorum": request.quorum,
        "four_eyes": request.four_eyes,
        "created_at": request.created_at,
        "expires_at": request.expires_at,
        **answer_columns(request, seal),
    }


def sealed_call(request: ApprovalRequest, seal: Seal, over: bool = False) -> str:
    """The exact call. Once it is over, its arguments, secrets and preview are not kept any more."""
    value: dict[str, Any] = {"call": encode_call(request.call), "raw": None, "secrets": [], "preview": None}
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
        "reply": None if request.answer is None else dump(_encode_reply(request, request.answer, seal, over)),
        "edited_args": None if edited is None else dump(edited.shown),
        "edited_hash": None if edited is None else edited.hash,
        "effective_args": None if effective is None else dump(effective.shown),
        "effective_hash": None if effective is None else effective.hash,
    }


def _encode_reply(request: ApprovalRequest, reply: Reply, seal: Seal, over: bool) -> dict[str, Any]:
    result = None if reply.result is None or over else encode_result(reply.result)
    exact = {"edits": None if over else reply.edits, "result": result}
    return {
        "verdict": reply.verdict,
        "by": reply.by,
        "reason": reply.reason,
        "for_session": reply.for_session,
        "sealed": seal.close(request.principal.tenant, exact, f"reply:{request.id}"),
    }


def from_row(row: Row[Any], votes: Iterable[Row[Any]], seal: Seal) -> ApprovalRequest:
    kept = seal.open(row.tenant_id, row.sealed, f"approval:{row.id}")
    edited = _decode_arguments(row.edited_args, row.edited_hash)
    effective = _decode_arguments(row.effective_args, row.effective_hash)
    return ApprovalRequest(
        id=row.id,
        call=decode_call(kept["call"]),
        tool=row.tool,
        tool_digest=row.tool_digest,
        args=load(row.args),
        args_hash=row.args_hash,
        level=row.level,
        danger=row.danger,
        decision=decode_decision(load(row.decision)),
        created_at=row.created_at,
        expires_at=row.expires_at,
        repairs=decode_repairs(load(row.repairs)),
        raw=kept["raw"],
        secrets=frozenset(kept["secrets"]),
        preview=kept.get("preview"),
        quorum=row.quorum,
        four_eyes=row.four_eyes,
        status=row.status,
        votes=tuple(Vote(vote.user_id, vote.effective_hash, vote.at) for vote in votes),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        answer=None if row.reply is None else _decode_reply(row, load(row.reply), edited, effective, seal),
        edited=edited,
        effective=effective,
    )


def _decode_arguments(shown: str | None, fingerprint: str | None) -> ShownArguments | None:
    return None if shown is None or fingerprint is None else ShownArguments(load(shown), fingerprint)


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
        result=None if exact["result"] is None else decode_result(exact["result"]),
        for_session=data["for_session"],
        edited=edited,
        effective=effective,
    )


_log = logging.getLogger("handrail.approval")

OnSettled = Callable[[Connection, ApprovalRequest, Reply | None], object]
"""Told in the same transaction that a question has ended, with the answer if there was one."""
_DECIDED: tuple[RequestStatus, ...] = ("approved", "rejected", "responded", "expired", "withdrawn")


def add_request(conn: Connection, tenant: str, request: ApprovalRequest, seal: Seal) -> None:
    if request.principal.tenant != tenant:
        return
    conn.execute(insert(approvals), to_row(request, seal))
    _write_votes(conn, tenant, request)


def delete_pending_request(conn: Connection, tenant: str, approval_id: str) -> bool:
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


def pending_requests_of_call(conn: Connection, call_id: str) -> list[tuple[str, str]]:
    """The open questions of calls with this id and their tenants, as whoever sees all tenants finds them."""
    wanted = select(approvals.c.id, approvals.c.tenant_id)
    found = wanted.where(approvals.c.call_id == fit_column(call_id), approvals.c.status == "pending")
    return [(row.id, row.tenant_id) for row in conn.execute(found)]


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
    wanted = [approvals.c.tenant_id == tenant, approvals.c.status == "pending", _not_expired(now)]
    place = (approvals.c.created_at, approvals.c.id)
    if after is not None:
        last = select(*place).where(approvals.c.tenant_id == tenant, approvals.c.id == fit_column(after))
        found_last = conn.execute(last).first()
        if found_last is not None:
            wanted.append(tuple_(*place) > tuple_(*found_last))
    rows = conn.execute(select(approvals).where(*wanted).order_by(*place).limit(limit)).all()
    return _requests_of_rows(conn, tenant, rows, seal)


def list_decided_requests(conn: Connection, tenant: str, seal: Seal, *, limit: int) -> list[ApprovalRequest]:
    """What was asked last and is over: of each way to end, so many by the index of open questions."""
    place = (approvals.c.created_at.desc(), approvals.c.id.desc())
    rows: list[Row[Any]] = []
    for status in _DECIDED:
        ended = (approvals.c.tenant_id == tenant, approvals.c.status == status)
        rows += conn.execute(select(approvals).where(*ended).order_by(*place).limit(limit)).all()
    return _requests_of_rows(conn, tenant, rows, seal)


def _requests_of_rows(
    conn: Connection, tenant: str, rows: Sequence[Row[Any]], seal: Seal
) -> list[ApprovalRequest]:
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
    on_settled: OnSettled,
) -> ApprovalRequest | None:
    """End a question, once, or count a vote. Whoever ends it has the rest done in the same transaction."""
    request = get_request(conn, tenant, approval_id, seal, lock=True)
    after = None if request is None else settle(request, status, reply, now)
    if after is None:
        return None
    if after.status == "pending":
        _write_votes(conn, tenant, after)
        return after
    late = approvals.c.expires_at <= now if status == "expired" else _not_expired(now)
    this = (approvals.c.tenant_id == tenant, approvals.c.id == approval_id)
    changed = conn.execute(
        update(approvals)
        .where(*this, approvals.c.status == "pending", late)
        .values(answer_columns(after, seal))
    )
    if changed.rowcount != 1:
        return None
    _write_votes(conn, tenant, after)
    on_settled(conn, after, reply)
    return after


def expire_due(
    conn: Connection, now: float, *, seal: Seal, on_settled: OnSettled, limit: int = 100
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
                    conn, tenant, approval_id, "expired", None, now=now, seal=seal, on_settled=on_settled
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


def forget_request_arguments(conn: Connection, tenant: str, approval_id: str, seal: Seal) -> bool:
    """Forget the exact arguments of a question whose call is over; what it shows stays."""
    request = get_request(conn, tenant, approval_id, seal, lock=True)
    if request is None or request.status == "pending":
        return False
    values = {**answer_columns(request, seal, over=True), "sealed": sealed_call(request, seal, over=True)}
    this = (approvals.c.tenant_id == tenant, approvals.c.id == approval_id)
    return conn.execute(update(approvals).where(*this).values(values)).rowcount == 1


def forget_call_arguments(conn: Connection, tenant: str, call_id: str, seal: Seal) -> int:
    """The same by the call; of how many questions. What cannot be opened stays sealed as it is."""
    asked = (approvals.c.tenant_id == tenant, approvals.c.call_id == fit_column(call_id))
    count = 0
    for approval_id in conn.execute(select(approvals.c.id).where(*asked)).scalars().all():
        with suppress(SealError):
            count += forget_request_arguments(conn, tenant, approval_id, seal)
    return count


def _not_expired(now: float) -> Any:
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
