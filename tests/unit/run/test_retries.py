"""A body that failed is tried again: which failures, which tools, the same call, run and key."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest

from handrail import Handrail, Principal, Result, Retry, ToolError, tool
from handrail.ext.events import Event, Retrying
from tests.unit.run.flaky_tool import ANA, RETRY_WITHOUT_PAUSE, WITHOUT_ASKING, FlakyTool


@pytest.mark.req("RT-01")
async def test_a_failure_is_tried_again_until_it_works() -> None:
    flaky = FlakyTool(ConnectionError("gone"), OSError("still gone"))
    heard: list[Event] = []
    async with Handrail([flaky.tool()]) as hr:
        hr.subscribe(heard.append)
        out = await hr.call("sky.read", principal=ANA)

    assert (out.status, out.result.data, out.result.metadata) == ("completed", "blue", {"attempts": 3})
    assert [event.kind for event in heard] == ["started", "retrying", "retrying", "completed"]
    told = [event.payload() for event in heard if isinstance(event, Retrying)]
    assert told == [
        {"run_id": out.run_id, "attempt": 1, "error": "gone", "pause": 0},
        {"run_id": out.run_id, "attempt": 2, "error": "still gone", "pause": 0},
    ]
    kept = [event.type for event in hr.log.read("acme", call_id=out.call_id)]
    assert kept == ["tool.started", "tool.completed"], "an attempt is shown, not stored"


@pytest.mark.req("BY-12", "RT-01")
@pytest.mark.parametrize("key", [None, "order-17"])
async def test_every_attempt_has_the_same_call_run_and_key(key: str | None) -> None:
    flaky = FlakyTool(ValueError(), ValueError())
    async with Handrail([flaky.tool(level="write", idempotent=True)], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("sky.read", idempotency_key=key)
        again = await hr.call("sky.read", idempotency_key=key) if key else None

    assert flaky.seen == [(out.call_id, out.run_id, key or out.call_id)] * 3
    assert again is None or (again.status, len(flaky.seen)) == ("duplicate", 3)


@pytest.mark.req("RT-04")
async def test_a_final_failure_keeps_the_errors_of_all_attempts() -> None:
    flaky = FlakyTool(ValueError("one"), ValueError("two"), ValueError("three"))
    async with Handrail([flaky.tool()]) as hr:
        out = await hr.call("sky.read", principal=ANA)
        [failed] = hr.log.read("acme", status="failed")

    assert (out.status, out.result.error, len(flaky.seen)) == ("failed", "three", 3)
    assert out.result.metadata == {"attempts": 3, "earlier_errors": ["one", "two"]}
    assert failed.payload()["result"]["metadata"] == out.result.metadata


@pytest.mark.parametrize("value", [None, 7, True, "text", {"a": 1}, ["b"], Result(data=1, summary="one")])
async def test_whatever_a_later_attempt_returns_is_the_result(value: Any) -> None:
    @tool("plain.read", level="read")
    async def plain() -> Any:
        """Return it."""
        return value

    async with Handrail([FlakyTool(ValueError(), value).tool(), plain]) as hr:
        late, first = await hr.call("sky.read"), await hr.call("plain.read")
    assert late.result == first.result.with_metadata(attempts=2)


async def test_a_plain_output_that_came_late_is_checked_and_told_as_such() -> None:
    tries: list[int] = []

    @tool("count.up", level="read", retry=RETRY_WITHOUT_PAUSE)
    async def count() -> int:
        """Count."""
        tries.append(1)
        if len(tries) < 2:
            raise OSError
        return len(tries)

    async with Handrail([count]) as hr:
        out = await hr.call("count.up", session="s")
        *_, completed = hr.log.read("local", session="s")
    assert (out.result.data, out.result.metadata) == (2, {"attempts": 2})
    assert completed.payload()["result"] == {"success": True, "data": 2, "metadata": {"attempts": 2}}


@pytest.mark.req("RT-05")
@pytest.mark.parametrize(
    ("on", "failure", "runs"),
    [
        ((Exception,), ValueError("x"), 2),
        ((OSError,), ValueError("x"), 1),
        ((Exception,), ToolError("x"), 1),
        ((Exception,), ToolError("x", retry_after=0), 2),
        (("BUSY",), ToolError("x", code="BUSY"), 2),
        (("BUSY",), Result.fail("x", code="BUSY"), 2),
        (("BUSY",), {"error": "x", "code": "BUSY"}, 2),
        (("BUSY",), Result.fail("x", code="BROKEN"), 1),
        ((Exception,), {"error": "x"}, 1),
        ((Exception,), asyncio.CancelledError(), 1),
        ((Exception,), SystemExit(1), 1),
    ],
)
async def test_only_what_is_named_is_tried_again(on: Any, failure: Any, runs: int) -> None:
    flaky = FlakyTool(failure)
    async with Handrail([flaky.tool(retry=Retry(first=0, on=on))]) as hr:
        out = await hr.call("sky.read")
    assert (len(flaky.seen), out.ok) == (runs, runs == 2)


@pytest.mark.req("RT-05")
async def test_a_broken_promise_is_not_tried_again() -> None:
    runs: list[int] = []

    @tool("count.up", level="read", retry=Retry(first=0, on=(Exception, "TOOL_FAILED")))
    async def count() -> int:
        """Count."""
        runs.append(1)
        return "one"  # type: ignore[return-value]

    async with Handrail([count]) as hr:
        out = await hr.call("count.up")
    assert (out.code, runs, out.result.metadata) == ("INVALID_OUTPUT", [1], {})


@pytest.mark.req("RT-05")
@pytest.mark.parametrize(
    ("options", "args", "runs"),
    [
        ({"level": "read"}, {}, 3),
        ({"level": "draft"}, {}, 3),
        ({"level": "write"}, {}, 1),
        ({"level": "destructive"}, {}, 1),
        ({"level": "write", "idempotent": True}, {}, 3),
        ({"level": "write", "level_fn": lambda args: args.how}, {"how": "read"}, 3),
        ({"level": "write", "level_fn": lambda args: args.how}, {"how": "write"}, 1),
        ({"level": "write", "level_fn": lambda args: args.how, "idempotent": True}, {"how": "write"}, 3),
        ({"level": "read", "retry": 1}, {}, 1),
    ],
)
async def test_under_the_engines_retry_effects_happen_once(options: Any, args: Any, runs: int) -> None:
    count: list[str] = []

    @tool("door.open", **options)
    async def open_door(how: Literal["read", "write"] = "read") -> None:
        """Open a door."""
        count.append(how)
        raise OSError("stuck")

    person = Principal(tenant="acme", user="ana")
    async with Handrail([open_door], policy=WITHOUT_ASKING, retry=RETRY_WITHOUT_PAUSE, approver=_yes) as hr:
        out = await hr.call("door.open", args, principal=person)
    assert (out.status, len(count)) == ("failed", runs)


async def _yes(request: object) -> bool:
    return True


async def test_the_tools_own_retry_comes_before_the_engines() -> None:
    flaky = FlakyTool(*[ValueError()] * 4)
    async with Handrail([flaky.tool(retry=Retry(attempts=5, first=0))], retry=2) as hr:
        assert (await hr.call("sky.read")).result.metadata == {"attempts": 5}
