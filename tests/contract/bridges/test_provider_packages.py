"""The packages of OpenAI and Anthropic read what we make, and we read what they make."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import Message, ToolParam, ToolResultBlockParam
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from openai.types.chat import ChatCompletion, ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
from openai.types.responses import FunctionToolParam, Response
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

from handrail import Attachment, Call, Handrail, Principal, Result, tool
from handrail.bridges import anthropic, openai

ANA = Principal("acme", "ana", agent="ops")
PNG = b"\x89PNG\r\n"


@tool("data.find", level="read")
async def find(query: str) -> dict[str, str]:
    """Find records."""
    return {"found": query}


@tool("data.draw", level="read")
async def draw(wide: bool = False) -> Result:
    """Draw a chart."""
    attached = (
        Attachment("image/png", "chart.png", PNG),
        Attachment("application/pdf", "chart.pdf", b"%PDF"),
        Attachment("text/csv", "chart.csv", ref="blob:1"),
    )
    return Result(output="Drawn.", attachments=attached)


TOOLS = [find, draw]


def completion(*calls: tuple[str, str, str]) -> dict[str, Any]:
    sent = [
        {"id": one, "type": "function", "function": {"name": name, "arguments": args}}
        for one, name, args in calls
    ]
    message = {"role": "assistant", "content": None, "tool_calls": sent}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message, "logprobs": None}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def response(*calls: tuple[str, str, str]) -> dict[str, Any]:
    items: list[dict[str, Any]] = [
        {"type": "function_call", "id": f"fc_{one}", "call_id": one, "name": name, "arguments": args}
        for one, name, args in calls
    ]
    items.insert(0, {"type": "reasoning", "id": "r", "summary": []})
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def message(*calls: tuple[str, str, str]) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": "Let me look."}]
    blocks += [
        {"type": "tool_use", "id": one, "name": name, "input": json.loads(args)} for one, name, args in calls
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    return {**head, "content": blocks, "stop_reason": "tool_use", "stop_sequence": None}


def plain(calls: list[Call]) -> list[tuple[Any, ...]]:
    return [(str(one.id).rpartition("~")[0], one.tool, one.args, one.principal, one.source) for one in calls]


@pytest.mark.req("AB-09", "AB-08")
async def test_the_tools_are_what_the_packages_send() -> None:
    async with Handrail(TOOLS) as hr:
        chat = await openai.tools(hr, ANA)
        TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(chat, strict=True)
        assert [one["function"].get("strict") for one in chat] == [None, True]
        responses = await openai.response_tools(hr, ANA)
        TypeAdapter(list[FunctionToolParam]).validate_python(responses, strict=True)
        assert [one["strict"] for one in responses] == [False, True]
        TypeAdapter(list[ToolParam]).validate_python(await anthropic.tools(hr, ANA))


CALLS = [("a1", "data__find", '{"query": "x"}'), ("b2", "data__draw", "{}"), ("c3", "none", "{}")]


@pytest.mark.req("AB-09")
async def test_a_chat_completion_becomes_calls_and_messages_under_its_ids() -> None:
    sent = completion(*CALLS)
    parsed = ChatCompletion.model_validate(sent)
    forms = [sent, parsed, sent["choices"][0]["message"], parsed.choices[0].message]
    assert len({str(plain(openai.calls(form, ANA))) for form in forms}) == 1
    assert plain(openai.calls(parsed, ANA))[0] == ("a1", "data__find", {"query": "x"}, ANA, "agent")
    async with Handrail(TOOLS) as hr:
        answers = await openai.run_tool_calls(hr, parsed, ANA)
    TypeAdapter(list[ChatCompletionToolMessageParam]).validate_python(answers)
    assert answers == snapshot(
        [
            {"role": "tool", "tool_call_id": "a1", "content": '{"found":"x"}'},
            {
                "role": "tool",
                "tool_call_id": "b2",
                "content": """\
Drawn.
[attached: chart.png (image/png)]
[attached: chart.pdf (application/pdf)]
[attached: chart.csv (text/csv) at blob:1]\
""",
            },
            {
                "role": "tool",
                "tool_call_id": "c3",
                "content": '{"error":"There is no tool \'none\'. List the tools to see which there are.",'
                '"code":"TOOL_NOT_FOUND"}',
            },
        ]
    )


@pytest.mark.req("AB-09")
async def test_a_response_becomes_calls_and_outputs_under_its_ids() -> None:
    sent = response(*CALLS)
    parsed = Response.model_validate(sent)
    forms = [sent, parsed, sent["output"], parsed.output]
    assert len({str(plain(openai.calls(form, ANA))) for form in forms}) == 1
    async with Handrail(TOOLS) as hr:
        answers = await openai.run_tool_calls(hr, parsed, ANA)
        [alone] = await openai.run_tool_calls(hr, parsed.output[1], ANA)
    TypeAdapter(list[FunctionCallOutput]).validate_python(answers)
    assert alone == answers[0]
    assert [one["call_id"] for one in answers] == ["a1", "b2", "c3"]
    assert answers[0]["output"] == '{"found":"x"}'
    assert answers[1]["output"] == snapshot(
        [
            {
                "type": "input_text",
                "text": """\
Drawn.
[attached: chart.pdf (application/pdf)]
[attached: chart.csv (text/csv) at blob:1]\
""",
            },
            {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0K"},
        ]
    )


@pytest.mark.req("AB-09")
async def test_a_message_of_anthropic_becomes_calls_and_results_under_its_ids() -> None:
    sent = message(*CALLS)
    parsed = Message.model_validate(sent)
    forms = [sent, parsed, sent["content"], parsed.content]
    assert len({str(plain(anthropic.calls(form, ANA))) for form in forms}) == 1
    async with Handrail(TOOLS) as hr:
        [answer] = await anthropic.run_tool_calls(hr, parsed, ANA)
        assert await anthropic.run_tool_calls(hr, {"content": []}, ANA) == []
    assert answer["role"] == "user"
    TypeAdapter(list[ToolResultBlockParam]).validate_python(answer["content"])
    first, second, third = answer["content"]
    assert [one["tool_use_id"] for one in answer["content"]] == ["a1", "b2", "c3"]
    assert [one["is_error"] for one in answer["content"]] == [False, False, True]
    assert first["content"] == [{"type": "text", "text": '{"found":"x"}'}]
    assert second["content"] == snapshot(
        [
            {
                "type": "text",
                "text": """\
Drawn.
[attached: chart.csv (text/csv) at blob:1]\
""",
            },
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"},
            },
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
            },
        ]
    )
    assert "TOOL_NOT_FOUND" in third["content"][0]["text"]


ids = st.text("abc019_~-", min_size=1, max_size=6)
values = st.dictionaries(
    st.text(max_size=3), st.none() | st.booleans() | st.integers() | st.text(), max_size=3
)


@pytest.mark.req("AB-09")
@settings(max_examples=60)
@given(
    asked=st.lists(st.tuples(ids, st.just("data__find"), values), max_size=5, unique_by=lambda one: one[0])
)
async def test_ids_names_and_arguments_come_through_unchanged_and_answers_are_in_order(
    asked: list[tuple[str, str, dict[str, Any]]],
) -> None:
    sent = [(one, name, json.dumps(args)) for one, name, args in asked]
    expected = [(one, name, args, ANA, "agent") for one, name, args in asked]
    assert plain(openai.calls(completion(*sent), ANA)) == expected
    assert plain(openai.calls(response(*sent), ANA)) == expected
    assert plain(anthropic.calls(message(*sent), ANA)) == expected
    async with Handrail(TOOLS) as hr:
        chat = await openai.run_tool_calls(hr, completion(*sent), ANA)
        outputs = await openai.run_tool_calls(hr, response(*sent), ANA)
        told = await anthropic.run_tool_calls(hr, message(*sent), ANA)
    names = [one for one, _, _ in asked]
    assert [one["tool_call_id"] for one in chat] == names
    assert [one["call_id"] for one in outputs] == names
    assert [one["tool_use_id"] for said in told for one in said["content"]] == names


@pytest.mark.req("AB-09")
async def test_ids_that_a_provider_gives_again_are_never_taken_for_one_another() -> None:
    @tool("data.wipe", level="destructive")
    async def wipe(what: str) -> str:
        """Wipe something."""
        return f"{what} is gone"

    boss = Principal("acme", "boss", permissions={"*"})
    async with Handrail([wipe]) as hr:
        outcomes = []
        for what in ("one", "two"):
            again = completion(("call_0", "data__wipe", json.dumps({"what": what})))
            outcomes += await hr.call_many(openai.calls(again, ANA))
        first, second = outcomes
        assert first.call_id != second.call_id
        await hr.approvals.approve(str(second.approval_id), by=boss)
        assert (await hr.wait(second.call_id, 20)).result.data == "two is gone"
        await hr.approvals.approve(str(first.approval_id), by=boss)
        assert (await hr.wait(first.call_id, 20)).result.data == "one is gone"


@pytest.mark.req("AB-09")
async def test_two_calls_of_one_message_under_one_id_run_once_and_calls_without_one_all_run() -> None:
    async with Handrail(TOOLS) as hr:
        twins = completion(("x", "data__find", '{"query": "1"}'), ("x", "data__find", '{"query": "2"}'))
        first, second = await openai.run_tool_calls(hr, twins, ANA)
        assert first["content"] == '{"found":"1"}' and "CALL_ID_IN_USE" in second["content"]
        nameless = completion(("", "data__find", '{"query": "1"}'), ("", "data__find", '{"query": "2"}'))
        answers = await openai.run_tool_calls(hr, nameless, ANA)
        assert [one["content"] for one in answers] == ['{"found":"1"}', '{"found":"2"}']


@pytest.mark.req("AB-09")
async def test_a_message_that_is_handled_twice_runs_once_when_ids_are_keys() -> None:
    ran: list[str] = []

    @tool("mail.send", level="read")
    async def send(to: str) -> str:
        """Send a mail."""
        ran.append(to)
        return f"sent to {to}"

    async with Handrail([send]) as hr:
        sent = completion(("x", "mail__send", '{"to": "eve"}'))
        for _ in range(2):
            [answer] = await openai.run_tool_calls(hr, sent, ANA, session="s", keyed=True)
            assert answer["content"] == "sent to eve"
        assert ran == ["eve"]
        await openai.run_tool_calls(hr, sent, ANA, session="another", keyed=True)
        assert ran == ["eve", "eve"]
        assert {one.call.session for one in hr.log.read("acme")} == {"s", "another"}


@pytest.mark.req("AB-09")
@pytest.mark.parametrize("odd", [None, {}, [], {"tool_calls": None}, {"content": "text"}, {"choices": []}, 7])
def test_a_message_that_asks_for_nothing_is_no_calls(odd: Any) -> None:
    assert openai.calls(odd, ANA) == [] == anthropic.calls(odd, ANA)
