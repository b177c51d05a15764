"""How a question stands in a row: what anybody may see in the open, the exact call sealed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy.engine import Row

from handrail.core.guard.approval import ApprovalRequest, Arguments, Reply, Vote
from handrail.store.kept import (
    call_data,
    call_of,
    decision_data,
    decision_of,
    repairs_data,
    repairs_of,
    result_data,
    result_of,
)
from handrail.store.sealing import Seal
from handrail.store.text import column, dump, load


def to_row(request: ApprovalRequest, seal: Seal) -> dict[str, Any]:
    call, principal = request.call, request.principal
    return {
        "tenant_id": principal.tenant,
        "id": request.id,
        "call_id": column(call.id or ""),
        "session_id": column(call.session or f"call:{call.id}"),
        "tool": request.tool,
        "tool_digest": request.tool_digest,
        "level": request.level,
        "danger": request.danger,
        "decision": dump(decision_data(request.decision)),
        "user_id": None if principal.user is None else column(principal.user),
        "agent": None if principal.agent is None else column(principal.agent),
        "source": call.source,
        "args": dump(request.args),
        "args_hash": request.args_hash,
        "repairs": dump(repairs_data(request.repairs)),
        "sealed": sealed_call(request, seal),
        "quorum": request.quorum,
        "four_eyes": request.four_eyes,
        "created_at": request.created_at,
        "expires_at": request.expires_at,
        **answer_columns(request, seal),
    }


def sealed_call(request: ApprovalRequest, seal: Seal, over: bool = False) -> str:
    """The exact call. Once it is over, its arguments, secrets and preview are not kept any more."""
    value: dict[str, Any] = {"call": call_data(request.call), "raw": None, "secrets": [], "preview": None}
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
        "reply": None if request.answer is None else dump(_reply_data(request, request.answer, seal, over)),
        "edited_args": None if edited is None else dump(edited.shown),
        "edited_hash": None if edited is None else edited.hash,
        "effective_args": None if effective is None else dump(effective.shown),
        "effective_hash": None if effective is None else effective.hash,
    }


def _reply_data(request: ApprovalRequest, reply: Reply, seal: Seal, over: bool) -> dict[str, Any]:
    result = None if reply.result is None or over else result_data(reply.result)
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
    edited = _arguments(row.edited_args, row.edited_hash)
    effective = _arguments(row.effective_args, row.effective_hash)
    return ApprovalRequest(
        id=row.id,
        call=call_of(kept["call"]),
        tool=row.tool,
        tool_digest=row.tool_digest,
        args=load(row.args),
        args_hash=row.args_hash,
        level=row.level,
        danger=row.danger,
        decision=decision_of(load(row.decision)),
        created_at=row.created_at,
        expires_at=row.expires_at,
        repairs=repairs_of(load(row.repairs)),
        raw=kept["raw"],
        secrets=frozenset(kept["secrets"]),
        preview=kept.get("preview"),
        quorum=row.quorum,
        four_eyes=row.four_eyes,
        status=row.status,
        votes=tuple(Vote(vote.user_id, vote.effective_hash, vote.at) for vote in votes),
        decided_by=row.decided_by,
        decided_at=row.decided_at,
        answer=None if row.reply is None else _reply(row, load(row.reply), edited, effective, seal),
        edited=edited,
        effective=effective,
    )


def _arguments(shown: str | None, fingerprint: str | None) -> Arguments | None:
    return None if shown is None or fingerprint is None else Arguments(load(shown), fingerprint)


def _reply(
    row: Row[Any], data: dict[str, Any], edited: Arguments | None, effective: Arguments | None, seal: Seal
) -> Reply:
    exact = seal.open(row.tenant_id, data["sealed"], f"reply:{row.id}")
    return Reply(
        verdict=data["verdict"],
        by=data["by"],
        edits=exact["edits"],
        reason=data["reason"],
        result=None if exact["result"] is None else result_of(exact["result"]),
        for_session=data["for_session"],
        edited=edited,
        effective=effective,
    )
