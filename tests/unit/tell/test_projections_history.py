"""What a pass keeps for the next one's prompt, and what hooks record of each call."""

import asyncio
import json
import logging
from dataclasses import dataclass, field
from typing import Any

import pytest

from handrail import Context, Handrail, Principal, Result, Tool, tool
from handrail.core.tell.projections import ToolUse, record_tool_result, tool_history

ANA = Principal(tenant="acme", user="ana")
READS: list[str] = []


@tool("files.read", level="read")
async def read(path: str) -> str:
    """Read a file."""
    READS.append(path)
    if path == "none":
        raise FileNotFoundError("there is no such file")
    return f"text of {path}"


@tool("files.wait", level="read")
async def wait(*, ctx: Context) -> None:
    """Wait for a file."""
    ctx.metadata(title="Waiting")
    await asyncio.Event().wait()


@dataclass
class WorkerState:
    tool_history: list[ToolUse] = field(default_factory=list)


@pytest.mark.req("EX-19", "RC-03", "TR-03")
def test_a_result_is_kept_for_the_next_pass_with_its_parameters_and_duration() -> None:
    state = WorkerState()
    params = {"path": "a"}
    record_tool_result(state, "files.read", params, Result(data=[1], markdown="| 1 |"), 12.5)
    params["path"] = "changed later"
    assert state.tool_history == [
        ToolUse("files.read", {"path": "a"}, Result(data=[1], markdown="| 1 |"), 12.5)
    ]
    assert state.tool_history[0].result.to_model() == "| 1 |\n[1]"


@pytest.mark.req("RC-03", "TR-03", "EX-18")
async def test_the_history_of_a_session_is_what_its_events_tell() -> None:
    running = asyncio.Event()
    async with Handrail([read, wait]) as hr:
        hr.subscribe(lambda event: running.set() if event.kind == "progress" else None)
        good = await hr.call("files.read", {"Path": "a"}, principal=ANA, session="s1")
        bad = await hr.call("files.read", {"path": "none"}, principal=ANA, session="s1")
        refused = await hr.call("files.read", {"path": ["a"], "x": 1}, principal=ANA, session="s1")
        task = asyncio.create_task(hr.call("files.wait", principal=ANA, session="s1", id="c1"))
        await running.wait()
        await hr.cancel("c1")
        stopped = await task
        used = tool_history(hr.log.read("acme", session="s1"))
    assert [(one.tool, one.params, one.result, one.duration_ms) for one in used] == [
        ("files.read", {"path": "a"}, good.result, good.duration_ms),
        ("files.read", {"path": "none"}, bad.result, bad.duration_ms),
        ("files.read", {"path": ["a"], "x": 1}, refused.result, refused.duration_ms),
        ("files.wait", {}, stopped.result, stopped.duration_ms),
    ]


class Ledger:
    """A hook that records: what was used, what failed, what can be answered from memory."""

    def __init__(self) -> None:
        self.told: list[tuple[str, bool, float]] = []
        self.cache: dict[str, Result] = {}

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        return self.cache.get(values.path)

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        self.told.append((tool.id, result.success, ctx.turn or 0))
        self.cache[values.path] = result
        return result.with_metadata(cost=len(str(result.data)))


@pytest.mark.req("EX-13", "EX-11")
async def test_a_hook_records_each_run_and_may_answer_the_next_one() -> None:
    READS.clear()
    ledger = Ledger()
    async with Handrail([read], hooks=[ledger]) as hr:
        first = await hr.call("files.read", {"path": "a"}, principal=ANA, turn=2, session="s1")
        again = await hr.call("files.read", {"path": "a"}, principal=ANA, turn=3, session="s1")
        events = [event.kind for event in hr.log.read("acme", session="s1")]
    assert ledger.told == [("files.read", True, 2)] and READS == ["a"]
    assert first.result.metadata == {"cost": 9}
    assert again.result.data == first.result.data and again.result.metadata["cached"] is True
    assert events == ["started", "completed"] * 2


@pytest.mark.req("EX-13")
async def test_hooks_run_in_order_and_see_what_the_earlier_ones_made() -> None:
    class Mark:
        def __init__(self, name: str) -> None:
            self.name = name

        async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
            return None

        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
            return result.with_metadata(marks=[*result.metadata.get("marks", []), self.name])

    async with Handrail([read], hooks=[Mark("a"), Mark("b")]) as hr:
        outcome = await hr.call("files.read", {"path": "a"})
    assert outcome.result.metadata == {"marks": ["a", "b"]}


@pytest.mark.req("EX-13")
@pytest.mark.parametrize("fault", ["raises", "returns nothing", "returns what is no JSON"])
async def test_a_hook_that_fails_is_reported_beside_the_result(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty:
        async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
            return None

        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Any:
            if fault == "raises":
                raise OSError("the ledger is lost")
            return None if fault == "returns nothing" else Result(data=object())

    ledger = Ledger()
    async with Handrail([read], hooks=[Faulty(), ledger]) as hr:
        with caplog.at_level(logging.ERROR):
            outcome = await hr.call("files.read", {"path": "a"}, session="s1")
        json.dumps([event.to_dict() for event in hr.log.read("local")])
    if fault == "returns what is no JSON":
        assert outcome.code == "INVALID_OUTPUT"
    else:
        assert outcome.ok and outcome.result.data == "text of a"
        assert "recording failed" in outcome.result.metadata["warning"]
    assert len(ledger.told) == 1, "the next hook is not kept from its work"


@pytest.mark.req("EX-13", "RT-04")
async def test_a_failure_leaves_its_evidence_in_the_record() -> None:
    async with Handrail([read]) as hr:
        await hr.call("files.read", {"path": "none"}, principal=ANA, session="s1")
        started, failed = (event.to_dict() for event in hr.log.read("acme", session="s1"))
    assert started["input"] == failed["input"] == {"path": "none"}
    assert (failed["error"], failed["code"]) == ("there is no such file", "TOOL_FAILED")
    assert failed["duration_ms"] > 0 and failed["run_id"] == started["run_id"]
