"""bridges.md: pydantic-ai."""

import asyncio

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from handrail import Handrail, Principal, tool


@tool("stock.scrap", level="destructive")
async def scrap(item: str) -> str:
    """Scrap all pieces of an item, on every shelf of the house and for good; what was reserved of it for an
    order is lost along with the rest, and nothing brings it back.

    Use it when the item is spoilt. Not to correct a count. Call stock.count first.

    Args:
        item: The item's name, such as bolt.
    """
    return f"No {item} is left."


ops = Principal(tenant="acme", user="ana", agent="ops")
boss = Principal(tenant="acme", user="bea", permissions=["approvals.decide"])


def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
        return ModelResponse(parts=[TextPart("Done.")])
    return ModelResponse(parts=[ToolCallPart("stock__scrap", {"item": "bolt"}, tool_call_id="c1")])


model = FunctionModel(reply)


async def main() -> None:
    # region deferred
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolApproved

    from handrail.bridges.pydantic_ai import GuardedToolset, settle

    async with Handrail([scrap]) as hr:
        agent = Agent(model, toolsets=[GuardedToolset(hr, ops)], output_type=[str, DeferredToolRequests])
        first = await agent.run("Scrap the bolts.")
        assert isinstance(first.output, DeferredToolRequests)

        # A person decides: the nuts instead. It runs once, here.
        word = DeferredToolResults(approvals={"c1": ToolApproved(override_args={"item": "nut"})})
        results = await settle(hr, first.output, word, by=boss)

        done = await agent.run(message_history=first.all_messages(), deferred_tool_results=results)
        assert done.output == "Done." and "No nut is left." in repr(done.all_messages())
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
