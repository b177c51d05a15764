"""How an outcome is sent over HTTP: status, body and headers; one row a line."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from handrail.core.define.call import Outcome
from handrail.platform.responses import JSON_TYPE, error_body, json_bytes

_STATUS_CODES = {
    "completed": 200,
    "failed": 200,
    "duplicate": 200,
    "pending": 202,
    "queued": 202,
    "cancelled": 499,
    "needs_review": 409,
}
_REFUSED_CODES = {
    "TOOL_NOT_FOUND": 404,
    "NOT_PERMITTED": 403,
    "MISSING_PARAM": 422,
    "INVALID_PARAM": 422,
    "STALE_TOOL": 409,
    "TOOL_CHANGED": 409,
    "SECRET_MISSING": 409,
    "NOT_APPROVED": 409,
    "PLAN_FULL": 409,
    "RESOURCE_BUSY": 409,
    "KEY_REUSED": 409,
    "CALL_ID_IN_USE": 409,
    "INTERRUPTED": 409,
    "TOOL_UNAVAILABLE": 503,
    "APPROVER_FAILED": 503,
    "LOG_UNAVAILABLE": 503,
    "INTERNAL_ERROR": 500,
}
"""A rule may refuse with a code of its own: that is not permitted."""
_PERSONS_ANSWERS = frozenset({"REJECTED", "APPROVAL_EXPIRED"})
"""Refusals that are somebody's answer: told as such, and a conflict for whoever asks again."""


def status_of(outcome: Outcome, again: bool = False) -> int:
    """The HTTP status of an outcome; `again` when it may answer for an earlier call of the same key."""
    if outcome.status != "refused":
        return _STATUS_CODES[outcome.status]
    if outcome.code in _PERSONS_ANSWERS:
        return 409 if again else 200
    return _REFUSED_CODES.get(outcome.code or "", 403)


def outcome_response(outcome: Outcome, again: bool = False) -> Response:
    """What whoever called is told."""
    status = status_of(outcome, again)
    if status >= 400:
        return Response(refusal_body(outcome), status, {"x-call-id": outcome.call_id}, JSON_TYPE)
    headers = None
    if status == 202:
        waits = outcome.approval_id
        headers = {"location": approval_url(waits) if waits else call_url(outcome.call_id)}
    return Response(json_bytes(outcome_json(outcome)), status, headers, JSON_TYPE)


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON data."""
    result = outcome.result
    body: dict[str, Any] = {
        "status": outcome.status,
        "success": outcome.ok,
        "code": result.code,
        "tool": outcome.tool,
        "call_id": outcome.call_id,
        "run_id": outcome.run_id,
        "duration_ms": outcome.duration_ms,
        "repairs": [repair.to_dict() for repair in outcome.repairs],
        "result": result.to_dict(),
        "url": f"/api/calls/{result.metadata.get('duplicate_of', outcome.call_id)}",
    }
    if outcome.approval_id is not None:
        body["approval"] = {"id": outcome.approval_id, "url": approval_url(outcome.approval_id)}
    return body


def refusal_body(outcome: Outcome) -> bytes:
    """The refusal of a call in the one shape of all refusals."""
    result = outcome.result
    message = result.error or result.summary or outcome.status
    code = result.code or outcome.status.upper()
    return error_body(code, message, fields=result.metadata.get("fields"), hint=_hint(outcome))


def _hint(outcome: Outcome) -> str | None:
    if outcome.code == "STALE_TOOL":
        return f"Its digest is now {outcome.result.metadata.get('digest')}."
    if outcome.approval_id is not None:
        return f"See {approval_url(outcome.approval_id)}."
    return None


def approval_url(approval_id: str) -> str:
    return f"/api/approvals/{quote(approval_id, safe='')}"


def call_url(call_id: str) -> str:
    return f"/api/calls/{quote(call_id, safe='')}"
