"""What every tally does. A new one joins `tally` and runs the same tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from handrail import Principal, Result
from handrail.core.define.call import BoundCall
from handrail.core.errors import UsageError
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    Retrying,
    ToolCompleted,
    ToolFailed,
)
from handrail.core.tell.usage import MemoryUsageMeter, Usage, UsageMeter
from handrail.store.database import Database
from handrail.store.migrate import upgrade
from handrail.store.tables.operations import usage as table
from handrail.store.usage import StoreUsageMeter, add_usage, read_usage

pytestmark = pytest.mark.req("RC-04", "RC-05", "BY-21")
ANA = Principal(tenant="acme", user="ana")
BOT = ANA.spawn("bot")
EVE = Principal(tenant="evil", user="eve")
DAY = 86_400.0


def ended(
    who: Principal = ANA, tool: str = "t", at: float = 0.0, ms: float = 7.0, cost: float = 0.1
) -> Event:
    result = Result(metadata={"cost": cost, "input_tokens": 10})
    return ToolCompleted(BoundCall(tool, who, "call_1"), tool, at, "r", result, ms)


def some() -> list[Event]:
    call = BoundCall("t", BOT, "call_1", source="mcp")
    return [
        ended(),
        ended(BOT, "u", DAY, 90.0),
        ended(BOT, "t", DAY, 5_000.0),
        ended(EVE, "t", DAY),
        ToolFailed(call, "t", DAY, None, Result.fail("no", code="NOT_PERMITTED"), 1.0),
        ToolFailed(call, "t", DAY, "r", Result.fail("no", code="TIMEOUT"), 30_000.0),
        NeedsApproval(call, "t", DAY, "a", {}, "why"),
        Retrying(call, "t", DAY, "r", 1, "x", 0.0),
        OutputAppended(call, "t", DAY, "r", "not counted"),
    ]


def opened(url: str) -> Database:
    upgrade(url)
    return Database(url)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    found = opened(database_url)
    yield found
    found.close()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def tally(request: pytest.FixtureRequest) -> Iterator[UsageMeter]:
    if request.param == "memory":
        yield MemoryUsageMeter()
        return
    found = opened(
        request.getfixturevalue("postgres_url" if request.param == "postgresql" else "migrated_sqlite_url")
    )
    yield StoreUsageMeter(found)
    found.close()


async def test_what_is_heard_is_told_by_any_of_its_names(tally: UsageMeter) -> None:
    whole = Usage()
    for event in some():
        tally.hear(event)
        whole.add(event)
    mine = whole.of("acme")
    for by in ([], ["tool"], ["user", "agent"], ["tenant"], ["source", "day", "tool"]):
        assert await tally.read("acme", by=by) == mine.by(*by)  # type: ignore[arg-type]
    total = (await tally.read("acme"))[()]
    assert total.longest_ms == 30_000 and total.cost == pytest.approx(0.3)
    assert (total.refusals, total.failures) == ({"NOT_PERMITTED": 1}, {"TIMEOUT": 1})
    await tally.close()


async def test_days_are_chosen_by_any_time_in_them(tally: UsageMeter) -> None:
    for event in some():
        tally.hear(event)
    assert list(await tally.read("acme", since=DAY + 5, by=["day"])) == [("1970-01-02",)]
    assert list(await tally.read("acme", until=DAY - 5, by=["day"])) == [("1970-01-01",)]
    assert await tally.read("acme", since=9 * DAY) == {}
    await tally.close()


async def test_one_tenant_is_told_nothing_of_another(tally: UsageMeter) -> None:
    for event in some():
        tally.hear(event)
    assert (await tally.read("evil"))[()]["calls"] == 1
    assert await tally.read("nobody") == {}
    await tally.close()


async def test_what_nothing_is_counted_by_is_refused(tally: UsageMeter) -> None:
    with pytest.raises(UsageError, match="not counted by 'colour'"):
        await tally.read("acme", by=["colour"])  # type: ignore[list-item]
    await tally.close()


async def test_names_that_no_column_can_hold_are_counted_all_the_same(tally: UsageMeter) -> None:
    odd = Principal(tenant="acme", user="a\x00b\ud800", agent="x" * 100_000)
    tally.hear(ended(odd))
    assert (await tally.read("acme"))[()]["calls"] == 1
    await tally.close()


async def test_nothing_is_lost_at_the_end_and_the_next_process_goes_on_counting(database_url: str) -> None:
    for _ in range(2):
        database = opened(database_url)
        tally = StoreUsageMeter(database, seconds=600)
        for event in some():
            tally.hear(event)
        await tally.close()
        database.close()
    database = opened(database_url)
    with database.reading("acme") as conn:
        counted = read_usage(conn, "acme", by=["tool"])
    database.close()
    assert {name: counts["runs"] for (name,), counts in counted.items()} == {"t": 6, "u": 2}
    assert counted[("t",)].longest_ms == 30_000


async def test_many_who_count_at_once_lose_nothing(database_url: str) -> None:
    databases = [opened(database_url) for _ in range(4)]
    tallies = [StoreUsageMeter(database, seconds=0.001) for database in databases]

    def count(tally: StoreUsageMeter, number: int) -> None:
        for turn in range(50):
            tally.hear(ended(ANA, f"t{turn % 3}", ms=float(turn + number)))
            tally.hear(ended(EVE, "t0"))

    threads = [threading.Thread(target=count, args=(tally, n)) for n, tally in enumerate(tallies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for tally in tallies:
        await tally.close()
    total = (await tallies[0].read("acme"))[()]
    assert (total["calls"], total.longest_ms) == (200, 52.0)
    assert total.cost == pytest.approx(20.0)
    for database in databases:
        database.close()


class Slow:
    """A call that is looked at while somebody closes the tally."""

    id, session, source = "c", None, "web"

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    @property
    def principal(self) -> Principal:
        self.reached.set()
        assert self.go_on.wait(30)
        return ANA

    @property
    def tenant(self) -> str:
        return self.principal.tenant


async def test_what_a_tally_is_just_counting_when_it_is_closed_is_not_lost(sqlite_url: str) -> None:
    database, slow = opened(sqlite_url), Slow()
    tally = StoreUsageMeter(database, seconds=0.0)
    tally.hear(ToolCompleted(slow, "t", 0.0, "r", Result(), 1.0))  # type: ignore[arg-type]
    assert await asyncio.to_thread(slow.reached.wait, 30)
    asyncio.get_running_loop().call_later(0.1, slow.go_on.set)
    await tally.close()
    database.close()
    again = opened(sqlite_url)
    with again.reading("acme") as conn:
        assert read_usage(conn, "acme")[()]["calls"] == 1
    again.close()


def test_a_foreign_tenant_reads_nothing_and_adds_nothing(database: Database) -> None:
    usage = Usage()
    for event in some():
        usage.add(event)
    with database.transaction("acme") as conn:
        add_usage(conn, "acme", usage)
    with database.transaction("evil") as conn:
        assert read_usage(conn, "evil") == {}
        add_usage(conn, "evil", usage.of("acme"))
    with database.system() as conn:
        assert {row.tenant_id for row in conn.execute(select(table))} == {"acme"}


def test_nobody_pays_for_a_tally_that_heard_nothing(database: Database) -> None:
    before = threading.active_count()
    StoreUsageMeter(database).hear(OutputAppended(BoundCall("t", ANA, "call_1"), "t", 0.0, "r", "x"))
    assert threading.active_count() == before
