"""LangChain: one tool object, invoked and awaited; and a message of a model that asks for a call."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from handrail import Outcome
from handrail.bridges import langchain
from handrail.ext.tools import wire_name
from tests.parity.cases import Case
from tests.parity.compare import as_json
from tests.parity.doors.bridge_driver import ID, PICTURE, Bridge
from tests.parity.people import PEOPLE


class _LangChain(Bridge):
    def told(self, outcome: Outcome) -> Any:
        content: Any = outcome.to_model()
        if outcome.result.attachments:
            picture = {"type": "image", "base64": PICTURE["base64"], "mime_type": PICTURE["mime"]}
            content = [{"type": "text", "text": content}, picture]
        failed = not outcome.result.success and outcome.status != "pending"
        ended = {
            "status": outcome.status,
            "tool": outcome.tool,
            "call_id": outcome.call_id,
            "run_id": outcome.run_id,
            "approval_id": outcome.approval_id,
        }
        return {
            "content": content,
            "status": "error" if failed else "success",
            "name": wire_name(outcome.tool),
            "id": ID,
            "artifact": as_json({**outcome.result.to_dict(), "outcome": ended}),
        }

    async def tool(self, case: Case) -> langchain.GuardedTool:
        known = self.world.hr.registry.get(case.tool)
        name = self.spelled(known.id if known is not None else case.tool)
        return next(one for one in await langchain.tools(self.world.hr, PEOPLE[case.who]) if one.name == name)


class LangChainInvoke(_LangChain):
    name = "langchain invoke"

    async def call(self, case: Case, args: Any) -> Any:
        tool = await self.tool(case)
        return _data(await asyncio.to_thread(tool.invoke, _sent(tool.name, args)))


class LangChainAinvoke(_LangChain):
    name = "langchain ainvoke"

    async def call(self, case: Case, args: Any) -> Any:
        tool = await self.tool(case)
        return _data(await tool.ainvoke(_sent(tool.name, args)))


class LangChainMessage(_LangChain):
    name = "langchain message"

    async def call(self, case: Case, args: Any) -> Any:
        message = AIMessage("")
        if isinstance(args, str):
            wrong = {"name": self.spelled(case.tool), "args": args, "id": ID, "error": None}
            message.invalid_tool_calls.append({**wrong, "type": "invalid_tool_call"})  # type: ignore[typeddict-item]  # the shape is that of the dict above
        else:
            message.tool_calls.append({"name": self.spelled(case.tool), "args": args, "id": ID})
        [answer] = await langchain.run_tool_calls(
            self.world.hr, message, PEOPLE[case.who], session=case.key, keyed=case.key is not None
        )
        return _data(answer)


def _sent(name: str, args: Any) -> Any:
    return {"type": "tool_call", "id": ID, "name": name, "args": args}


def _data(answer: ToolMessage) -> Any:
    return {
        "content": answer.content,
        "status": answer.status,
        "name": answer.name,
        "id": answer.tool_call_id,
        "artifact": as_json(answer.artifact),
    }
