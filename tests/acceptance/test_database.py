"""One Handrail with a database, as whoever reads the first page about it uses it."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest
from sqlalchemy import Connection

from handrail import Handrail, Principal, tool
from handrail.core.define.levels import Source
from handrail.ext.errors import StorageError, UsageError
from handrail.store.events.log import StoreLog

ANA = Principal("acme", "ana", agent="helper")
RITA = Principal("acme", "rita", permissions=["approvals.decide"])
records: dict[int, str] = {}


@tool("data.updateRecord", level="write")
async def update_record(id: int, value: str) -> str:
    """Change a record."""
    records[id] = value
    return f"{id} is {value}"


@tool("data.double", level="read")
async def double(number: int) -> int:
    """Twice as much."""
    return number * 2


TOOLS = [update_record, double]


@pytest.mark.req("AP-03", "AP-04", "AP-08", "EV-01", "BY-02", "BY-13")
async def test_what_waits_is_answered_after_a_restart_and_its_story_is_told_in_order(
    database_url: str,
) -> None:
    records.clear()
    async with Handrail(TOOLS, database=database_url) as hr:
        args = {"id": 1, "value": "a"}
        out = await hr.call("data.updateRecord", args, principal=ANA, session="s1", idempotency_key="k1")
        assert (out.status, records) == ("pending", {}) and out.approval_id

    async with Handrail(TOOLS, database=database_url) as hr:
        [request] = await hr.approvals.list(RITA)
        assert (request.id, request.args) == (out.approval_id, {"id": 1, "value": "a"})
        await hr.approvals.approve(request.id, by=RITA, edits={"id": 1, "value": "b"})
        final = await hr.wait(out.call_id, timeout=30)
        assert (final.status, final.result.data, records) == ("completed", "1 is b", {1: "b"})
        again = await hr.call("data.updateRecord", args, principal=ANA, session="s1", idempotency_key="k1")
        assert (again.status, again.run_id) == ("duplicate", final.run_id)
        story = []
        async with asyncio.timeout(30):
            async for event in hr.events(session="s1", after=0):
                story.append((event.seq, event.kind))
                if event.kind == "completed":
                    break
        assert story == [(1, "needs_approval"), (2, "approved"), (3, "started"), (4, "completed")]

    async with Handrail(TOOLS, database=database_url) as hr:
        assert await hr.wait(out.call_id, timeout=30) == replace(final, decision=None)  # not in the log
        [run] = await hr.runs(ANA)
        assert (run.id, run.tool, run.status) == (final.run_id, "data.updateRecord", "completed")
        assert (await hr.usage(ANA, by=["tool"]))["data.updateRecord",]["completed"] == 1
        assert records == {1: "b"}


@pytest.mark.req("BY-12", "BJ-04")
async def test_a_submitted_call_runs_in_the_background_and_is_found_by_anybody_who_asks_later(
    database_url: str,
) -> None:
    async with Handrail(TOOLS, database=database_url) as hr:
        out = await hr.submit("data.double", {"number": 21}, principal=ANA)
        assert (out.status, out.code) == ("queued", "SUBMITTED")
        assert (await hr.wait(out.call_id, timeout=30)).result.data == 42
        refused = await hr.submit("data.double", {"number": "many"}, principal=ANA)
        assert (refused.status, refused.code) == ("refused", "INVALID_PARAM")
    async with Handrail(TOOLS, database=database_url, worker=False) as hr:
        assert (await hr.wait(out.call_id, timeout=30)).result.data == 42


async def test_results_are_read_again_after_a_restart_by_whoever_got_them(database_url: str) -> None:
    async with Handrail(TOOLS, database=database_url) as hr:
        for number in (1, 2, 3):
            out = await hr.call("data.double", {"number": number}, principal=ANA)
        await hr.call("data.double", {"number": 9}, principal=RITA)
    async with Handrail(TOOLS, database=database_url) as hr:
        assert (await hr.wait(out.call_id, timeout=30)).result.data == 6
        newest = hr.last_result("data.double", ANA)
        assert newest is not None and newest.data == 6
        assert await hr.read_result(out.call_id, ANA) == "6"
        assert hr.last_result("data.double", Principal("other", "ana", agent="helper")) is None
        assert hr.last_result("data.updateRecord", ANA) is None


@pytest.mark.fault("F10")
async def test_what_cannot_be_kept_is_refused_in_words_and_goes_on_when_there_is_room(
    sqlite_url: str,
) -> None:
    records.clear()
    async with Handrail(TOOLS, database=sqlite_url) as hr:
        asked = await hr.call("data.updateRecord", {"id": 7, "value": "x"}, principal=ANA)
        await _pages(hr, 1)
        huge = {"id": 1, "value": "x" * 1_000_000}
        full = await hr.call("data.updateRecord", huge, principal=ANA)
        assert (full.status, full.code) == ("refused", "LOG_UNAVAILABLE")
        await _pages(hr, 1)
        queued = await hr.submit("data.updateRecord", huge, principal=ANA, source="web")
        assert (queued.status, queued.code) == ("refused", "LOG_UNAVAILABLE")
        await _pages(hr, 1)
        with pytest.raises(StorageError, match="full"):
            await hr.approvals.approve(asked.approval_id or "", by=RITA, edits=huge)
        await _pages(hr, 1_000_000)
        await hr.approvals.approve(asked.approval_id or "", by=RITA)
        assert (await hr.wait(asked.call_id, timeout=30)).status == "completed"
    assert records == {7: "x"}


async def _pages(hr: Handrail, number: int) -> None:
    """How large the file may become, for whoever writes: until something fails, and it connects anew."""
    assert isinstance(hr.log, StoreLog)

    def limit(conn: Connection) -> None:
        conn.exec_driver_sql(f"PRAGMA max_page_count={number}")

    await hr.log.db.write("acme", limit)


@pytest.mark.req("BJ-05")
async def test_nobody_calls_for_nobody(sqlite_url: str) -> None:
    async with Handrail(TOOLS, database=sqlite_url) as hr:
        with pytest.raises(UsageError, match="Give `principal="):
            await hr.call("data.double", {"number": 1})
        with pytest.raises(UsageError, match="Give `principal="):
            await hr.tools()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://here/db", "Known are"),
        ("sqlite://", "in memory"),
        ("sqlite:////no/such/folder/x.db", "There is no folder"),
    ],
)
def test_an_address_that_cannot_be_opened_says_what_to_give(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Handrail(TOOLS, database=url)


@pytest.mark.req("EV-09", "BY-12")
async def test_an_effect_is_answered_when_its_end_is_durable_and_a_read_at_once(sqlite_url: str) -> None:
    gates: list[threading.Event] = []
    ended = asyncio.Event()

    def hold_up() -> None:
        """Nothing is committed from here on, until the newest gate is open."""
        assert isinstance(hr.log, StoreLog)
        gate = threading.Event()
        gates.append(gate)
        hr.log.db.post("acme", lambda conn: gate.wait(30))
        ended.set()

    @tool("note.write", level="write")
    async def write() -> str:
        """Write a note."""
        hold_up()
        return "written"

    @tool("note.read", level="read")
    async def read() -> str:
        """Read a note."""
        hold_up()
        return "read"

    async with Handrail([write, read], database=sqlite_url) as hr:
        try:
            cases: tuple[tuple[str, Source, bool, bool], ...] = (
                ("note.read", "web", False, False),
                ("note.read", "api", True, True),  # it reads at once, and is answered when its row is there
                ("note.write", "web", False, True),
            )
            for name, source, durable_start, waits in cases:
                ended.clear()
                call = asyncio.create_task(
                    hr.call(name, principal=RITA, source=source, durable_start=durable_start)
                )
                await asyncio.wait_for(ended.wait(), 30)
                for _ in range(100):
                    await asyncio.sleep(0)
                assert call.done() != waits
                gates[-1].set()
                assert (await call).status == "completed"
        finally:
            for gate in gates:
                gate.set()


@pytest.mark.fault("F10")
async def test_a_call_whose_beginning_had_no_room_never_began(sqlite_url: str) -> None:
    records.clear()
    async with Handrail(TOOLS, database=sqlite_url) as hr:
        await hr.call("data.double", {"number": 1}, principal=RITA)
        await _pages(hr, 1)
        huge = {"id": 1, "value": "x" * 1_000_000}
        out = await hr.call("data.updateRecord", huge, principal=RITA, source="web")
        assert (out.status, out.code, out.run_id) == ("refused", "LOG_UNAVAILABLE", None)
    assert records == {}


@pytest.mark.fault("F10")
@pytest.mark.req("EV-09")
async def test_a_read_by_a_program_whose_row_cannot_be_written_is_not_answered(sqlite_url: str) -> None:
    @tool("note.echo", level="read")
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    def refuse(conn: Connection) -> None:
        raising = "BEGIN SELECT RAISE(ABORT, 'there is no room'); END"
        conn.exec_driver_sql(f"CREATE TRIGGER full BEFORE INSERT ON session_events {raising}")

    async with Handrail([echo], database=sqlite_url) as hr:
        assert isinstance(hr.log, StoreLog)
        assert (
            await hr.call("note.echo", {"text": "a"}, principal=RITA, source="api", durable_start=True)
        ).ok
        await hr.log.db.write("acme", refuse)
        out = await hr.call("note.echo", {"text": "b"}, principal=RITA, source="api", durable_start=True)
        assert (out.status, out.code, out.run_id) == ("refused", "LOG_UNAVAILABLE", None)
        assert not hr._runtime.running
