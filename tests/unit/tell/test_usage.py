"""Usage: what is counted of which events, and that counting in parts is counting all at once."""

import asyncio
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Context, Handrail, Policy, Principal, Result, Retry, Tool, tool
from handrail.core.define.call import BoundCall, Outcome
from handrail.core.errors import ToolError, UsageError
from handrail.core.tell.counts import BOUNDS_MS, Counts
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    Progress,
    Retrying,
    Settled,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.core.tell.usage import UNKNOWN_NAME, MemoryUsageMeter, Usage, day_of, tool_runs
from handrail.testing import FakeClock

ANA = Principal(tenant="acme", user="ana", permissions={"*"})
BOT = ANA.spawn("bot")
EVE = Principal(tenant="evil", user="eve", permissions={"*"})


@tool("text.rate", level="read")
async def rate(text: str) -> Result:
    """Rate a text."""
    spent = {"cost": 0.25, "input_tokens": 100, "output_tokens": 20, "cached_tokens": 5}
    return Result(data=len(text), metadata=spent)


@tool("text.fail", level="read", retry=Retry(2, first=0, on="NO_LUCK"))
async def fail() -> None:
    """Fail."""
    raise ToolError("no luck", code="NO_LUCK")


@tool("text.send", level="write")
async def send(password: str = "") -> str:
    """Send."""
    return "sent"


@tool("text.wait", level="read")
async def wait(*, ctx: Context) -> None:
    """Wait for ever."""
    ctx.metadata(title="waiting")
    await asyncio.Event().wait()


@pytest.mark.req("RC-02", "RC-04", "RC-05", "BY-21")
async def test_every_way_a_call_can_end_is_counted_by_tool_user_agent_tenant_source_and_day() -> None:
    tally, clock = MemoryUsageMeter(), FakeClock()
    async with Handrail([rate, fail, send, wait], clock=clock) as hr:
        hr.subscribe(tally.hear)
        await hr.call("text.rate", {"text": "a"}, principal=ANA, source="web", idempotency_key="k")
        await hr.call("text.rate", {"text": "a"}, principal=ANA, source="web", idempotency_key="k")
        await hr.call("text.rate", {"text": "b"}, principal=BOT)
        await hr.call("text.rate", {}, principal=BOT)
        await hr.call("text.fail", principal=ANA)
        await hr.call("text.rate", {"text": "c"}, principal=EVE)
        for verb in ("approve", "reject", "respond"):
            waiting = await hr.call("text.send", principal=BOT)
            assert waiting.status == "pending" and waiting.approval_id
            if verb == "approve":
                await hr.approvals.approve(waiting.approval_id, by=ANA)
            elif verb == "reject":
                await hr.approvals.reject(waiting.approval_id, by=ANA)
            else:
                await hr.approvals.respond(waiting.approval_id, by=ANA, result="done by hand")
            await hr.wait(waiting.call_id, timeout=30)
        begun = asyncio.Event()
        hr.subscribe(lambda event: begun.set() if event.kind == "progress" else None)
        running = asyncio.create_task(hr.call("text.wait", principal=ANA, id="c1"))
        await begun.wait()
        await hr.cancel("c1")
        await running

    tools = await tally.read("acme", by=["tool"])
    rated = tools[("text.rate",)]
    assert (rated["calls"], rated["runs"], rated["completed"], rated["refused"]) == (4, 2, 2, 1)
    assert (rated["duplicates"], rated.refusals) == (1, {"MISSING_PARAM": 1})
    assert (rated.cost, rated["input_tokens"], rated["output_tokens"]) == (0.5, 200, 40)
    assert rated["cached_tokens"] == 10
    assert rated.success_rate == 1.0
    failed = tools[("text.fail",)]
    assert (failed.success_rate, failed.failures, failed["retries"]) == (0.0, {"NO_LUCK": 1}, 1)
    sent = tools[("text.send",)]
    assert {name: sent[name] for name in ("asked", "approved", "rejected", "answered", "runs")} == {
        "asked": 3,
        "approved": 1,
        "rejected": 1,
        "answered": 1,
        "runs": 1,
    }
    assert tools[("text.wait",)]["cancelled"] == 1
    assert (await tally.read("acme", by=["agent"]))[("bot",)]["calls"] == 5
    assert (await tally.read("acme", by=["source"]))[("web",)]["completed"] == 1
    assert list(await tally.read("acme", by=["tenant", "user"])) == [("acme", "ana")]
    assert (await tally.read("evil"))[()]["calls"] == 1
    assert list(await tally.read("acme", by=["day"])) == [(day_of(clock.now()),)]


@pytest.mark.req("RC-05")
async def test_what_is_planned_and_what_comes_from_a_cache_are_counted_apart() -> None:
    class Cache:
        async def before(self, tool: Tool, values: Any, ctx: Context) -> Result | None:
            return Result(data=1)

        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result) -> Result:
            return result

    tally = MemoryUsageMeter()
    async with Handrail([rate], hooks=[Cache()]) as hr:
        hr.subscribe(tally.hear)
        await hr.call("text.rate", {"text": "a"}, principal=ANA)
    async with Handrail([send], policy=Policy(plan=True)) as hr:
        hr.subscribe(tally.hear)
        assert (await hr.call("text.send", principal=ANA)).status == "queued"
    tools = await tally.read("acme", by=["tool"])
    assert tools[("text.rate",)]["cached"] == 1
    assert tools[("text.send",)].amounts == {"calls": 1, "planned": 1}


@pytest.mark.req("RC-05")
async def test_names_that_are_no_tools_make_one_cell_and_codes_that_are_none_one_measure() -> None:
    usage = Usage()
    async with Handrail([rate]) as hr:
        hr.subscribe(usage.add)
        for name in ("no.such", "nor.this", "\x1b[31m"):
            await hr.call(name, principal=ANA)
    assert list(usage.by("tool")) == [(UNKNOWN_NAME,)]
    usage.add(
        ToolFailed(BoundCall("t", ANA, "call_1"), "t", 0.0, "r", Result.fail("x", code="made up\n"), 1.0)
    )
    assert usage.by("tool")[("t",)].failures == {"other": 1}


@pytest.mark.parametrize("odd", [math.nan, math.inf, -1, True, "12", None, [], 1e300, 10**400])
def test_what_is_no_amount_is_not_counted(odd: Any) -> None:
    usage = Usage()
    metadata = {"cost": odd, "input_tokens": odd}
    usage.add(ToolCompleted(BoundCall("t", ANA, "call_1"), "t", 0.0, "r", Result(metadata=metadata), 1.0))
    assert usage.total().cost == 0 and usage.total()["input_tokens"] == 0


def test_a_name_that_nothing_is_counted_by_is_told() -> None:
    with pytest.raises(UsageError, match=r"not counted by 'colour'\. Give some of: tool, user, agent"):
        Usage().by("colour")  # type: ignore[arg-type]


@pytest.mark.req("RC-05")
@given(st.lists(st.floats(0, 400_000), min_size=1, max_size=60), st.sampled_from([0.5, 0.95]))
def test_a_told_quantile_is_never_below_the_true_one_and_in_the_same_class(
    durations: list[float], share: float
) -> None:
    usage = Usage()
    for duration in durations:
        usage.add(ToolCompleted(BoundCall("t", ANA, "call_1"), "t", 0.0, "r", Result(), duration))
    counts = usage.total()
    true = sorted(durations)[max(math.ceil(share * len(durations)), 1) - 1]
    told = counts.quantile_ms(share)
    assert told is not None and counts.longest_ms is not None
    assert told >= true - 0.001
    assert told <= next((bound for bound in BOUNDS_MS if bound >= true), math.inf)
    assert counts.longest_ms == pytest.approx(max(durations), abs=0.001)


def test_a_tool_that_never_ran_has_no_latency_and_no_rate() -> None:
    told = Counts({"calls": 1, "refused": 1}).to_dict()
    assert [told[name] for name in ("success_rate", "mean_ms", "p50_ms", "p95_ms", "longest_ms")] == [
        None
    ] * 5


_calls = st.builds(
    lambda who, source: BoundCall("t", who, "c", source=source),
    st.sampled_from([ANA, BOT, EVE]),
    st.sampled_from(["web", "agent"]),
)
_results = st.builds(
    lambda success, code, cost: Result(success, code=code, metadata={"cost": cost}),
    st.booleans(),
    st.sampled_from([None, "REJECTED", "APPROVAL_EXPIRED", "UNKNOWN_OUTCOME", "TIMEOUT"]),
    st.floats(0, 1e6) | st.none(),
)
_run_ids = st.none() | st.just("r")
_times = st.floats(0, 4e5)


def _ends(kind: Callable[..., Event]) -> st.SearchStrategy[Event]:
    return st.builds(kind, _calls, st.sampled_from(["t", "u"]), _times, _run_ids, _results, st.floats(0, 1e5))


_events: st.SearchStrategy[Event] = st.one_of(
    _ends(ToolCompleted),
    _ends(ToolFailed),
    _ends(ToolCancelled),
    st.builds(lambda call, at: ToolStarted(call, "t", at, "r", {}), _calls, _times),
    st.builds(lambda call, at: NeedsApproval(call, "t", at, "a", {}, "why"), _calls, _times),
    st.builds(lambda call, at: ToolApproved(call, "t", at, "a", "ana", {}, False), _calls, _times),
    st.builds(lambda call, at: Retrying(call, "t", at, "r", 1, "x", 0.0), _calls, _times),
    st.builds(lambda call, at: Progress(call, "t", at, "r", {}), _calls, _times),
    st.builds(lambda call, at: OutputAppended(call, "t", at, "r", "x"), _calls, _times),
    st.builds(
        lambda call, at: Settled(call, "t", at, Outcome("duplicate", Result(), "c", "t")), _calls, _times
    ),
)


@pytest.mark.req("RC-05")
@given(st.lists(st.tuples(_events, st.integers(0, 2)), max_size=40))
def test_counting_in_parts_and_merging_is_counting_all_at_once(told: list[tuple[Event, int]]) -> None:
    whole, parts = Usage(), [Usage(), Usage(), Usage()]
    for event, part in told:
        whole.add(event)
        parts[part].add(event)
    for order in ((0, 1, 2), (2, 0, 1)):
        merged = Usage()
        for part in order:
            merged.merge(parts[part])
        assert merged == whole


@pytest.mark.req("RC-01")
async def test_each_run_tells_one_tool_run_however_it_ends_and_no_argument_or_result() -> None:
    told: list[dict[str, Any]] = []
    async with Handrail([rate, fail, send], policy=Policy(approval_mode="policy")) as hr:
        stop = hr.subscribe(tool_runs(told.append))
        rated = await hr.call("text.rate", {"text": "hush"}, principal=BOT, session="s1")
        failed = await hr.call("text.fail", principal=ANA)
        await hr.call("text.send", {"password": "pw-12345"}, principal=ANA)
        await hr.call("text.rate", {}, principal=ANA)
        await hr.call("no.such", principal=ANA)
        stop()
        await hr.call("text.rate", {"text": "unheard"}, principal=BOT)
    assert [one["status"] for one in told] == ["completed", "failed", "completed"]
    assert [one["run_id"] for one in told[:2]] == [rated.run_id, failed.run_id]
    assert {**told[0], "at": 0, "duration_ms": 0, "day": ""} == {
        "event": "tool_run",
        "run_id": rated.run_id,
        "call_id": rated.call_id,
        "session": "s1",
        "at": 0,
        "tenant": "acme",
        "day": "",
        "tool": "text.rate",
        "user": "ana",
        "agent": "bot",
        "source": "agent",
        "status": "completed",
        "code": None,
        "duration_ms": 0,
        "cost": 0.25,
        "input_tokens": 100,
        "output_tokens": 20,
        "cached_tokens": 5,
    }
    assert told[1]["code"] == "NO_LUCK"
    assert "hush" not in str(told) and "pw-12345" not in str(told)


async def test_a_process_that_counts_for_ever_keeps_only_the_newest_cells() -> None:
    tally = MemoryUsageMeter(keep=3)
    for day in range(10):
        call = BoundCall("t", ANA, "call_1")
        tally.hear(ToolCompleted(call, "t", day * 86_400.0, "r", Result(), 1.0))
    days = list(await tally.read("acme", by=["day"]))
    assert days == [("1970-01-08",), ("1970-01-09",), ("1970-01-10",)]
    morning = 8 * 86_400.0
    assert list(await tally.read("acme", since=morning + 5, until=morning + 9, by=["day"])) == days[1:2]


@given(st.integers(0, 4 * 10**9), st.sampled_from([0.0, 0.25, 0.999]))
def test_the_day_of_a_time_is_that_of_utc(second: int, part: float) -> None:
    assert day_of(second + part) == datetime.fromtimestamp(second, UTC).date().isoformat()
