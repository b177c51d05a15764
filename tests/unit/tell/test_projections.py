"""The same events in the shapes that panels, registries and older consumers know."""

import asyncio
import dataclasses
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, Result, define, tool
from handrail.ext.compat import RegistryEvent, ToolRun, to_legacy_tool_run, to_registry_event, to_ui_events
from handrail.ext.events import Event
from handrail.ext.guard import approve, reject, respond
from handrail.ext.ports import Clock
from handrail.testing import ScriptedApprover

ANA = Principal(tenant="acme", user="ana")
OPEN = Policy(approval_mode="policy")


@tool("data.searchRecords", level="read")
async def search(limit: int = 1) -> Result:
    """Search."""
    return Result(data=[1] * limit, summary=f"{limit} found")


@tool("data.lose", level="read")
async def lose() -> dict[str, str]:
    """Lose."""
    return {"error": "it is gone"}


@tool("data.wait", level="read")
async def wait(*, ctx: Context) -> None:
    """Wait."""
    ctx.metadata(title="Waiting")
    await asyncio.Event().wait()


@tool("data.write", level="write")
async def write(text: str = "") -> str:
    """Write."""
    return text


TOOLS = [search, lose, wait, write]


def ui(hr: Handrail, **filters: Any) -> list[dict[str, Any]]:
    return [told for event in hr.log.read("acme", **filters) for told in to_ui_events(event)]


@pytest.mark.req("EV-11", "EX-18")
async def test_a_pass_sees_tool_start_and_tool_result() -> None:
    ticks = iter((1.0, 1.25))
    async with Handrail(TOOLS, clock=Clock(ticks=lambda: next(ticks))) as hr:
        await hr.call("data.searchRecords", {"limit": "2"}, principal=ANA)
        started, ended = ui(hr)
    assert started == {"type": "tool_start", "data": {"tool": "data.searchRecords", "params": {"limit": 2}}}
    result = {"success": True, "summary": "2 found", "data": [1, 1]}
    data = {"tool": "data.searchRecords", "result": result, "duration": 250.0}
    assert ended == {"type": "tool_result", "data": data}


@pytest.mark.req("EV-11")
@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("data.none", {"a": 1}, "TOOL_NOT_FOUND"),
        ("data.searchRecords", {"limit": []}, "INVALID_PARAM"),
        ("data.searchRecords", {"nonsense": 1}, "INVALID_PARAM"),
        ("data.lose", {}, "it is gone"),
    ],
)
async def test_a_refused_or_failed_call_starts_and_ends_on_the_panel(
    name: str, args: dict[str, Any], error: str
) -> None:
    async with Handrail(TOOLS) as hr:
        await hr.call(name, args, principal=ANA)
        started, ended = ui(hr)
    assert (started["type"], ended["type"]) == ("tool_start", "tool_result")
    assert started["data"]["tool"] == ended["data"]["tool"] == name
    assert ended["data"]["result"]["success"] is False and ended["data"]["result"]["error"] == error


@pytest.mark.req("EV-11")
@pytest.mark.parametrize("reply", [approve(), reject(), respond("in its place"), None])
async def test_a_call_at_the_gate_starts_once_it_is_answered(reply: Any) -> None:
    async with Handrail(TOOLS, approver=ScriptedApprover(reply)) as hr:
        await hr.call("data.write", {"text": "x"}, principal=ANA)
        kinds = [told["type"] for told in ui(hr)]
    assert kinds == ([] if reply is None else ["tool_start", "tool_result"])


@pytest.mark.req("EV-11", "CX-07")
async def test_the_line_of_a_cancelled_call_ends_too() -> None:
    running = asyncio.Event()
    async with Handrail(TOOLS) as hr:
        hr.subscribe(lambda event: running.set() if event.kind == "progress" else None)
        task = asyncio.create_task(hr.call("data.wait", principal=ANA, id="c1"))
        await running.wait()
        await hr.cancel("c1")
        await task
        _, ended = ui(hr)
    assert ended["data"]["result"] == {"success": False, "summary": "Cancelled", "error": "CANCELLED"}


@pytest.mark.req("EV-11")
async def test_a_duplicate_is_not_told_again() -> None:
    heard: list[Event] = []
    async with Handrail(TOOLS, policy=OPEN) as hr:
        await hr.call("data.write", principal=ANA, idempotency_key="k")
        hr.subscribe(heard.append)
        again = await hr.call("data.write", principal=ANA, idempotency_key="k")
        assert again.status == "duplicate" and ui(hr, call_id=again.call_id) == []
    assert [told for event in heard for told in to_ui_events(event)] == []


@pytest.mark.req("EV-12", "RG-14")
async def test_registry_listeners_hear_register_unregister_execute_and_error() -> None:
    heard: list[RegistryEvent] = []
    async with Handrail([lose]) as hr:
        stop = hr.subscribe_registry(heard.append)
        hr.registry.register(search)
        other = define(
            "data.searchRecords", {"description": "Other.", "level": "read", "execute": lambda a: 5}
        )
        hr.registry.register(other, replace=True)
        await hr.call("data.searchRecords", principal=ANA)
        await hr.call("data.lose", principal=ANA)
        await hr.call("data.none", principal=ANA)
        hr.registry.unregister("data.searchRecords")
        hr.registry.unregister("data.searchRecords")
        stop()
        await hr.call("data.lose", principal=ANA)
        hr.registry.unregister("data.lose")
    assert [(event.type, event.tool) for event in heard] == [
        ("register", "data.searchRecords"),
        ("register", "data.searchRecords"),
        ("execute", "data.searchRecords"),
        ("error", "data.lose"),
        ("error", "data.none"),
        ("unregister", "data.searchRecords"),
    ]
    first, second, executed, failed, _, gone = heard
    assert (first.definition, first.replaced) == (search, None)
    assert (second.definition, second.replaced) == (other, search)
    assert executed.result is not None and executed.result.data == 5
    assert failed.result is not None and failed.result.error == "it is gone"
    assert gone.definition is other


@pytest.mark.req("EV-12")
async def test_only_ends_are_registry_events() -> None:
    async with Handrail(TOOLS) as hr:
        await hr.call("data.write", principal=ANA)
        await hr.call("data.searchRecords", principal=ANA)
        told = [to_registry_event(event) for event in hr.log.read("acme")]
    assert [event and event.type for event in told] == [None, None, "execute"]


@pytest.mark.req("EV-13", "EX-16")
async def test_on_result_hears_every_result() -> None:
    heard: list[Result] = []
    async with Handrail(TOOLS, on_result=heard.append) as hr:
        outcomes = [
            await hr.call("data.searchRecords", principal=ANA),
            await hr.call("data.lose", principal=ANA),
            await hr.call("data.none", principal=ANA),
            await hr.call("data.write", principal=ANA, idempotency_key="k"),
            await hr.call("data.write", principal=ANA, idempotency_key="k"),
        ]
    assert heard == [outcome.result for outcome in outcomes]


@pytest.mark.req("EX-16", "TR-17")
async def test_the_direct_path_goes_from_lookup_to_what_the_model_reads() -> None:
    steps: list[str] = []

    def initialise(init: Any) -> dict[str, Any]:
        steps.append("initialised")

        async def execute(args: Any, ctx: Context) -> str:
            steps.append(f"executed with {ctx.extra['trace']}")
            return "text"

        return {"description": "Late.", "level": "read", "execute": execute}

    def create_context(tool_id: str, call_id: str) -> dict[str, Any]:
        steps.append(f"context of {tool_id}")
        return {"trace": call_id}

    late = define("late.tool", initialise, aliases=["late"])
    async with Handrail(
        [late], create_context=create_context, on_result=lambda result: steps.append("on_result")
    ) as hr:
        outcome = await hr.call("late", principal=ANA, id="c1")
        last = hr.last_result("late", ANA)
    assert steps == ["initialised", "context of late.tool", "executed with c1", "on_result"]
    assert last == outcome.result and outcome.to_model() == "text"


@pytest.mark.req("TR-17")
async def test_the_last_result_of_each_tool_is_kept_by_tenant() -> None:
    async with Handrail(TOOLS) as hr:
        assert hr.last_result("data.searchRecords", ANA) is None
        await hr.call("data.searchRecords", {"limit": 1}, principal=ANA)
        newest = await hr.call("data.searchRecords", {"limit": 2}, principal=ANA)
        await hr.call("data.searchRecords", {"limit": "x"}, principal=ANA)
        failed = await hr.call("data.lose", principal=ANA)
        assert hr.last_result("data.searchRecords", ANA) == newest.result
        assert hr.last_result("data__searchRecords", ANA) == newest.result
        assert hr.last_result("data.lose", ANA) == failed.result
        assert hr.last_result("data.searchRecords", Principal("other")) is None


@pytest.mark.req("EV-10", "EX-04", "EX-18")
@pytest.mark.parametrize(
    ("source", "reads_as"),
    [("web", "web"), ("cli", "web"), ("api", "api"), ("agent", "agent"), ("mcp", "agent"), ("job", "agent")],
)
async def test_a_run_folds_into_the_shape_older_consumers_know(source: Any, reads_as: str) -> None:
    async with Handrail(TOOLS) as hr:
        outcome = await hr.call(
            "data.searchRecords", {"limit": 3}, principal=ANA, source=source, session="s1"
        )
        run = to_legacy_tool_run(hr.log.read("acme", call_id=outcome.call_id))
    assert run is not None and outcome.run_id is not None
    assert run == ToolRun(
        id=outcome.run_id,
        tenant_id="acme",
        tool_slug="data-search-records",
        user_id="ana",
        input={"limit": 3},
        output=[1, 1, 1],
        status="success",
        error=None,
        duration_ms=outcome.duration_ms,
        source=reads_as,
        chat_id="s1",
        session_id="s1",
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        run.status = "error"  # type: ignore[misc]


@pytest.mark.req("EV-10")
async def test_a_failed_run_is_an_error_and_an_unfinished_one_is_no_run_yet() -> None:
    async with Handrail(TOOLS) as hr:
        outcome = await hr.call("data.lose", principal=Principal("acme"))
        events = list(hr.log.read("acme"))
        run = to_legacy_tool_run(events, slug="lose-it")
        assert run is not None
        assert (run.status, run.error, run.output, run.tool_slug) == ("error", "it is gone", None, "lose-it")
        assert (run.user_id, run.chat_id, run.session_id) == (None, None, f"call:{outcome.call_id}")
        assert to_legacy_tool_run(events[:1]) is None and to_legacy_tool_run(events[1:]) is None
        await hr.call("data.none", principal=Principal("acme"), session="s2")
        assert to_legacy_tool_run(hr.log.read("acme", session="s2")) is None


@pytest.mark.req("EV-10")
async def test_beginnings_and_ends_of_different_runs_are_not_mixed() -> None:
    async with Handrail(TOOLS) as hr:
        first = await hr.call("data.searchRecords", {"limit": 1}, principal=ANA, session="s1")
        await hr.call("data.lose", principal=ANA, session="s1")
        await hr.call("data.none", principal=ANA, session="s1")
        run = to_legacy_tool_run(hr.log.read("acme", session="s1"))
    assert run is not None and (run.id, run.output, run.status) == (first.run_id, [1], "success")
