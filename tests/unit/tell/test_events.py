"""The seven types of events, in order, for every way a call can end."""

import asyncio
import json
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, Rule, tool
from handrail.core.tell.log import open_runs, output_of
from handrail.ext.events import Event
from handrail.ext.guard import approve, reject, respond
from handrail.ext.ports import Clock
from handrail.ext.toolsets import StaticToolset
from handrail.testing import ScriptedApprover

ANA = Principal(tenant="acme", user="ana", agent="ops")


@tool("notes.read", level="read", aliases=["peek"])
async def read_note(id: int = 1) -> str:
    """Read a note."""
    return f"note {id}"


@tool("notes.print", level="read")
async def print_note(*, ctx: Context) -> str:
    """Print a note in two pieces."""
    ctx.append_output("one ")
    ctx.append_output("two")
    return "printed"


@tool("notes.tear", level="read")
async def tear_note() -> str:
    """Tear a note."""
    raise ValueError("the paper is too thick")


@tool("notes.wait", level="read", timeout=0.01)
async def wait_for_note() -> None:
    """Wait for a note."""
    await asyncio.Event().wait()


@tool("notes.ponder", level="read")
async def ponder(*, ctx: Context) -> None:
    """Ponder until somebody interrupts."""
    ctx.metadata(title="Pondering")
    await asyncio.Event().wait()


@tool("notes.write", level="write")
async def write_note(text: str = "") -> str:
    """Write a note."""
    return text


@tool("notes.locked", level="read", requires="keys")
async def locked_note() -> str:
    """Read a locked note."""
    return "open"


TOOLS = [read_note, print_note, tear_note, wait_for_note, ponder, write_note, locked_note]


ENDINGS = [
    ("notes.read", {}, {}, "completed", ["started", "completed"]),
    ("peek", {}, {}, "completed", ["started", "completed"]),
    ("notes.print", {}, {}, "completed", ["started", "chunk", "chunk", "completed"]),
    ("notes.tear", {}, {}, "failed", ["started", "failed"]),
    ("notes.wait", {}, {}, "failed", ["started", "failed"]),
    ("notes.none", {}, {}, "refused", ["failed"]),
    ("notes.locked", {}, {}, "refused", ["failed"]),
    ("notes.read", {"id": "x"}, {}, "refused", ["failed"]),
    ("notes.write", {}, {}, "pending", ["needs_approval"]),
    ("notes.write", {}, {"approver": ScriptedApprover(always=None)}, "pending", ["needs_approval"]),
    (
        "notes.write",
        {"text": "a"},
        {"approver": ScriptedApprover(always=approve(by="bo"))},
        "completed",
        ["needs_approval", "approved", "started", "completed"],
    ),
    (
        "notes.write",
        {},
        {"approver": ScriptedApprover(always=reject("no"))},
        "refused",
        ["needs_approval", "cancelled"],
    ),
    (
        "notes.write",
        {},
        {"approver": ScriptedApprover(always=respond("x"))},
        "completed",
        ["needs_approval", "completed"],
    ),
    (
        "notes.write",
        {},
        {"approver": ScriptedApprover(always="what?")},
        "refused",
        ["needs_approval", "failed"],
    ),
    ("notes.write", {}, {"policy": Policy(plan=True)}, "queued", []),
    ("notes.write", {}, {"policy": Policy(approval_mode="policy")}, "completed", ["started", "completed"]),
    (
        "notes.read",
        {},
        {"policy": Policy(rules=[Rule(tool="notes.*", verdict="deny")])},
        "refused",
        ["failed"],
    ),
]


@pytest.mark.req("EV-01", "EV-02", "EV-03", "EV-04", "EV-05", "EV-07", "EV-08")
@pytest.mark.parametrize(("name", "args", "options", "status", "kinds"), ENDINGS)
async def test_each_ending_has_its_events_in_order(
    name: str, args: dict[str, Any], options: dict[str, Any], status: str, kinds: list[str]
) -> None:
    async with Handrail(TOOLS, **options) as hr:
        outcome = await hr.call(name, args, principal=ANA, session="s1")
        events = list(hr.log.read("acme", session="s1"))
    assert outcome.status == status
    assert [event.kind for event in events] == kinds
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert {event.call_id for event in events} <= {outcome.call_id}
    assert {event.tool for event in events} <= {outcome.tool}
    assert open_runs(iter(events)) == set()
    for event in events:
        told = json.loads(json.dumps(event.to_dict()))
        assert (told["tenant"], told["session"], told["source"]) == ("acme", "s1", "agent")
        assert (told["user"], told["agent"], told["type"]) == ("ana", "ops", event.type)
        if event.kind in ("started", "chunk", "completed", "failed", "cancelled"):
            assert told["run_id"] == outcome.run_id


@pytest.mark.req("EV-06", "CX-07")
@pytest.mark.parametrize("way", ["by the user", "by the runtime"])
async def test_a_cancelled_call_ends_with_tool_cancelled(way: str) -> None:
    running = asyncio.Event()
    async with Handrail(TOOLS) as hr:
        hr.subscribe(lambda event: running.set() if event.kind == "progress" else None)
        task = asyncio.create_task(hr.call("notes.ponder", principal=ANA, session="s1", id="c1"))
        await running.wait()
        if way == "by the user":
            assert await hr.cancel("c1", "the window was closed")
            outcome = await task
            assert (outcome.status, outcome.code) == ("cancelled", "CANCELLED")
        else:
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        events = list(hr.log.read("acme", session="s1"))
    assert [event.type for event in events] == ["tool.started", "tool.cancelled"]
    assert events[1].to_dict()["code"] == "CANCELLED"
    assert ("the window was closed" in events[1].to_dict()["reason"]) is (way == "by the user")
    assert open_runs(iter(events)) == set()


@pytest.mark.req("EV-02", "BY-16")
async def test_tool_started_captures_the_input_and_every_repair() -> None:
    async with Handrail(TOOLS) as hr:
        outcome = await hr.call("notes.read", {"ID": "7"}, principal=ANA, session="s1", turn=3)
        [started, _] = hr.log.read("acme", session="s1")
    told = started.to_dict()
    assert told["input"] == {"id": 7} and told["turn"] == 3
    assert [(one["path"], one["before"], one["after"]) for one in told["repairs"]] == [
        (repair.path, repair.before, repair.after) for repair in outcome.repairs
    ]
    assert ("id", "7", 7) in [(one["path"], one["before"], one["after"]) for one in told["repairs"]]
    assert started.id == outcome.run_id == told["run_id"] and told["id"] == outcome.run_id


@pytest.mark.req("EV-07", "EV-08", "BY-16")
async def test_needs_approval_and_approved_name_the_approval_the_input_and_who_agreed() -> None:
    approver = ScriptedApprover(approve(by="bo", edits={"text": "edited"}))
    async with Handrail(TOOLS, approver=approver) as hr:
        outcome = await hr.call("notes.write", {"Text": "typed"}, principal=ANA, session="s1")
        asked, agreed, started, _ = (event.to_dict() for event in hr.log.read("acme", session="s1"))
    assert asked["approval_id"] == agreed["approval_id"] == outcome.approval_id
    assert asked["input"] == {"text": "typed"} and "changes real data" in asked["reason"]
    assert asked["repairs"] != []
    assert (agreed["by"], agreed["edited"], agreed["input"]) == ("bo", True, {"text": "edited"})
    assert started["input"] == {"text": "edited"}


@pytest.mark.req("EV-04", "EV-05", "EX-18")
async def test_ends_capture_output_or_error_and_how_long_it_took() -> None:
    ticks = iter(range(100))
    clock = Clock(now=lambda: 7.0, ticks=lambda: float(next(ticks)))
    async with Handrail(TOOLS, clock=clock) as hr:
        good = await hr.call("notes.read", principal=ANA, session="s1")
        bad = await hr.call("notes.tear", principal=ANA, session="s1")
        none = await hr.call("notes.none", principal=ANA, session="s1")
        _, completed, _, failed, refused = (event.to_dict() for event in hr.log.read("acme", session="s1"))
    assert completed["result"]["data"] == "note 1" and completed["at"] == 7.0
    assert (failed["error"], failed["code"]) == ("the paper is too thick", "TOOL_FAILED")
    assert (refused["code"], refused["layer"], refused["run_id"]) == ("TOOL_NOT_FOUND", "find", None)
    assert [one.duration_ms for one in (good, bad, none)] == [1000.0, 1000.0, 1000.0]
    assert [one["duration_ms"] for one in (completed, failed, refused)] == [1000.0, 1000.0, 1000.0]


@pytest.mark.req("EV-03", "ST-03")
async def test_chunks_put_together_are_the_running_output() -> None:
    async with Handrail(TOOLS) as hr:
        await hr.call("notes.print", principal=ANA, session="s1")
        assert output_of(hr.log.read("acme", session="s1")) == "one two"


@pytest.mark.req("EV-17")
async def test_a_call_without_a_session_opens_one_for_itself_and_its_nested_calls() -> None:
    seen: list[str] = []

    @tool("notes.outer", level="read")
    async def outer(*, ctx: Context) -> None:
        """Call another tool."""
        seen.append(ctx.session_id)
        await ctx.call("notes.read")

    async with Handrail([*TOOLS, outer]) as hr:
        first = await hr.call("notes.outer", principal=ANA)
        await hr.call("notes.read", principal=ANA)
        events = list(hr.log.read("acme", session=seen[0]))
    assert [(event.kind, event.tool, event.seq) for event in events] == [
        ("started", "notes.outer", 1),
        ("started", "notes.read", 2),
        ("completed", "notes.read", 3),
        ("completed", "notes.outer", 4),
    ]
    assert {event.to_dict()["parent"] for event in events} == {None, first.call_id}


@pytest.mark.req("EV-17", "EV-16")
async def test_events_go_to_the_callers_session_of_the_callers_tenant() -> None:
    async with Handrail(TOOLS) as hr:
        for tenant in ("acme", "other", "acme"):
            await hr.call("notes.read", principal=Principal(tenant, "u"), session="same name")
        acme = list(hr.log.read("acme", session="same name"))
        other = list(hr.log.read("other", session="same name"))
    assert [event.seq for event in acme] == [1, 2, 3, 4]
    assert [event.seq for event in other] == [1, 2]
    assert {event.tenant for event in acme} == {"acme"}


@pytest.mark.req("EV-03", "NM-07")
async def test_chunks_of_a_tool_called_by_another_name_carry_its_canonical_id() -> None:
    @tool("notes.drip", level="read", aliases=["drip"])
    async def drip(*, ctx: Context) -> None:
        """Drip."""
        ctx.append_output("x")
        ctx.metadata(title="Dripping")

    heard: list[Event] = []
    async with Handrail([StaticToolset([drip])]) as hr:
        hr.subscribe(heard.append)
        await hr.call("drip", principal=ANA)
    assert [event.tool for event in heard] == ["notes.drip"] * 4
