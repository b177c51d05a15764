"""Bridged tools are LangChain's tools: its standard suites pass, errors and artifacts mean the same."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from handrail import Attachment, Context, Handrail, Principal, Result, Tool, tool
from handrail.bridges import langchain
from handrail.bridges.langchain import CallFailed
from handrail.sync import Handrail as BlockingHandrail

ANA = Principal("acme", "ana", agent="ops")
BOSS = Principal("acme", "boss", permissions={"*"})


@tool("data.find", level="read")
async def find(query: str, limit: int = 10) -> dict[str, Any]:
    """Find records.

    Args:
        query: What to look for.
        limit: How many at most.
    """
    if query == "boom":
        raise ValueError("the index is gone")
    return {"query": query, "limit": limit}


@tool("data.wipe", level="destructive")
async def wipe(what: str) -> str:
    """Wipe something."""
    return f"{what} is gone"


def call(args: dict[str, Any], id: str = "c1") -> dict[str, Any]:
    return {"type": "tool_call", "id": id, "name": "any", "args": args}


class Standard:
    """What the suites want to know."""

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": "x", "limit": 2}


class Asynchronous(Standard):
    @property
    def tool_constructor(self) -> BaseTool:
        [made] = langchain.blocking_tools(Handrail([find]), ANA)
        return made


@pytest.mark.req("AB-07")
class TestUnitSuite(Asynchronous, ToolsUnitTests):
    """The standard unit suite."""


@pytest.mark.req("AB-07")
class TestIntegrationSuite(Asynchronous, ToolsIntegrationTests):
    """The standard integration suite, inside a loop and outside."""


class Facade(Standard):
    @pytest.fixture(autouse=True)
    def _opened(self) -> Any:
        with BlockingHandrail([find]) as hr:
            [self._made] = langchain.blocking_tools(hr, ANA)
            yield

    @property
    def tool_constructor(self) -> BaseTool:
        return self._made


@pytest.mark.req("AB-07")
class TestIntegrationSuiteOverTheFacade(Facade, ToolsIntegrationTests):
    """The same over the blocking façade."""


@pytest.mark.req("AB-07", "AB-08")
async def test_a_tool_is_structured_and_shows_our_schema() -> None:
    async with Handrail([find]) as hr:
        [made] = await langchain.tools(hr, ANA)
        assert isinstance(made, StructuredTool) and made.response_format == "content_and_artifact"
        [exported] = await hr.export("openai", ANA)
        assert made.args_schema == exported["function"]["parameters"]
        shown = convert_to_openai_tool(made)["function"]
        assert (shown["name"], shown["description"]) == ("data__find", "Find records.")
        assert shown["parameters"]["properties"] == exported["function"]["parameters"]["properties"]


@pytest.mark.req("AB-07")
async def test_a_call_makes_the_context_and_keeps_and_tells_the_result() -> None:
    seen: list[Any] = []
    told: list[Result] = []

    @tool("data.who", level="read")
    async def who(*, ctx: Context) -> str:
        """Say for whom it runs."""
        seen.append((ctx.tenant_id, ctx.user_id, ctx.agent_id, ctx.session_id, ctx.source, dict(ctx.extra)))
        return "ok"

    extra = {"locale": "de"}
    async with Handrail([who], on_result=told.append, create_context=lambda *_: extra) as hr:
        [made] = await langchain.tools(hr, ANA)
        answer = await made.ainvoke(call({}), {"configurable": {"thread_id": "t-1"}})
        assert seen == [("acme", "ana", "ops", "t-1", "agent", extra)]
        assert [one.data for one in told] == ["ok"]
        last = hr.last_result("data.who", ANA)
        assert last is not None and last.data == "ok"
        assert (answer.content, answer.tool_call_id, answer.status) == ("ok", "c1", "success")
        assert answer.artifact["data"] == "ok" and answer.artifact["outcome"]["tool"] == "data.who"


@pytest.mark.req("AB-07")
@pytest.mark.parametrize(
    ("config", "session"),
    [
        ({"configurable": {"thread_id": "t"}, "metadata": {"session_id": "s"}}, "t"),
        ({"metadata": {"session_id": "s"}}, "s"),
        ({"metadata": {"thread_id": 7}}, "7"),
        ({}, None),
    ],
)
async def test_the_session_is_what_the_config_names(config: Any, session: str | None) -> None:
    async with Handrail([find]) as hr:
        [made] = await langchain.tools(hr, ANA)
        await made.ainvoke({"query": "x"}, config)
        [fixed] = await langchain.tools(hr, ANA, session="mine")
        await fixed.ainvoke({"query": "x"}, config)
        assert [one.call.session for one in hr.log.read("acme")] == [session] * 2 + ["mine"] * 2


@pytest.mark.req("AB-07")
async def test_a_failure_is_an_answer_with_its_artifact_unless_somebody_wants_an_exception() -> None:
    async with Handrail([find]) as hr:
        [made] = await langchain.tools(hr, ANA)
        answer = await made.ainvoke(call({"query": "boom"}))
        assert isinstance(answer, ToolMessage) and answer.status == "error"
        assert "the index is gone" in str(answer.content) and answer.tool_call_id == "c1"
        assert answer.artifact["code"] == "TOOL_FAILED" and answer.artifact["outcome"]["status"] == "failed"
        assert "the index is gone" in await made.ainvoke({"query": "boom"})

        made.handle_tool_error = False
        with pytest.raises(ToolException, match="the index is gone") as raised:
            await made.ainvoke(call({"query": "boom"}))
        assert isinstance(raised.value, CallFailed) and raised.value.outcome.code == "TOOL_FAILED"

        made.handle_tool_error = "Try something else."
        answer = await made.ainvoke(call({}))
        assert (answer.content, answer.status) == ("Try something else.", "error")

        made.handle_tool_error = code_of
        assert (await made.ainvoke(call({}))).content == "MISSING_PARAM"


@pytest.mark.req("AB-07")
async def test_a_call_that_waits_for_a_person_says_so_and_is_no_failure() -> None:
    async with Handrail([wipe]) as hr:
        [made] = await langchain.tools(hr, ANA)
        made.handle_tool_error = False
        answer = await made.ainvoke(call({"what": "all"}))
        assert "waits for a person" in answer.content and answer.status == "success"
        ended = answer.artifact["outcome"]
        assert (ended["status"], answer.artifact["code"]) == ("pending", "NEEDS_APPROVAL")
        await hr.approvals.approve(ended["approval_id"], by=BOSS)
        assert (await hr.wait(ended["call_id"], 20)).result.data == "all is gone"


@pytest.mark.req("AB-07")
async def test_pictures_stand_beside_the_text() -> None:
    @tool("data.draw", level="read")
    async def draw() -> Result:
        """Draw."""
        return Result(output="Drawn.", attachments=(Attachment("image/png", "a.png", b"\x89PNG"),))

    async with Handrail([draw]) as hr:
        [made] = await langchain.tools(hr, ANA)
        answer = await made.ainvoke(call({}))
        picture = {"type": "image", "base64": "iVBORw==", "mime_type": "image/png"}
        assert answer.content == [{"type": "text", "text": "Drawn."}, picture]


def threads() -> tuple[Tool, list[str]]:
    where: list[str] = []

    @tool("data.where", level="write")
    async def look(wait: float = 0) -> str:
        """Say in which thread it runs."""
        await asyncio.sleep(wait)
        where.append(threading.current_thread().name)
        return "here"

    return look, where


@pytest.mark.req("AB-07")
@pytest.mark.parametrize("kept", ["memory", "sqlite_url"])
def test_invoke_works_outside_a_loop_inside_one_and_in_a_thread(
    kept: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    url = None if kept == "memory" else request.getfixturevalue(kept)

    async def inside() -> None:
        async with Handrail([find], database=url) as hr:
            [made] = await langchain.tools(hr, ANA)
            assert made.invoke({"query": "in"}) == '{"query":"in","limit":10}'
            assert await asyncio.to_thread(made.invoke, {"query": "th"}) == '{"query":"th","limit":10}'
            assert await made.ainvoke({"query": "aw"}) == '{"query":"aw","limit":10}'
            both = await asyncio.gather(*(made.ainvoke({"query": str(one)}) for one in range(5)))
            assert len(set(both)) == 5

    asyncio.run(inside())


@pytest.mark.req("AB-07")
def test_invoke_over_the_facade_runs_on_its_loop_from_wherever_it_is_called() -> None:
    look, where = threads()
    with BlockingHandrail([look], policy=None, approver=yes) as hr:
        [made] = langchain.blocking_tools(hr, ANA)
        assert made.invoke({}) == "here"

        async def inside() -> None:
            assert made.invoke({}) == "here"
            assert await made.ainvoke({}) == "here"
            assert list(await asyncio.gather(made.ainvoke({}), made.ainvoke({}))) == ["here", "here"]

        asyncio.run(inside())
    assert where == ["handrail-sync"] * 5


def code_of(error: ToolException) -> str:
    assert isinstance(error, CallFailed)
    return str(error.outcome.code)


async def yes(request: Any) -> bool:
    return True


@pytest.mark.req("AB-07")
def test_whoever_cancels_an_awaited_call_over_the_facade_cancels_the_call() -> None:
    look, where = threads()
    with BlockingHandrail([look], approver=yes) as hr:
        [made] = langchain.blocking_tools(hr, ANA)
        heard = {"started": threading.Event(), "cancelled": threading.Event()}
        hr.subscribe(lambda event: heard[event.kind].set() if event.kind in heard else None)

        async def inside() -> None:
            running = asyncio.create_task(made.ainvoke({"wait": 30}))
            await asyncio.to_thread(heard["started"].wait, 20)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running

        asyncio.run(inside())
        assert heard["cancelled"].wait(20)
    assert where == []


@pytest.mark.req("AB-07", "AB-09")
async def test_a_message_with_several_calls_runs_as_one_pass() -> None:
    order: list[str] = []

    @tool("file.write", level="write", writes=lambda args: [args.path])
    async def write(path: str, text: str) -> str:
        """Write a file."""
        order.append(f"begin {text}")
        await asyncio.sleep(0)
        order.append(f"end {text}")
        return text

    message = AIMessage(
        "",
        tool_calls=[
            {"name": "file__write", "args": {"path": "a", "text": "1"}, "id": "x"},
            {"name": "file__write", "args": {"path": "a", "text": "2"}, "id": "y"},
        ],
        invalid_tool_calls=[
            {"name": "file__write", "args": '{"path"', "id": "z", "error": "?", "type": "invalid_tool_call"}
        ],
    )
    async with Handrail([write], approver=yes) as hr:
        answers = await langchain.run_tool_calls(hr, message, ANA, session="s")
    assert [(one.tool_call_id, one.name, one.status) for one in answers] == [
        ("x", "file__write", "success"),
        ("y", "file__write", "success"),
        ("z", "file__write", "error"),
    ]
    assert order == ["begin 1", "end 1", "begin 2", "end 2"]
    assert "not JSON" in str(answers[2].content)
