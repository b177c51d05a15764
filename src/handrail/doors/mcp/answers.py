"""Answers: how an outcome is told in the protocol's words. Pure."""

from __future__ import annotations

import json
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.core.guard.approval import ApprovalRequest
from handrail.doors.mcp.shapes import output_schema, structured

APPROVAL = "handrail/approval"
"""In `_meta`: what is known of the approval that a call waits for, or waited for."""


def answer(
    outcome: Outcome, tool: Tool | None, modern: bool, asked: ApprovalRequest | None = None
) -> dict[str, Any]:
    """The result of a `tools/call`. A tool that is unknown, or hidden, is an error of the protocol.

    Words alone, such as a person's answer in the tool's place, cannot stand for an output of which a shape is
    promised: a client would find its promise broken, so they are told as an error is.
    """
    if outcome.code == "TOOL_NOT_FOUND":
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {outcome.result.error or outcome.tool}")
    told = outcome.to_mcp()
    told.pop("structuredContent", None)
    if outcome.result.success:
        told |= structured(tool, outcome.result.data, modern)
        if "structuredContent" not in told and tool is not None and output_schema(tool, modern) is not None:
            told["isError"] = True
    if asked is not None:
        told["_meta"] = {APPROVAL: decided(asked)}
        if asked.edited is not None and asked.effective is not None:
            told["content"].append({"type": "text", "text": _edited(asked)})
    return told


def pending(asked: ApprovalRequest) -> dict[str, Any]:
    """For clients of 2025: it waits, and how to get at its end. No result, so no promise is broken."""
    text = (
        f"{asked.reason}. It waits for a person (approval {asked.id}); nothing was run yet. To get the "
        "outcome, call the same tool again with the same arguments: that does not ask or run it twice."
    )
    told = {"error": text, "code": "NEEDS_APPROVAL", "approval": asked.id}
    content = [{"type": "text", "text": json.dumps(told, ensure_ascii=False)}]
    return {"content": content, "isError": True, "_meta": {APPROVAL: decided(asked)}}


def unanswerable(asked: ApprovalRequest) -> dict[str, Any]:
    """Where no person could ever answer: said at once, since waiting would be for nothing."""
    text = (
        f"{asked.reason}. Nobody can be asked here, and nothing was run: there is no database in which the "
        "question could wait. Whoever set this server up can name one, and answer with `handrail approvals`."
    )
    told = {"error": text, "code": "NEEDS_APPROVAL"}
    content = [{"type": "text", "text": json.dumps(told, ensure_ascii=False)}]
    return {"content": content, "isError": True}


def input_required(asked: ApprovalRequest, state: str) -> dict[str, Any]:
    """For clients of today: come back with the state. There is nothing that the caller could fill in."""
    return {"resultType": "input_required", "requestState": state, "_meta": {APPROVAL: decided(asked)}}


def decided(asked: ApprovalRequest) -> dict[str, Any]:
    """An approval as its caller may know it."""
    told: dict[str, Any] = {"id": asked.id, "status": asked.status, "reason": asked.reason}
    if asked.expires_at is not None:
        told["expiresAt"] = asked.expires_at
    if asked.edited is not None and asked.effective is not None:
        told |= {"edited": True, "arguments": dict(asked.effective.shown)}
    return told


def _edited(asked: ApprovalRequest) -> str:
    assert asked.effective is not None
    used = json.dumps(dict(asked.effective.shown), ensure_ascii=False, default=str)
    return f"A person changed the arguments before it ran. It ran with: {used}"
