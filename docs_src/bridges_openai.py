"""bridges.md: OpenAI."""

import asyncio
from types import SimpleNamespace
from typing import Any

from handrail import Handrail, Principal, tool


@tool("stock.count", level="read")
async def count_stock(item: str) -> int:
    """Say how many pieces of an item are in stock.

    Args:
        item: The item's name, such as bolt.
    """
    return 9


agent = Principal(tenant="acme", user="ana", agent="ops")


class Chat:
    """A provider that is not asked for real."""

    async def create(self, messages: list[Any], tools: list[Any], **_: Any) -> Any:
        if len(messages) > 1:
            return reply(None)
        function = {"name": tools[0]["function"]["name"], "arguments": '{"item": "bolt"}'}
        return reply([{"id": "call_7f3", "type": "function", "function": function}])


def reply(calls: Any) -> Any:
    message = SimpleNamespace(role="assistant", content=None, tool_calls=calls)
    return SimpleNamespace(choices=[SimpleNamespace(message=message)])


client = SimpleNamespace(chat=SimpleNamespace(completions=Chat()))


async def main() -> None:
    # region chat
    from handrail.bridges import openai

    async with Handrail([count_stock]) as hr:
        messages: list[Any] = [{"role": "user", "content": "How many bolts are there?"}]
        while True:
            completion = await client.chat.completions.create(
                model="any", messages=messages, tools=await openai.tools(hr, agent)
            )
            answers = await openai.run_tool_calls(hr, completion, agent, session="chat-1")
            if not answers:
                break
            messages += [completion.choices[0].message, *answers]
        assert messages[-1] == {"role": "tool", "tool_call_id": "call_7f3", "content": "9"}
    # endregion

    # region parts
    from handrail.bridges.openai import calls, function_call_outputs, response_tools

    async with Handrail([count_stock]) as hr:
        tools = await response_tools(hr, agent)
        args = '{"item": "bolt", "day": "today"}'
        item = {"type": "function_call", "call_id": "c1", "name": "stock__count", "arguments": args}
        proposed = calls([item], agent, session="chat-1", turn=2)
        outcomes = await hr.call_many(proposed)
        assert outcomes[0].code == "INVALID_PARAM"
        assert function_call_outputs(outcomes)[0]["call_id"] == "c1"
    # endregion
    assert tools[0]["strict"] is True


if __name__ == "__main__":
    asyncio.run(main())
