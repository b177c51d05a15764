"""Scenarios: what a process is doing when it dies, and how the next one finds it and ends it.

`play` runs in one child and `recover` in another on the same database; both tell the ledger what they were
promised. Each order stands for one wish of a caller, so no order may be charged twice.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from handrail import Call, Handrail, Outcome
from handrail.ext.tools import Task
from tests.harness import raw_database, shop
from tests.harness.kill_points import KillPoint, arm, die_at, modules_of, points_of, trace_lines
from tests.harness.ledger import LedgerWriter
from tests.harness.shop import AGENT, CLERK, REVIEWER, SESSION, open_shop

STAGES = (
    "handrail.core.guard",
    "handrail.core.run",
    "handrail.core.tell",
    "handrail.databases",
    "handrail.engine.handrail",
    "handrail.jobs",
    "handrail.store",
    "tests.harness.shop",
)
"""The packages that a call passes through: every line of theirs is a point to die at."""

Scenario = Callable[[Handrail, LedgerWriter], Awaitable[None]]
_scenarios: dict[str, Scenario] = {}


def scenario(play: Scenario) -> Scenario:
    _scenarios[play.__name__] = play
    return play


def names() -> list[str]:
    return sorted(_scenarios)


def points() -> list[KillPoint]:
    """Every line at which a process may die, but for migrations, which have tests of their own."""
    return points_of(name for name in modules_of(*STAGES) if ".migrations" not in name)


def _asked(ledger_writer: LedgerWriter, name: str, order: str, **more: Any) -> str:
    """Say that a call is about to be made, so that whoever comes after knows its id."""
    call = f"call_{order}"
    ledger_writer.write("asked", tool=name, order=order, call=call, **more)
    return call


def _answered(ledger_writer: LedgerWriter, outcome: Outcome, source: str) -> Outcome:
    ledger_writer.write(
        "answered", call=outcome.call_id, status=outcome.status, run=outcome.run_id, source=source
    )
    return outcome


@scenario
async def a_write(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """A program writes and is answered when it is on record."""
    id = _asked(ledger_writer, "shop.charge", "write")
    out = await hr.call(
        "shop.charge", {"order": "write"}, principal=CLERK, source="api", session=SESSION, id=id
    )
    _answered(ledger_writer, out, "api")


@scenario
async def a_write_in_a_thread(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """An agent uses a tool that is not async."""
    id = _asked(ledger_writer, "shop.print", "thread")
    out = await hr.call("shop.print", {"order": "thread"}, principal=AGENT, session=SESSION, id=id)
    _answered(ledger_writer, out, "agent")


@scenario
async def a_write_under_a_key(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """An agent writes under a key; the same is asked again after the crash."""
    id = _asked(ledger_writer, "shop.charge", "keyed", key="k1")
    out = await hr.call(
        "shop.charge", {"order": "keyed"}, principal=AGENT, session=SESSION, id=id, idempotency_key="k1"
    )
    _answered(ledger_writer, out, "agent")


@scenario
async def a_gated_write(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """A person agrees to what an agent wants."""
    id = _asked(ledger_writer, "shop.refund", "gated")
    out = await hr.call("shop.refund", {"order": "gated"}, principal=AGENT, session=SESSION, id=id)
    _answered(ledger_writer, out, "agent")
    assert out.approval_id is not None
    await hr.approvals.approve(out.approval_id, by=REVIEWER)
    ledger_writer.write("approved", call=id, approval=out.approval_id)
    _answered(ledger_writer, await hr.wait(id, timeout=40), "job")


@scenario
async def a_read(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    id = _asked(ledger_writer, "shop.look", "read")
    _answered(
        ledger_writer,
        await hr.call("shop.look", {"order": "read"}, principal=AGENT, session=SESSION, id=id),
        "agent",
    )


@scenario
async def a_batch(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """A pass of a model: two writes and a read."""
    calls = [
        Call(
            name,
            {"order": order},
            principal=AGENT,
            session=SESSION,
            id=_asked(ledger_writer, name, order),
        )
        for name, order in (("shop.charge", "first"), ("shop.look", "second"), ("shop.print", "third"))
    ]
    for out in await hr.call_many(calls):
        _answered(ledger_writer, out, "agent")


@scenario
async def a_submitted_write(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """A program leaves a write to be done in the background."""
    await _submit(hr, ledger_writer, "shop.charge", "submitted")


@scenario
async def a_submitted_write_that_may_repeat(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    await _submit(hr, ledger_writer, "shop.index", "repeatable")


@scenario
async def a_graph(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """A program leaves tasks that come after one another; one of them fails."""
    tasks = [
        Task("join", "shop.charge", {"order": "g-join"}, ("first", "left")),
        Task("lost", "shop.charge", {"order": "g-lost"}, ("left", "right")),
        Task("first", "shop.charge", {"order": "g-first"}),
        Task("left", "shop.index", {"order": "g-left"}, "first"),
        Task("right", "shop.stamp", {"order": "g-right"}, "first"),
        Task("behind", "shop.look", {"order": "g-behind"}, "lost"),
    ]
    for name, out in (await hr.submit_all(tasks, principal=AGENT, session=SESSION)).items():
        ledger_writer.write("submitted", order=f"g-{name}", call=out.call_id)
    for entry in await hr._jobs.list("acme"):
        _answered(ledger_writer, await hr.wait(entry.id, timeout=40), "job")


async def _submit(hr: Handrail, ledger_writer: LedgerWriter, name: str, order: str) -> None:
    ledger_writer.write("asked", tool=name, order=order)
    out = await hr.submit(name, {"order": order}, principal=AGENT, session=SESSION)
    ledger_writer.write("submitted", order=order, call=out.call_id)
    _answered(ledger_writer, await hr.wait(out.call_id, timeout=40), "job")


def play(name: str, url: str | None, ledger: str, at: list[Any] | None = None, whole: bool = False) -> None:
    """Play a scenario and die at a point, or tell which points were passed.

    What counts is the scenario alone, or the `whole` of it: opening the database and closing it, too.
    """
    ledger_writer = LedgerWriter(ledger)
    shop.use(ledger_writer, Path(ledger).parent)
    passed: Counter[KillPoint] = Counter()
    if at is None:
        trace_lines(frozenset(point.file for point in points()), lambda point: passed.update((point,)))
    else:
        _mark(at)
    if whole:
        arm()
    asyncio.run(_play(_scenarios[name], url, ledger_writer))
    if at is None:
        told = [[point.file, point.function, point.line, times] for point, times in passed.items()]
        ledger_writer.write("passed", scenario=name, points=told)


def _mark(at: list[Any]) -> None:
    file, function, line, time = at
    die_at(KillPoint(file, function, line), time)


async def _play(scenario: Scenario, url: str | None, ledger_writer: LedgerWriter) -> None:
    async with open_shop(url) as hr:
        ledger_writer.write("opened", pid=os.getpid())
        following = asyncio.create_task(_follow(hr, ledger_writer)) if url is not None else None
        arm()
        await scenario(hr, ledger_writer)
        if following is not None:
            following.cancel()


async def _follow(hr: Handrail, ledger_writer: LedgerWriter) -> None:
    """Tell the ledger of every event that is shown to whoever follows: such an event is never lost."""
    async for event in hr.events(CLERK, session=SESSION):
        ledger_writer.write("event", seq=event.seq, type=event.type, call=event.call_id)


def recover(url: str, ledger: str, at: list[Any] | None = None, patience: float = 30) -> None:
    """Open the database again, answer what waits, and go when nothing is left to be done."""
    ledger_writer = LedgerWriter(ledger)
    shop.use(ledger_writer, Path(ledger).parent)
    if at is not None:
        _mark(at)
        arm()
    asyncio.run(_recover(url, ledger_writer, patience))


async def _recover(url: str, ledger_writer: LedgerWriter, patience: float) -> None:
    async with open_shop(url) as hr:
        ledger_writer.write("reopened", pid=os.getpid())
        again = await hr.call(
            "shop.charge", {"order": "keyed"}, principal=AGENT, session=SESSION, idempotency_key="k1"
        )
        ledger_writer.write("again", status=again.status, code=again.code)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + patience
        while left := raw_database.unfinished(url):
            if loop.time() > deadline:
                ledger_writer.write("unfinished", left=left)
                return
            for request in await hr.approvals.list(REVIEWER):
                await hr.approvals.approve(request.id, by=REVIEWER)
            await asyncio.sleep(0.01)
