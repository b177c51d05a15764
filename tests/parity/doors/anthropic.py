"""Anthropic: a message with one tool_use block."""

from __future__ import annotations

from typing import Any

from handrail import Outcome
from handrail.bridges import anthropic
from tests.parity.cases import Case
from tests.parity.doors.bridge_driver import ID, PICTURE, Bridge
from tests.parity.people import PEOPLE


class Anthropic(Bridge):
    name = "anthropic"

    async def call(self, case: Case, args: Any) -> Any:
        block = {"type": "tool_use", "id": ID, "name": self.spelled(case.tool), "input": args}
        [answer] = await anthropic.run_tool_calls(
            self.world.hr,
            {"role": "assistant", "content": [block]},
            PEOPLE[case.who],
            session=case.key,
            keyed=case.key is not None,
        )
        return answer

    def told(self, outcome: Outcome) -> Any:
        content: list[dict[str, Any]] = [{"type": "text", "text": outcome.to_model()}]
        if outcome.result.attachments:
            source = {"type": "base64", "media_type": PICTURE["mime"], "data": PICTURE["base64"]}
            content.append({"type": "image", "source": source})
        block = {
            "type": "tool_result",
            "tool_use_id": ID,
            "content": content,
            "is_error": not outcome.result.success,
        }
        return {"role": "user", "content": [block]}
