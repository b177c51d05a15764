"""An agent of pydantic-ai with guarded tools: what it defers a person decides, and it runs once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai import (
    Agent,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    ToolApproved,
    ToolDenied,
)
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from handrail import Attachment, Handrail, Principal, Result, Tool, tool
from handrail.bridges.pydantic_ai import GuardedToolset, settle
from handrail.ext.errors import UsageError
from handrail.ext.guard import Conflict
from tests.harness.bridge_calls import tool_returns

AGENT = Principal("acme", "ana", agent="ops")
BOSS = Principal("acme", "boss", permissions={"*"})
EVE = Principal("acme", "eve")


@tool("data.find", level="read")
async def find(query: str, limit: int = 10) -> dict[str, Any]:
    """Find records."""
    return {"query": query, "limit": limit}


def wiping() -> tuple[Tool, list[str]]:
    wiped: list[str] = []

    @tool("data.wipe", level="destructive")
    async def wipe(what: str) -> str:
        """Wipe something."""
        wiped.append(what)
        return f"{what} is gone"

    return wipe, wiped


def asking(*calls: tuple[str, Any, str]) -> FunctionModel:
    """A model that makes these calls at once, and is done once all are answered."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if len(tool_returns(messages)) == len(calls):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(name, args, tool_call_id=id) for name, args, id in calls])

    return FunctionModel(reply)


def agent_of(hr: Handrail, model: Any, **more: Any) -> Agent[None, Any]:
    toolset = GuardedToolset(hr, AGENT, **more)
    return Agent(model, toolsets=[toolset], output_type=[str, DeferredToolRequests])


async def deferred(hr: Handrail, *more: tuple[str, Any, str]) -> tuple[Agent[None, Any], Any]:
    agent = agent_of(hr, asking(("data__wipe", {"what": "all"}, "w"), *more))
    done = await agent.run("go")
    assert isinstance(done.output, DeferredToolRequests)
    return agent, done


@pytest.mark.req("AB-09")
async def test_a_model_calls_every_tool_through_the_guard() -> None:
    async with Handrail([find]) as hr:
        done = await agent_of(hr, TestModel()).run("go", conversation_id="talk")
        [part] = tool_returns(done.all_messages())
        assert part.outcome == "success" and part.content == '{"query":"a","limit":10}'
        assert part.metadata["data"] == {"query": "a", "limit": 10}
        events = list(hr.log.read("acme"))
        assert [(one.kind, one.call.session, one.call.principal) for one in events] == [
            ("started", "talk", AGENT),
            ("completed", "talk", AGENT),
        ]


@pytest.mark.req("AB-09")
async def test_what_the_guard_refuses_is_told_to_the_model_and_ends_nothing() -> None:
    async with Handrail([find]) as hr:
        model = asking(("data__find", {"limit": "many"}, "a"), ("data__find", '{"query": ', "b"))
        done = await agent_of(hr, model).run("go")
        first, second = tool_returns(done.all_messages())
        assert done.output == "done" and {first.outcome, second.outcome} == {"failed"}
        assert "MISSING_PARAM" in str(first.content) or "INVALID_PARAM" in str(first.content)
        assert "not JSON" in str(second.content)


@pytest.mark.req("AB-09", "BY-02")
async def test_a_person_approves_other_arguments_and_exactly_these_run_once() -> None:
    wipe, wiped = wiping()
    async with Handrail([find, wipe]) as hr:
        agent, done = await deferred(hr, ("data__find", {"query": "x"}, "f"))
        requests = done.output
        assert [one.tool_call_id for one in requests.approvals] == ["w"] and wiped == []
        [card] = await hr.approvals.list(BOSS)
        told = requests.metadata["w"]
        assert (told["approval_id"], told["call_id"], told["tool"]) == (card.id, card.call.id, "data.wipe")

        word = DeferredToolResults(approvals={"w": ToolApproved(override_args={"what": "logs"})})
        results = await settle(hr, requests, word, by=BOSS, timeout=20)
        assert wiped == ["logs"]
        end = await agent.run(message_history=done.all_messages(), deferred_tool_results=results)
        assert end.output == "done" and wiped == ["logs"]
        by_id = {part.tool_call_id: part for part in tool_returns(end.all_messages())}
        assert by_id["w"].content == "logs is gone"
        assert by_id["w"].metadata["approval_id"] == card.id
        decided = await hr.approvals.get(card.id, BOSS)
        assert decided is not None and (decided.status, decided.decided_by) == ("approved", "boss")

        with pytest.raises(Conflict, match="no longer open"):
            await settle(hr, requests, word, by=BOSS)
        assert wiped == ["logs"]


@pytest.mark.req("AB-09", "BY-02")
@pytest.mark.parametrize(
    ("word", "reason"), [(ToolDenied("Not on a Friday"), "Not on a Friday"), (False, None)]
)
async def test_a_person_denies_and_our_book_knows(word: Any, reason: str | None) -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe]) as hr:
        agent, done = await deferred(hr)
        results = await settle(hr, done.output, DeferredToolResults(approvals={"w": word}), by=BOSS)
        end = await agent.run(message_history=done.all_messages(), deferred_tool_results=results)
        [part] = tool_returns(end.all_messages())
        assert part.outcome == "failed" and "REJECTED" in str(part.content) and wiped == []
        if reason:
            assert reason in str(part.content)
        decided = await hr.approvals.get(done.output.metadata["w"]["approval_id"], BOSS)
        assert decided is not None and (decided.status, decided.decided_by) == ("rejected", "boss")


@pytest.mark.req("AB-09", "BY-03")
@pytest.mark.parametrize("by", [AGENT, EVE], ids=["the agent itself", "one without the right"])
async def test_nobody_approves_who_may_not(by: Principal) -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe]) as hr:
        _, done = await deferred(hr)
        with pytest.raises(Conflict):
            await settle(hr, done.output, DeferredToolResults(approvals={"w": True}), by=by)
        assert wiped == [] and len(await hr.approvals.list(BOSS)) == 1


@pytest.mark.req("AB-09", "BY-04")
async def test_edits_that_do_not_fit_are_refused_and_the_question_stays_open() -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe]) as hr:
        _, done = await deferred(hr)
        word = DeferredToolResults(approvals={"w": ToolApproved(override_args={"waht": "logs", "x": 1})})
        with pytest.raises(Conflict, match="do not fit"):
            await settle(hr, done.output, word, by=BOSS)
        assert wiped == [] and len(await hr.approvals.list(BOSS)) == 1


@pytest.mark.req("AB-09", "BY-03")
async def test_the_word_of_pydantic_ai_alone_approves_nothing() -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe]) as hr:
        agent, done = await deferred(hr)
        history = done.all_messages()
        yes = DeferredToolResults(approvals={"w": True})
        with pytest.raises(UsageError, match="settle"):
            await agent.run(message_history=history, deferred_tool_results=yes)

        named = DeferredToolResults(approvals={"w": True}, metadata=done.output.metadata)
        again = await agent.run(message_history=history, deferred_tool_results=named)
        assert isinstance(again.output, DeferredToolRequests)
        assert again.output.metadata == done.output.metadata
        assert wiped == [] and len(await hr.approvals.list(BOSS)) == 1


@pytest.mark.req("AB-09", "BY-03")
async def test_what_was_decided_in_the_inbox_is_collected_and_not_run_again() -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe]) as hr:
        agent, done = await deferred(hr)
        told = done.output.metadata["w"]
        await hr.approvals.approve(told["approval_id"], by=BOSS, edits={"what": "logs"})
        named = DeferredToolResults(approvals={"w": True}, metadata=done.output.metadata)
        for _ in range(2):
            end = await agent.run(message_history=done.all_messages(), deferred_tool_results=named)
            assert tool_returns(end.all_messages())[0].content == "logs is gone"
        assert wiped == ["logs"]


@pytest.mark.req("AB-09", "BY-03")
@pytest.mark.fault("F26")
async def test_a_foreign_question_is_as_unknown_as_none() -> None:
    wipe, wiped = wiping()
    other = Principal("acme", "carl", agent="ops")
    async with Handrail([wipe]) as hr:
        agent, done = await deferred(hr)
        theirs = await hr.call("data.wipe", {"what": "theirs"}, principal=other)
        await hr.approvals.approve(str(theirs.approval_id), by=BOSS)
        await hr.wait(theirs.call_id, 20)
        for told in (
            {"approval_id": theirs.approval_id, "call_id": theirs.call_id},
            {"approval_id": "none", "call_id": theirs.call_id},
            {"approval_id": theirs.approval_id, "call_id": done.output.metadata["w"]["call_id"]},
        ):
            named = DeferredToolResults(approvals={"w": True}, metadata={"w": told})
            end = await agent.run(message_history=done.all_messages(), deferred_tool_results=named)
            [part] = tool_returns(end.all_messages())
            assert (part.outcome, part.content) == (
                "failed",
                "There is no such approval, so nothing was run.",
            )
        assert wiped == ["theirs"]


@pytest.mark.req("AB-09")
async def test_a_call_may_wait_for_our_inbox_instead() -> None:
    wipe, wiped = wiping()
    async with Handrail([find, wipe]) as hr:
        model = asking(("data__wipe", {"what": "all"}, "w"), ("data__find", {"query": "x"}, "f"))
        asked = asyncio.Event()
        hr.subscribe(lambda event: asked.set() if event.kind == "needs_approval" else None)
        running = asyncio.create_task(agent_of(hr, model, approvals="wait", timeout=20).run("go"))
        await asyncio.wait_for(asked.wait(), 20)
        [card] = await hr.approvals.list(BOSS)
        await hr.approvals.approve(card.id, by=BOSS)
        done = await running
        assert done.output == "done" and wiped == ["all"]
        assert {part.content for part in tool_returns(done.all_messages())} == {
            "all is gone",
            '{"query":"x","limit":10}',
        }


@pytest.mark.req("AB-09")
async def test_who_waits_too_long_is_told_that_it_still_waits() -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe]) as hr:
        model = asking(("data__wipe", {"what": "all"}, "w"))
        done = await agent_of(hr, model, approvals="wait", timeout=0.01).run("go")
        [part] = tool_returns(done.all_messages())
        assert "waits for a person" in str(part.content) and wiped == []
        assert len(await hr.approvals.list(BOSS)) == 1


@pytest.mark.req("AB-09")
async def test_what_several_must_agree_to_stays_open_after_the_first() -> None:
    @tool("data.sell", level="destructive", approvals=2)
    async def sell(what: str) -> str:
        """Sell something."""
        return f"{what} is sold"

    carl = Principal("acme", "carl", permissions={"*"})
    async with Handrail([sell]) as hr:
        agent = agent_of(hr, asking(("data__sell", {"what": "house"}, "w")))
        done = await agent.run("go")
        word = DeferredToolResults(approvals={"w": True})
        assert await settle(hr, done.output, word, by=BOSS) == DeferredToolResults()
        results = await settle(hr, done.output, word, by=carl, timeout=20)
        end = await agent.run(message_history=done.all_messages(), deferred_tool_results=results)
        assert tool_returns(end.all_messages())[0].content == "house is sold"


@pytest.mark.req("AB-09")
async def test_writes_of_one_message_do_not_overlap_and_pictures_are_shown() -> None:
    order: list[str] = []

    @tool("file.write", level="write", writes=lambda args: [args.path])
    async def write(path: str, text: str) -> Result:
        """Write a file."""
        order.append(f"begin {text}")
        await asyncio.sleep(0)
        order.append(f"end {text}")
        return Result(output=text, attachments=(Attachment("image/png", "a.png", b"\x89PNG"),))

    async def yes(request: Any) -> bool:
        return True

    async with Handrail([write], approver=yes) as hr:
        model = asking(
            ("file__write", {"path": "a", "text": "1"}, "x"), ("file__write", {"path": "a", "text": "2"}, "y")
        )
        done = await agent_of(hr, model).run("go")
        first, second = tool_returns(done.all_messages())
        assert order == ["begin 1", "end 1", "begin 2", "end 2"]
        assert first.outcome == second.outcome == "success"
        assert isinstance(first.content, list) and first.content[0] == "1"
        assert isinstance(first.content[1], BinaryContent) and first.content[1].data == b"\x89PNG"


@pytest.mark.req("AB-09")
async def test_tools_of_others_keep_their_own_approvals() -> None:
    async with Handrail([find]) as hr:
        requests = DeferredToolRequests(approvals=[ToolCallPart("theirs", {}, tool_call_id="t")])
        word = DeferredToolResults(approvals={"t": True}, metadata={"t": {"a": 1}})
        assert await settle(hr, requests, word, by=BOSS) == word
    with pytest.raises(UsageError, match="'deferred' or 'wait'"):
        GuardedToolset(hr, AGENT, approvals="never")  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.req("AB-09", "BY-03")
async def test_a_deferred_call_is_decided_after_a_restart_and_runs_once(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    wipe, wiped = wiping()
    async with Handrail([wipe], database=sqlite_url) as hr:
        _, done = await deferred(hr)
        history, requests = done.all_messages(), done.output
    async with Handrail([wipe], database=sqlite_url) as hr:
        word = DeferredToolResults(approvals={"w": ToolApproved(override_args={"what": "logs"})})
        results = await settle(hr, requests, word, by=BOSS, timeout=30)
        agent = agent_of(hr, asking(("data__wipe", {"what": "all"}, "w")))
        end = await agent.run(message_history=history, deferred_tool_results=results)
        assert tool_returns(end.all_messages())[0].content == "logs is gone"
    async with Handrail([wipe], database=sqlite_url) as hr:
        named = DeferredToolResults(approvals={"w": True}, metadata=requests.metadata)
        agent = agent_of(hr, asking(("data__wipe", {"what": "all"}, "w")))
        end = await agent.run(message_history=history, deferred_tool_results=named)
        assert tool_returns(end.all_messages())[0].content == "logs is gone"
    assert wiped == ["logs"]


@pytest.mark.req("AB-09", "BY-03")
async def test_whoever_comes_back_too_late_is_told_so_and_does_not_wait_for_ever() -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe], approval_lifetime=0.05) as hr:
        agent, done = await deferred(hr)
        async with asyncio.timeout(20):
            while True:
                if not await hr.approvals.list(BOSS):
                    break
                await asyncio.sleep(0.01)
        named = DeferredToolResults(approvals={"w": True}, metadata=done.output.metadata)
        coming = agent.run(message_history=done.all_messages(), deferred_tool_results=named)
        [part] = tool_returns((await asyncio.wait_for(coming, 20)).all_messages())
        assert part.outcome == "failed" and "in time" in str(part.content) and wiped == []


@pytest.mark.req("AB-09", "BY-03")
async def test_whoever_holds_other_roles_by_now_still_gets_what_their_call_came_to() -> None:
    wipe, wiped = wiping()
    async with Handrail([wipe]) as hr:
        _, done = await deferred(hr)
        await hr.approvals.approve(done.output.metadata["w"]["approval_id"], by=BOSS)
        now = GuardedToolset(hr, Principal("acme", "ana", agent="ops", roles={"viewer"}))
        agent = Agent(asking(("data__wipe", {"what": "all"}, "w")), toolsets=[now])
        named = DeferredToolResults(approvals={"w": True}, metadata=done.output.metadata)
        end = await agent.run(message_history=done.all_messages(), deferred_tool_results=named)
        assert tool_returns(end.all_messages())[0].content == "all is gone" and wiped == ["all"]
