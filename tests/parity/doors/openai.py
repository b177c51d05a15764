"""OpenAI: a chat message and a response that ask for one call."""

from __future__ import annotations

import json
from typing import Any

from handrail import Outcome
from handrail.bridges import openai
from tests.parity.cases import Case
from tests.parity.doors.bridge_driver import ID, PICTURE, Bridge
from tests.parity.people import PEOPLE


class OpenAIChat(Bridge):
    name = "openai chat"

    async def call(self, case: Case, args: Any) -> Any:
        function = {"name": self.spelled(case.tool), "arguments": _text(args)}
        message = {"role": "assistant", "tool_calls": [{"id": ID, "type": "function", "function": function}]}
        return await _run(self, case, message)

    def told(self, outcome: Outcome) -> Any:
        lines = [f"[attached: {one.name} ({one.mime})]" for one in outcome.result.attachments]
        content = "\n".join([outcome.to_model(), *lines])
        return {"role": "tool", "tool_call_id": ID, "content": content}


class OpenAIResponses(Bridge):
    name = "openai responses"

    async def call(self, case: Case, args: Any) -> Any:
        item = {
            "type": "function_call", "call_id": ID, "name": self.spelled(case.tool), "arguments": _text(args)
        }  # fmt: skip
        return await _run(self, case, {"output": [item]})

    def told(self, outcome: Outcome) -> Any:
        output: Any = outcome.to_model()
        if outcome.result.attachments:
            url = f"data:{PICTURE['mime']};base64,{PICTURE['base64']}"
            picture = {"type": "input_image", "detail": "auto", "image_url": url}
            output = [{"type": "input_text", "text": output}, picture]
        return {"type": "function_call_output", "call_id": ID, "output": output}


async def _run(bridge: Bridge, case: Case, message: Any) -> Any:
    keyed = case.key is not None
    answers = await openai.run_tool_calls(
        bridge.world.hr, message, PEOPLE[case.who], session=case.key, keyed=keyed
    )
    [answer] = answers
    return answer


def _text(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args)
