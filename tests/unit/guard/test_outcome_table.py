"""What a caller gets back, against the outcome table of the design: status, code and events."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from itertools import product
from typing import Any

import pytest

from handrail import Handrail, Outcome, Policy, Principal, Tool, tool
from handrail.core.define.levels import DANGERS, LEVELS, POLICIES
from handrail.core.guard.idempotency import KeyEntry
from handrail.ext.guard import reject
from handrail.ext.ports import MemoryIdempotencyKeys
from handrail.testing import FakeClock, ScriptedApprover
from tests.unit.guard.oracle import Case, expected

OUTCOMES: dict[str, tuple[str, str | None, list[str]]] = {
    "done": ("completed", None, ["tool.started", "tool.completed"]),
    "body failed": ("failed", "TOOL_FAILED", ["tool.started", "tool.failed"]),
    "timed out": ("failed", "TIMEOUT", ["tool.started", "tool.failed"]),
    "unknown": ("refused", "TOOL_NOT_FOUND", ["tool.failed"]),
    "hidden": ("refused", "TOOL_NOT_FOUND", ["tool.failed"]),
    "not permitted": ("refused", "NOT_PERMITTED", ["tool.failed"]),
    "argument missing": ("refused", "MISSING_PARAM", ["tool.failed"]),
    "argument invalid": ("refused", "INVALID_PARAM", ["tool.failed"]),
    "definition changed since seen": ("refused", "STALE_TOOL", ["tool.failed"]),
    "waits for a person": ("pending", "NEEDS_APPROVAL", ["tool.needs_approval"]),
    "rejected": ("refused", "REJECTED", ["tool.needs_approval", "tool.cancelled"]),
    "expired": ("refused", "APPROVAL_EXPIRED", ["tool.needs_approval", "tool.failed"]),
    "plan mode": ("queued", "PLANNED", []),
    "same call again": ("duplicate", "DUPLICATE", []),
    "cancelled": ("cancelled", "CANCELLED", ["tool.started", "tool.cancelled"]),
    "crashed, outcome unknown": ("needs_review", "UNKNOWN_OUTCOME", ["tool.failed"]),
}
"""The rows, with the events of a call whose gate told `tool.needs_approval` before."""

ROW_OF = {"allow": "done", "ask": "waits for a person", "queue": "plan mode", "deny": "not permitted"}

ANA = Principal(tenant="acme", user="ana")
SCENARIOS: dict[str, Callable[[], Awaitable[tuple[Handrail, Outcome]]]] = {}


def scenario(row: str) -> Callable[[Any], Any]:
    """What makes a row of the table happen."""

    def keep(fn: Any) -> Any:
        SCENARIOS[row] = fn
        return fn

    return keep


def acting(**options: Any) -> Tool:
    @tool("t.act", **{"level": "read", **options})
    async def act(count: int = 1) -> int:
        """Act."""
        return count

    return act


@scenario("done")
async def done():
    hr = Handrail([acting()])
    return hr, await hr.call("t.act", principal=ANA)


@scenario("body failed")
async def body_failed():
    @tool("t.fail", level="read")
    async def fail() -> None:
        """Fail."""
        raise RuntimeError("no ink")

    hr = Handrail([fail])
    return hr, await hr.call("t.fail", principal=ANA)


@scenario("timed out")
async def timed_out():
    @tool("t.wait", level="read", timeout=0.01)
    async def wait() -> None:
        """Wait."""
        await asyncio.Event().wait()

    hr = Handrail([wait])
    return hr, await hr.call("t.wait", principal=ANA)


@scenario("unknown")
async def unknown():
    hr = Handrail([acting()])
    return hr, await hr.call("t.nothing", principal=ANA)


@scenario("hidden")
async def hidden():
    hr = Handrail([acting(tenants=["globex"])])
    return hr, await hr.call("t.act", principal=ANA)


@scenario("not permitted")
async def not_permitted():
    hr = Handrail([acting(requires="t.right")])
    return hr, await hr.call("t.act", principal=ANA)


@scenario("argument missing")
async def argument_missing():
    @tool("t.need", level="read")
    async def need(count: int) -> int:
        """Need."""
        return count

    hr = Handrail([need])
    return hr, await hr.call("t.need", principal=ANA)


@scenario("argument invalid")
async def argument_invalid():
    hr = Handrail([acting()])
    return hr, await hr.call("t.act", {"count": "many"}, principal=ANA)


@scenario("definition changed since seen")
async def definition_changed():
    hr = Handrail([acting()])
    return hr, await hr.call("t.act", principal=ANA, digest="what the caller saw")


@scenario("waits for a person")
async def waits():
    hr = Handrail([acting(level="write")])
    return hr, await hr.call("t.act", principal=ANA)


@scenario("rejected")
async def rejected():
    hr = Handrail([acting(level="write")], approver=ScriptedApprover(reject("not today")))
    return hr, await hr.call("t.act", principal=ANA)


@scenario("expired")
async def expired_approval():
    clock = FakeClock()
    late = ScriptedApprover(lambda request: clock.turn(61) > 0)
    hr = Handrail([acting(level="write")], approver=late, approval_lifetime=60, clock=clock)
    return hr, await hr.call("t.act", principal=ANA)


@scenario("plan mode")
async def plan_mode():
    hr = Handrail([acting(level="write")], policy=Policy(plan=True))
    return hr, await hr.call("t.act", principal=ANA)


@scenario("same call again")
async def same_call_again():
    hr = Handrail([acting()])
    await hr.call("t.act", principal=ANA, idempotency_key="k")
    return hr, await hr.call("t.act", principal=ANA, idempotency_key="k")


@scenario("cancelled")
async def cancelled():
    began = asyncio.Event()

    @tool("t.wait", level="read")
    async def wait() -> None:
        """Wait."""
        began.set()
        await asyncio.Event().wait()

    hr = Handrail([wait])
    task = asyncio.create_task(hr.call("t.wait", principal=ANA, id="c1"))
    await began.wait()
    await hr.cancel("c1")
    return hr, await task


@scenario("crashed, outcome unknown")
async def crashed():
    class AfterACrash(MemoryIdempotencyKeys):
        async def begin(self, key, fingerprint, call_id, /):
            ended: Future[None] = Future()
            ended.set_result(None)
            return KeyEntry(fingerprint, "dispatched", None, ended), False

    hr = Handrail([acting()], keys=AfterACrash())
    return hr, await hr.call("t.act", principal=ANA, idempotency_key="k")


@pytest.mark.req("PM-25", "AP-03", "AP-07", "BY-12", "EX-02", "EV-05", "EV-06", "EV-07")
@pytest.mark.parametrize("row", OUTCOMES)
async def test_each_row_of_the_outcome_table_happens_as_it_is_written(row: str) -> None:
    hr, out = await SCENARIOS[row]()
    events = [event.type for event in hr.log.read("acme", call_id=out.call_id)]

    assert (out.status, out.code, events) == OUTCOMES[row]
    assert (out.run_id is not None) == ("tool.started" in events or row == "same call again")
    await hr.close()


SOURCES: list[tuple[Any, Any]] = [("agent", None), ("web", None), ("api", "service")]
SIGHT = ["seen", "hidden", "not allowed", "missing permission"]


@pytest.mark.req("PM-02", "PM-03", "PM-04", "PM-09", "PM-10", "PM-11", "PM-18", "AP-11")
async def test_real_calls_end_as_the_two_tables_say_together() -> None:
    wrong: list[str] = []
    for mode, plan in product(("strict", "policy", "danger"), (False, True)):
        for level, danger, asks in product(LEVELS, DANGERS, POLICIES):
            for (source, key), sight in product(SOURCES, SIGHT):
                ran: list[int] = []
                case = Case(
                    *(level, danger, asks, mode, "ask", source, key),
                    lists="not allowed" if sight == "not allowed" else "none",
                    permission="missing" if sight == "missing permission" else "none required",
                    plan=plan,
                )
                row = "hidden" if sight == "hidden" else ROW_OF[expected(case).verdict]
                hr = _engine(case, sight, ran)
                who = Principal(tenant="acme", user="ana", key=key or "agent")
                out = await hr.call("t.act", principal=who, source=source)
                events = [event.type for event in hr.log.read("acme")]
                if (out.status, out.code, events) != OUTCOMES[row] or bool(ran) != (row == "done"):
                    wrong.append(f"{case} {sight}: {out.status} {out.code} {events}, wanted {OUTCOMES[row]}")
    assert not wrong, f"{len(wrong)} are wrong; the first:\n" + "\n".join(wrong[:10])


def _engine(case: Case, sight: str, ran: list[int]) -> Handrail:
    @tool(
        "t.act",
        level=case.level,
        danger=case.danger,
        policy=case.policy,
        requires="t.right" if sight == "missing permission" else None,
        tenants=["globex"] if sight == "hidden" else [],
    )
    async def act() -> None:
        """Act."""
        ran.append(1)

    allow = ["t.other"] if sight == "not allowed" else None
    return Handrail([act], policy=Policy(approval_mode=case.mode, plan=case.plan, allow=allow))  # type: ignore[arg-type]
