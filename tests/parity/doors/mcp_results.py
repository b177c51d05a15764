"""What an MCP client gets, and what it must get for what the library answers."""

from __future__ import annotations

import json
from typing import Any

from mcp import Client
from mcp.shared.exceptions import MCPError

from handrail import Handrail, Outcome
from handrail.core.run.catalogue.export import to_mcp
from tests.parity.cases import Case
from tests.parity.compare import Events, as_json

APPROVAL = "handrail/approval"


async def ask(client: Client, name: str, args: Any, state: str | None = None) -> Any:
    """One round of a call, as data."""
    try:
        told = await client.session.call_tool(name, args, request_state=state, allow_input_required=True)
    except MCPError as error:
        return {"error": {"code": error.code, "message": error.message}}
    return told.model_dump(by_alias=True, exclude_none=True, mode="json")


def answer_of(answer: Any) -> Any:
    """The answer without what is sealed or tells a time."""
    if "requestState" in answer:
        answer["requestState"] = "<sealed>"
    meta = answer.get("_meta", {})
    meta.pop("io.modelcontextprotocol/serverInfo", None)
    if APPROVAL in meta:
        meta[APPROVAL].pop("expiresAt", None)
    if not meta:
        answer.pop("_meta", None)
    return answer


def is_waiting(answer: Any) -> bool:
    """Whether somebody must decide still, or what they decided is not done yet."""
    return "requestState" in answer or '"code": "NEEDS_APPROVAL"' in str(answer.get("content"))


def carried(outcome: Outcome, case: Case, events: Events, hr: Handrail, modern: bool) -> Any:
    """What the protocol says for an outcome."""
    if case.cancel:
        return None
    if outcome.code == "TOOL_NOT_FOUND":
        return {"error": {"code": -32602, "message": f"Unknown tool: {outcome.result.error}"}}
    if outcome.status == "pending":
        return _waits(outcome, modern)
    told = as_json(outcome.to_mcp())
    tool = hr.registry.get(outcome.tool)
    promised = tool is not None and "outputSchema" in to_mcp(tool)
    told["resultType"] = "complete"  # which the client adds for older servers
    if not modern:
        told |= _as_object(told, promised)
    if promised and outcome.result.data is None and outcome.tool != "out.none":
        told["isError"] = True  # a client holds a tool to its output schema, unless it is an error
    if case.decide is not None:
        told["_meta"] = {APPROVAL: _decided(outcome, case, events)}
        if case.decide.how == "edit":
            used = json.dumps(case.decide.what)
            said = f"A person changed the arguments before it ran. It ran with: {used}"
            told["content"].append({"type": "text", "text": said})
    return {name: value for name, value in told.items() if value is not None}


def _as_object(told: Any, promised: bool) -> dict[str, Any]:
    """Before 2026, structured content was an object: what has a schema and is none is wrapped."""
    content = told.get("structuredContent")
    if content is None or isinstance(content, dict):
        return {}
    return {"structuredContent": {"result": content} if promised else None}


_STATUS = {"approve": "approved", "edit": "approved", "reject": "rejected", "respond": "responded"}


def _waits(outcome: Outcome, modern: bool) -> Any:
    assert outcome.decision is not None
    reason, approval = outcome.decision.reason, outcome.approval_id
    meta = {APPROVAL: {"id": approval, "status": "pending", "reason": reason}}
    if modern:
        return {"resultType": "input_required", "requestState": "<sealed>", "_meta": meta}
    text = (
        f"{reason}. It waits for a person (approval {approval}); nothing was run yet. To get the outcome, "
        "call the same tool again with the same arguments: that does not ask or run it twice."
    )
    told = {"error": text, "code": "NEEDS_APPROVAL", "approval": approval}
    content = [{"type": "text", "text": json.dumps(told, ensure_ascii=False)}]
    return {"isError": True, "_meta": meta, "content": content, "resultType": "complete"}


def _decided(outcome: Outcome, case: Case, events: Events) -> Any:
    assert case.decide is not None
    [reason] = [one["reason"] for one in events if one["type"] == "tool.needs_approval"]
    told = {"id": outcome.approval_id, "status": _STATUS[case.decide.how], "reason": reason}
    if case.decide.how == "edit":
        told |= {"edited": True, "arguments": case.decide.what}
    return told
