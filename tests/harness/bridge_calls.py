"""One call over each bridge, as a model would make it: how it ended, and what the provider is told.

Each takes a Handrail, the principal, the name as it goes over the wire, and the
arguments: JSON data, or the text that a provider carries.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from handrail import Handrail, Outcome, Principal
from handrail.bridges import anthropic, langchain, openai, pydantic_ai

ID = "call_1"
BridgeResult = tuple[Outcome, Any]


def text_of(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args)


async def over_openai_chat(hr: Handrail, who: Principal, name: str, args: Any, **more: Any) -> BridgeResult:
    function = {"name": name, "arguments": text_of(args)}
    message = {"role": "assistant", "tool_calls": [{"id": ID, "type": "function", "function": function}]}
    [outcome] = await hr.call_many(openai.calls(message, who, **more))
    [answer] = openai.tool_messages([outcome])
    return outcome, answer


async def over_openai_responses(
    hr: Handrail, who: Principal, name: str, args: Any, **more: Any
) -> BridgeResult:
    item = {"type": "function_call", "call_id": ID, "name": name, "arguments": text_of(args)}
    [outcome] = await hr.call_many(openai.calls({"output": [item]}, who, **more))
    [answer] = openai.function_call_outputs([outcome])
    return outcome, answer


async def over_anthropic(hr: Handrail, who: Principal, name: str, args: Any, **more: Any) -> BridgeResult:
    message = {"role": "assistant", "content": [{"type": "tool_use", "id": ID, "name": name, "input": args}]}
    [outcome] = await hr.call_many(anthropic.calls(message, who, **more))
    [answer] = anthropic.tool_results([outcome])
    return outcome, answer


async def over_langchain(hr: Handrail, who: Principal, name: str, args: Any, **more: Any) -> BridgeResult:
    """Through the StructuredTool; what LangChain has no tool or no arguments for, through its message."""
    known = {one.name: one for one in await langchain.tools(hr, who, **more)}
    if name in known and isinstance(args, dict):
        heard = capture_outcome(hr)
        call = {"type": "tool_call", "id": ID, "name": name, "args": args}
        answer = await known[name].ainvoke(call)
        return heard(), answer
    sent: dict[str, Any] = {"name": name, "args": args, "id": ID}
    message = AIMessage("", tool_calls=[sent] if isinstance(args, dict) else [])
    if not isinstance(args, dict):
        message.invalid_tool_calls.append({**sent, "error": None, "type": "invalid_tool_call"})  # type: ignore[typeddict-item]  # the shape is that of the dict above
    [outcome] = await hr.call_many(langchain.calls(message, who, **more))
    [told] = langchain.tool_messages([outcome])
    return outcome, told


async def over_pydantic_ai(hr: Handrail, who: Principal, name: str, args: Any, **more: Any) -> BridgeResult:
    """Through an agent of pydantic-ai, whose model makes this call and then stops.

    A name that it was not given never reaches us: pydantic-ai answers it by itself.
    """
    heard = capture_outcome(hr)
    toolset = pydantic_ai.GuardedToolset(hr, who, **more)
    agent = Agent(model_that_calls(name, args), toolsets=[toolset], output_type=[str, DeferredToolRequests])
    done = await agent.run("go")
    if isinstance(done.output, DeferredToolRequests):
        return heard(), done.output
    return heard(), tool_returns(done.all_messages())[0]


def model_that_calls(name: str, args: Any) -> FunctionModel:
    """A model that makes one call, and is done once it has the answer."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if tool_returns(messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(name, args, tool_call_id=ID)])

    return FunctionModel(reply)


def tool_returns(messages: list[ModelMessage]) -> list[ToolReturnPart]:
    return [part for one in messages for part in one.parts if isinstance(part, ToolReturnPart)]


def capture_outcome(hr: Handrail) -> Callable[[], Outcome]:
    """Hear the outcome of the next call, which a framework keeps to itself."""
    outcomes: list[Outcome] = []
    call = hr.call

    async def heard(*args: Any, **options: Any) -> Outcome:
        outcome = await call(*args, **options)
        outcomes.append(outcome)
        return outcome

    hr.call = heard  # type: ignore[method-assign]  # the instance's own, taken away again below

    def last() -> Outcome:
        del hr.call
        return outcomes[-1]

    return last


BRIDGES: dict[str, Callable[..., Awaitable[BridgeResult]]] = {
    "openai chat": over_openai_chat,
    "openai responses": over_openai_responses,
    "anthropic": over_anthropic,
    "langchain": over_langchain,
    "pydantic-ai": over_pydantic_ai,
}


def answer_text(answer: Any) -> str:
    """The text in a provider's answer."""
    if isinstance(answer, ToolMessage):
        return str(answer.content)
    if isinstance(answer, ToolReturnPart):
        return answer.model_response_str(wrap_if_error=False)
    content = answer.get("content") or answer.get("output")
    return str(content if isinstance(content, str) else content[0]["text"])
