"""Results of `tools/call`, and output schemas as clients of each protocol revision know them. Pure."""

from __future__ import annotations

import json
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.core.define.validation import InvalidValue
from handrail.core.guard.approval_request import ApprovalRequest, ShownArguments
from handrail.core.run.normalise import is_described

_HOISTED = ("$defs", "definitions")


def output_schema(tool: Tool, modern: bool) -> dict[str, Any] | None:
    """What a client is told of a tool's output; None where nothing can be promised to it."""
    schema = tool.output_schema
    if schema is None or not is_described(tool):
        return None
    if modern or schema.get("type") == "object":
        return dict(schema)
    if _refers_to_itself(schema):
        return None
    inner = {name: part for name, part in schema.items() if name not in (*_HOISTED, "$schema")}
    hoisted = {name: schema[name] for name in _HOISTED if name in schema}
    return {"type": "object", "properties": {"result": inner}, "required": ["result"], **hoisted}


def structured_content(tool: Tool | None, data: Any, modern: bool) -> dict[str, Any]:
    """The structured content of a success: under its name in the answer, or nothing."""
    promised = None if tool is None else output_schema(tool, modern)
    if data is None and not (tool is not None and promised is not None and _may_be_null(tool)):
        return {}
    if modern:
        return {"structuredContent": data}
    if tool is not None and promised is not None and (tool.output_schema or {}).get("type") != "object":
        return {"structuredContent": {"result": data}}
    return {"structuredContent": data} if isinstance(data, dict) else {}


def _may_be_null(tool: Tool) -> bool:
    if tool.check_output is None:
        return False
    try:
        return tool.check_output(None) is None
    except (InvalidValue, ValueError, TypeError):
        return False


def _refers_to_itself(schema: Any) -> bool:
    """Whether a schema refers to itself as a whole, and so cannot stand inside another."""
    if isinstance(schema, dict):
        return schema.get("$ref") == "#" or any(map(_refers_to_itself, schema.values()))
    return isinstance(schema, list) and any(map(_refers_to_itself, schema))


APPROVAL_META_KEY = "handrail/approval"
"""In `_meta`: what is known of the approval that a call waits for, or waited for."""


def call_result(
    outcome: Outcome, tool: Tool | None, modern: bool, approval: ApprovalRequest | None = None
) -> dict[str, Any]:
    """The result of a `tools/call`. A tool that is unknown, or hidden, is an error of the protocol.

    Words alone, such as a person's answer in the tool's place, cannot stand for an output of which a shape is
    promised: a client would find its promise broken, so they are told as an error is.
    """
    if outcome.code == "TOOL_NOT_FOUND":
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {outcome.result.error or outcome.tool}")
    result = outcome.to_mcp()
    result.pop("structuredContent", None)
    if outcome.result.success:
        result |= structured_content(tool, outcome.result.data, modern)
        if "structuredContent" not in result and tool is not None and output_schema(tool, modern) is not None:
            result["isError"] = True
    if approval is not None:
        result["_meta"] = {APPROVAL_META_KEY: approval_meta(approval)}
        if approval.edited is not None and approval.effective is not None:
            result["content"].append({"type": "text", "text": _edited_note(approval.effective)})
    return result


def pending_result(approval: ApprovalRequest) -> dict[str, Any]:
    """For clients of 2025: it waits, and how to get at its end. No result, so no promise is broken."""
    text = (
        f"{approval.reason}. It waits for a person (approval {approval.id}); nothing was run yet. To get the "
        "outcome, call the same tool again with the same arguments: that does not ask or run it twice."
    )
    data = {"error": text, "code": "NEEDS_APPROVAL", "approval": approval.id}
    content = [{"type": "text", "text": json.dumps(data, ensure_ascii=False)}]
    return {"content": content, "isError": True, "_meta": {APPROVAL_META_KEY: approval_meta(approval)}}


def nobody_can_approve(approval: ApprovalRequest) -> dict[str, Any]:
    """Where no person could ever answer: said at once, since waiting would be for nothing."""
    text = (
        f"{approval.reason}. Nobody can be asked here, and nothing was run: there is no database in which "
        "the question could wait. Whoever set this server up can name one, and answer with "
        "`handrail approvals`."
    )
    data = {"error": text, "code": "NEEDS_APPROVAL"}
    content = [{"type": "text", "text": json.dumps(data, ensure_ascii=False)}]
    return {"content": content, "isError": True}


def input_required(approval: ApprovalRequest, state: str) -> dict[str, Any]:
    """For clients of today: come back with the state. There is nothing that the caller could fill in."""
    return {
        "resultType": "input_required",
        "requestState": state,
        "_meta": {APPROVAL_META_KEY: approval_meta(approval)},
    }


def approval_meta(approval: ApprovalRequest) -> dict[str, Any]:
    """An approval as its caller may know it."""
    meta: dict[str, Any] = {"id": approval.id, "status": approval.status, "reason": approval.reason}
    if approval.expires_at is not None:
        meta["expiresAt"] = approval.expires_at
    if approval.edited is not None and approval.effective is not None:
        meta |= {"edited": True, "arguments": dict(approval.effective.shown)}
    return meta


def _edited_note(effective: ShownArguments) -> str:
    used = json.dumps(dict(effective.shown), ensure_ascii=False, default=str)
    return f"A person changed the arguments before it ran. It ran with: {used}"
