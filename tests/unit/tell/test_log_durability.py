"""Who waits for the log, and what happens when it cannot be written."""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, tool
from handrail.core.tell.events import ToolStarted
from handrail.core.tell.log import open_runs
from handrail.ext.events import Event
from handrail.ext.ports import MemoryLog

ANA = Principal(tenant="acme", user="ana")
OPEN = Policy(approval_mode="policy")


class SlowLog(MemoryLog):
    """A log that is durable only when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.written = asyncio.Event()
        self.asked = asyncio.Event()

    async def flush(self, event: Event, /) -> None:
        self.asked.set()
        await self.written.wait()


class BrokenLog:
    """A log that takes nothing, or promises and does not keep it."""

    def __init__(self, fails: str) -> None:
        self.fails = fails

    def append(self, event: Event, /) -> None:
        if self.fails == "append":
            raise OSError("the disk is full")

    async def flush(self, event: Event, /) -> None:
        raise OSError("the disk is full")

    def read(self, tenant: str, **filters: Any) -> Iterator[Event]:
        return iter(())


RAN: list[str] = []


@tool("bank.balance", level="read")
async def balance() -> str:
    """Look."""
    RAN.append("balance")
    return "100 EUR"


@tool("bank.pay", level="write")
async def pay() -> str:
    """Pay."""
    RAN.append("pay")
    return "paid"


@tool("bank.draft", level="draft")
async def draft() -> str:
    """Draft a payment."""
    RAN.append("draft")
    return "drafted"


@tool("bank.maybe", level=lambda args: "write" if args.really else "read")
async def maybe(really: bool) -> str:
    """Pay, or only look."""
    RAN.append("maybe")
    return "done"


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@pytest.mark.req("EV-09", "EX-04")
@pytest.mark.parametrize("source", ["web", "agent", "cli", "mcp", "job"])
async def test_a_read_from_a_page_or_an_agent_does_not_wait_for_the_log(source: Any) -> None:
    log = SlowLog()
    async with Handrail([balance], log=log) as hr:
        outcome = await hr.call("bank.balance", principal=ANA, source=source, session="s1")
    assert outcome.ok and not log.asked.is_set()
    assert [event.kind for event in log.read("acme", session="s1")] == ["started", "completed"]


@pytest.mark.req("EV-09")
async def test_an_api_call_waits_until_the_row_of_its_run_id_is_written() -> None:
    log = SlowLog()
    async with Handrail([balance], log=log) as hr:
        task = asyncio.create_task(
            hr.call("bank.balance", principal=ANA, source="api", session="s1", durable_start=True)
        )
        await log.asked.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        assert RAN == [] and not task.done()
        log.written.set()
        outcome = await task
    assert outcome.to_legacy_run()["runId"] == next(log.read("acme", status="started")).id
    assert RAN == ["balance"]


@pytest.mark.req("EV-09", "BY-12")
@pytest.mark.parametrize(("name", "args"), [("bank.pay", {}), ("bank.maybe", {"really": True})])
async def test_the_start_of_a_write_is_durable_before_its_body_runs(name: str, args: dict[str, Any]) -> None:
    log = SlowLog()
    async with Handrail([pay, maybe], policy=OPEN, log=log) as hr:
        task = asyncio.create_task(hr.call(name, args, principal=ANA, session="s1"))
        await log.asked.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        assert RAN == []
        assert [event.kind for event in log.read("acme", session="s1")] == ["started"]
        log.written.set()
        assert (await task).ok
    assert len(RAN) == 1


@pytest.mark.req("BY-12")
async def test_the_start_of_a_keyed_draft_is_durable_before_its_body_runs() -> None:
    log = SlowLog()
    async with Handrail([draft], log=log) as hr:
        task = asyncio.create_task(hr.call("bank.draft", principal=ANA, session="s1", idempotency_key="k1"))
        async with asyncio.timeout(10):
            await log.asked.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        assert RAN == []
        (started,) = log.read("acme", session="s1")
        assert isinstance(started, ToolStarted) and not started.repeatable
        log.written.set()
        assert (await task).ok
    assert RAN == ["draft"]


@pytest.mark.req("BY-12")
async def test_a_draft_without_a_key_does_not_wait() -> None:
    log = SlowLog()
    async with Handrail([draft], log=log) as hr:
        assert (await hr.call("bank.draft", principal=ANA)).ok
    assert not log.asked.is_set()


@pytest.mark.req("EV-09")
async def test_a_call_that_only_reads_this_time_does_not_wait() -> None:
    log = SlowLog()
    async with Handrail([maybe], policy=OPEN, log=log) as hr:
        assert (await hr.call("bank.maybe", {"really": False}, principal=ANA)).ok
    assert not log.asked.is_set()


@pytest.mark.req("EV-15")
@pytest.mark.parametrize("listening", [False, True])
async def test_a_log_that_fails_does_not_break_a_read_and_is_reported(
    listening: bool, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[str] = []
    async with Handrail([balance], log=BrokenLog("append")) as hr:
        if listening:
            hr.subscribe(lambda event: heard.append(event.kind))
        with caplog.at_level(logging.ERROR, "handrail.tell"):
            outcome = await hr.call("bank.balance", principal=ANA)
    assert outcome.ok and outcome.result.data == "100 EUR"
    assert heard == (["started", "completed"] if listening else [])
    assert "the event log did not take tool.started" in caplog.text
    assert "the event log did not take tool.completed" in caplog.text


@pytest.mark.req("EV-15", "BY-12")
@pytest.mark.parametrize("fails", ["append", "flush"])
@pytest.mark.parametrize(("name", "source"), [("bank.pay", "agent"), ("bank.balance", "api")])
async def test_without_a_log_nothing_runs_that_must_be_on_record(fails: str, name: str, source: Any) -> None:
    heard: list[str] = []
    async with Handrail([balance, pay], policy=OPEN, log=BrokenLog(fails)) as hr:
        hr.subscribe(lambda event: heard.append(event.kind))
        outcome = await hr.call(name, principal=ANA, source=source, durable_start=source == "api")
    assert (outcome.status, outcome.code) == ("refused", "LOG_UNAVAILABLE")
    assert RAN == [] and heard == ["failed"]
    assert (outcome.run_id is None) is (fails == "append"), "what may have been written has an end"
    assert "nothing was run" in outcome.to_model()


@pytest.mark.req("EV-15", "EV-16")
async def test_events_keep_their_order_when_some_wait_and_others_do_not() -> None:
    log = SlowLog()
    async with Handrail([balance, pay], policy=OPEN, log=log) as hr:
        waiting = asyncio.create_task(hr.call("bank.pay", principal=ANA, session="s1", id="w"))
        await log.asked.wait()
        await hr.call("bank.balance", principal=ANA, session="s1", id="r")
        log.written.set()
        await waiting
    told = [(event.seq, event.call_id, event.kind) for event in log.read("acme", session="s1")]
    assert told == [
        (1, "w", "started"),
        (2, "r", "started"),
        (3, "r", "completed"),
        (4, "w", "completed"),
    ]


@pytest.mark.req("EV-15", "CX-07")
async def test_a_call_cancelled_while_it_waits_for_the_log_did_not_run() -> None:
    log = SlowLog()
    async with Handrail([pay], policy=OPEN, log=log) as hr:
        task = asyncio.create_task(hr.call("bank.pay", principal=ANA, session="s1", id="w"))
        await log.asked.wait()
        assert await hr.cancel("w")
        outcome = await task
    assert outcome.status == "cancelled" and RAN == []
    assert [event.kind for event in log.read("acme", session="s1")] == ["started", "cancelled"]
    assert open_runs(log.read("acme")) == set()


@pytest.mark.req("EV-15")
async def test_nothing_told_before_the_end_is_lost_at_the_end() -> None:
    log = MemoryLog()
    running = asyncio.Event()

    @tool("bank.count", level="read")
    async def count(*, ctx: Context) -> None:
        """Count."""
        ctx.append_output("1")
        running.set()
        await asyncio.Event().wait()

    async with Handrail([count], log=log) as hr:
        task = asyncio.create_task(hr.call("bank.count", principal=ANA, session="s1"))
        await running.wait()
        task.cancel()
        await asyncio.wait({task})
    assert [event.kind for event in log.read("acme", session="s1")] == ["started", "chunk", "cancelled"]
