"""hr.stream: the events of one call, as they happen."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, ToolError, tool
from handrail.core.tell.log import open_runs
from handrail.ext.compat import tool_context
from handrail.ext.events import Event
from handrail.ext.guard import approve, reject
from handrail.testing import ScriptedApprover

ANA = Principal(tenant="acme", user="ana")
OPEN = Policy(approval_mode="policy")


@tool("report.write", level="read")
async def write_report(pages: int = 2, *, ctx: Context) -> str:
    """Write a report."""
    for page in range(1, pages + 1):
        ctx.metadata({"title": f"Page {page} of {pages}"}, page=page)
        await asyncio.sleep(0)
        ctx.append_output(f"Page {page}. ")
    return f"{pages} pages"


@tool("report.print", level="read")
def print_report(pages: int = 2, *, ctx: Context) -> str:
    """Print a report, in a thread."""
    for page in range(1, pages + 1):
        ctx.metadata(title=f"Page {page} of {pages}")
        ctx.append_output(f"Page {page}. ")
    return f"{pages} pages"


@tool("report.await", level="read", writes=lambda args: ["report"])
async def await_report(*, ctx: Context) -> None:
    """Wait for a report that never comes."""
    ctx.append_output("waiting")
    await asyncio.Event().wait()


@tool("report.send", level="write")
async def send_report() -> str:
    """Send the report."""
    return "sent"


TOOLS = [write_report, print_report, await_report, send_report]


def told(event: Event) -> str:
    payload = event.payload()
    return str(payload.get("chunk") or payload.get("told", {}).get("title") or event.kind)


async def kinds(events: AsyncIterator[Event]) -> list[str]:
    return [event.kind async for event in events]


@pytest.mark.req("ST-01", "ST-03", "ST-05")
@pytest.mark.parametrize("name", ["report.write", "report.print"])
async def test_progress_and_output_arrive_in_order_from_a_loop_and_from_a_thread(name: str) -> None:
    async with Handrail(TOOLS) as hr:
        events = [event async for event in hr.stream(name, {"pages": 3}, principal=ANA, session="s1")]
        stored = [event.kind for event in hr.log.read("acme", session="s1")]
    assert list(map(told, events)) == [
        "started",
        *(line for page in (1, 2, 3) for line in (f"Page {page} of 3", f"Page {page}. ")),
        "completed",
    ]
    assert len({event.call_id for event in events}) == 1
    assert stored == ["started", "chunk", "chunk", "chunk", "completed"], "progress is shown, not stored"


@pytest.mark.req("ST-01")
async def test_progress_carries_whatever_a_body_has_to_say_as_json() -> None:
    @tool("report.say", level="read")
    async def say(*, ctx: Context) -> None:
        """Say much."""
        ctx.metadata({"title": "Saying"}, done={1}, of=object, rate=float("nan"))
        ctx.metadata()

    async with Handrail([say]) as hr:
        progress = [
            event.payload()["told"] async for event in hr.stream("report.say") if event.kind == "progress"
        ]
    assert progress == [{"title": "Saying", "done": [1], "of": "<class 'object'>", "rate": None}, {}]


@pytest.mark.req("ST-02", "EV-11")
async def test_a_panel_shows_the_current_line_while_running_and_the_summary_afterwards() -> None:
    line = ""
    lines = []
    async with Handrail(TOOLS) as hr:
        async for event in hr.stream("report.write", principal=ANA):
            match event.kind, event.payload():
                case "progress", {"told": {"title": title}}:
                    line = title
                case "completed", {"result": result}:
                    line = result.get("summary") or result["data"]
                case _:
                    continue
            lines.append(line)
    assert lines == ["Page 1 of 2", "Page 2 of 2", "2 pages"]


@pytest.mark.req("ST-05")
async def test_approvals_are_part_of_the_stream() -> None:
    async with Handrail(TOOLS, approver=ScriptedApprover(approve(by="bo"))) as hr:
        assert await kinds(hr.stream("report.send", principal=ANA)) == [
            "needs_approval",
            "approved",
            "started",
            "completed",
        ]


@pytest.mark.req("ST-05")
@pytest.mark.parametrize(
    ("name", "args", "options", "ends"),
    [
        ("report.none", {}, {}, ["failed"]),
        ("report.write", {"pages": "many"}, {}, ["failed"]),
        ("report.send", {}, {}, ["needs_approval"]),
        ("report.send", {}, {"approver": ScriptedApprover(always=reject())}, ["needs_approval", "cancelled"]),
        ("report.send", {}, {"policy": Policy(plan=True)}, ["settled"]),
    ],
)
async def test_a_stream_that_runs_nothing_ends_with_one_last_event(
    name: str, args: dict[str, Any], options: dict[str, Any], ends: list[str]
) -> None:
    async with Handrail(TOOLS, **options) as hr:
        assert await kinds(hr.stream(name, args, principal=ANA)) == ends


@pytest.mark.req("ST-05")
async def test_the_stream_of_a_duplicate_ends_with_one_event_that_holds_the_outcome() -> None:
    async with Handrail(TOOLS, policy=OPEN) as hr:
        first = await hr.call("report.send", principal=ANA, idempotency_key="k")
        [settled] = [event async for event in hr.stream("report.send", principal=ANA, idempotency_key="k")]
    assert settled.kind == "settled" and settled.payload() == {"status": "duplicate", "code": "DUPLICATE"}
    assert settled.outcome.result.data == first.result.data  # type: ignore[attr-defined]


@pytest.mark.req("ST-05")
async def test_the_stream_of_a_twin_of_a_pending_call_has_a_last_event_as_well() -> None:
    async with Handrail(TOOLS) as hr:
        await hr.call("report.send", principal=ANA, idempotency_key="k")
        assert len(await kinds(hr.stream("report.send", principal=ANA, idempotency_key="k"))) == 1


@pytest.mark.req("ST-05", "CX-07", "CX-08")
@pytest.mark.parametrize("way", ["break", "raise", "aclose before the end"])
async def test_leaving_the_loop_early_cancels_the_call_and_leaves_nothing_open(way: str) -> None:
    async with Handrail(TOOLS) as hr:
        stream = hr.stream("report.await", principal=ANA, session="s1")
        if way == "aclose before the end":
            assert (await anext(stream)).kind == "started"
            await stream.aclose()
        else:
            try:
                async with aclosing(stream) as events:
                    async for event in events:
                        if event.kind == "chunk":
                            if way == "break":
                                break
                            raise LookupError
            except LookupError:
                pass
        log = list(hr.log.read("acme", session="s1"))
        assert [event.kind for event in log][-1] == "cancelled" and open_runs(iter(log)) == set()
        assert hr._runtime.running == {} and hr._runtime.teller.listeners.all == ()
        assert len(hr._runtime.claims) == 0  # type: ignore[arg-type]
        assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


@pytest.mark.req("ST-05")
async def test_two_streams_at_once_do_not_mix() -> None:
    async with Handrail(TOOLS) as hr:
        first, second = await asyncio.gather(
            *(
                asyncio.create_task(collect(hr.stream(name, {"pages": n}, principal=ANA, session="s1")))
                for name, n in (("report.write", 3), ("report.print", 2))
            )
        )
    assert list(map(told, first)).count("completed") == list(map(told, second)).count("completed") == 1
    assert "Page 3 of 3" in map(told, first) and not any("of 3" in told(event) for event in second)
    assert {event.call_id for event in first}.isdisjoint({event.call_id for event in second})


async def collect(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


@pytest.mark.req("ST-05")
async def test_a_call_that_is_not_streamed_beside_it_is_not_heard() -> None:
    async with Handrail(TOOLS) as hr:
        stream = hr.stream("report.write", principal=ANA)
        first = await anext(stream)
        await hr.call("report.write", {"pages": 9}, principal=ANA)
        rest = [event async for event in stream]
    assert {event.call_id for event in rest} == {first.call_id}


@pytest.mark.req("ST-05")
async def test_a_stream_that_is_refused_because_its_id_is_in_use_does_not_reach_the_other() -> None:
    async with Handrail(TOOLS) as hr:
        first = hr.stream("report.write", principal=ANA, id="c1")
        begun = await anext(first)
        refused = [event async for event in hr.stream("report.write", principal=ANA, id="c1")]
        rest = [event.kind async for event in first]
    assert begun.kind == "started" and [event.payload()["code"] for event in refused] == ["CALL_ID_IN_USE"]
    assert rest == ["progress", "chunk", "progress", "chunk", "completed"]


@pytest.mark.req("ST-05", "CX-02", "CX-05")
async def test_a_stream_takes_what_a_call_takes() -> None:
    async with Handrail(TOOLS) as hr:
        stream = hr.stream("report.write", principal=ANA, turn=3, message="m1")
        assert {(event.call.turn, event.call.message) async for event in stream} == {(3, "m1")}


@pytest.mark.req("ST-05", "BJ-05")
async def test_a_stream_acts_for_whoever_opened_it_not_for_whoever_reads_it() -> None:
    async with Handrail(TOOLS) as hr:
        with tool_context("acme"):
            stream = hr.stream("report.write")
        assert {event.tenant async for event in stream} == {"acme"}


@pytest.mark.req("ST-01", "ST-03")
async def test_nothing_can_be_told_of_a_call_that_is_over() -> None:
    kept: list[Context] = []
    errors: list[str] = []

    @tool("report.leak", level="read")
    async def leak(*, ctx: Context) -> str:
        """Keep the context for later."""
        kept.append(ctx)
        return "done"

    heard: list[str] = []
    async with Handrail([leak]) as hr:
        await hr.call("report.leak", principal=ANA, session="s1", id="c1")
        hr.subscribe(lambda event: heard.append(event.kind))
        for late in (lambda: kept[0].append_output("x"), lambda: kept[0].metadata(title="x")):
            try:
                late()
            except Exception as error:
                errors.append(str(error))
        stored = [event.kind for event in hr.log.read("acme", session="s1")]
    assert errors == ["The call is over; nothing can be told of it any more."] * 2
    assert heard == [] and stored == ["started", "completed"]


@pytest.mark.req("ST-03")
async def test_an_old_context_cannot_speak_for_a_new_call_with_the_same_id() -> None:
    kept: list[Context] = []
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool("report.keep", level="read")
    async def keep(*, ctx: Context) -> None:
        """Keep the context; the second time, wait."""
        kept.append(ctx)
        if len(kept) == 2:
            begun.set()
            await go_on.wait()

    async with Handrail([keep]) as hr:
        await hr.call("report.keep", principal=ANA, id="c1")
        task = asyncio.create_task(hr.call("report.keep", principal=ANA, id="c1", session="s2"))
        await begun.wait()
        with pytest.raises(ToolError, match="The call is over"):
            kept[0].append_output("from the past")
        with pytest.raises(ToolError, match="The call is over"):
            kept[0].secret("TOKEN")
        go_on.set()
        await task
        assert [event.kind for event in hr.log.read("acme", session="s2")] == ["started", "completed"]


@pytest.mark.req("ST-03", "CX-07")
async def test_a_thread_that_goes_on_after_its_call_ended_is_not_heard() -> None:
    begun, go_on, over = threading.Event(), threading.Event(), threading.Event()
    errors: list[str] = []

    @tool("report.ignore", level="read")
    def ignore(*, ctx: Context) -> None:
        """Ignore that it was cancelled."""
        begun.set()
        go_on.wait(5)
        try:
            ctx.append_output("too late")
        except Exception as error:
            errors.append(str(error))
        over.set()

    async with Handrail([ignore], cancel_grace=0.01) as hr:
        task = asyncio.create_task(hr.call("report.ignore", principal=ANA, session="s1", id="c1"))
        await asyncio.to_thread(begun.wait, 5)
        await hr.cancel("c1")
        outcome = await task
        go_on.set()
        await asyncio.to_thread(over.wait, 5)
        stored = [event.kind for event in hr.log.read("acme", session="s1")]
    assert outcome.status == "cancelled" and outcome.result.metadata == {"ignored": True}
    assert stored == ["started", "cancelled"] and errors == [
        "The call is over; nothing can be told of it any more."
    ]


@pytest.mark.req("ST-01", "ST-03", "TR-19")
async def test_half_a_character_in_output_or_progress_is_marked() -> None:
    @tool("report.names", level="read")
    async def names(*, ctx: Context) -> None:
        """Say the names of files."""
        ctx.append_output("caf\udce9")
        ctx.metadata(title="caf\udce9")

    async with Handrail([names]) as hr:
        lines = [told(event) async for event in hr.stream("report.names")]
    assert lines == ["started", "caf\ufffd", "caf\ufffd", "completed"]


@pytest.mark.req("ST-03")
async def test_output_is_text() -> None:
    @tool("report.bytes", level="read")
    async def send_bytes(*, ctx: Context) -> None:
        """Append what is no text."""
        ctx.append_output(b"bytes")  # type: ignore[arg-type]

    async with Handrail([send_bytes]) as hr:
        outcome = await hr.call("report.bytes")
    assert (outcome.status, outcome.result.error) == ("failed", "append_output takes text, not bytes.")
