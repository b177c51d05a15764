"""What the doors read of the log: the same answers in memory and of a database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from handrail import Context, Handrail, Principal, tool
from handrail.core.tell.log import EventFilter
from handrail.platform import Platform, platform_of
from handrail.platform.events import EventReader, MemoryEventReader
from handrail.platform.stored_events import StoreEventReader

ACME = "acme"
ANA = Principal(ACME, "ana")


@tool("count.up", level="read")
async def count(to: int, *, ctx: Context) -> int:
    """Count aloud."""
    for number in range(to):
        ctx.append_output(f"{number} ")
    return to


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "memory" else str(request.getfixturevalue("sqlite_url"))


@asynccontextmanager
async def opened(url: str | None) -> AsyncIterator[Platform]:
    async with Handrail([count], database=url) as hr:
        yield platform_of(hr)


async def call(platform: Platform, call_id: str, session: str | None = None, to: int = 2) -> str:
    outcome = await platform.hr.call("count.up", {"to": to}, principal=ANA, session=session, id=call_id)
    assert outcome.run_id is not None
    return outcome.run_id


async def test_a_platform_reads_its_events_where_they_are(url: str | None) -> None:
    async with opened(url) as platform:
        twin: type[EventReader] = MemoryEventReader if platform.services is None else StoreEventReader
        assert isinstance(platform.events, twin)


async def test_a_call_is_read_by_its_first_event_its_events_its_run_and_its_outcome(url: str | None) -> None:
    async with opened(url) as platform:
        run_id = await call(platform, "call_1", "calm")
        events = platform.events
        first, run = await events.first(ACME, "call_1"), await events.run(ACME, run_id)
        outcome = await events.outcome(ACME, "call_1")
        assert first is not None and (first.kind, first.session) == ("started", "calm")
        assert [event.kind for event in await events.call_events(ACME, "call_1")] == ["started", "completed"]
        assert run is not None and (run.call_id, run.status) == ("call_1", "completed")
        assert outcome is not None and outcome.status == "completed" and outcome.result.data == 2


async def test_of_another_tenant_and_of_what_is_not_there_nothing_is_read(url: str | None) -> None:
    async with opened(url) as platform:
        run_id = await call(platform, "call_1")
        events = platform.events
        for tenant, call_id, run in (("other", "call_1", run_id), (ACME, "call_2", "run_2")):
            assert await events.first(tenant, call_id) is None
            assert await events.outcome(tenant, call_id) is None
            assert await events.call_events(tenant, call_id) == []
            assert await events.run(tenant, run) is None
        assert await events.last_seq(ACME, "nowhere") == 0 and await events.last_position("other") == 0


async def test_pages_go_on_after_a_number_of_a_session_and_beyond_a_position(url: str | None) -> None:
    async with opened(url) as platform:
        await call(platform, "call_1", "calm", to=3)
        await call(platform, "call_2", "calm", to=1)
        events, which = platform.events, EventFilter("calm")
        page = await events.page(ACME, which)
        assert [event.seq for event in page] == list(range(1, 9))
        assert [event.seq for event in await events.page(ACME, which, seq=6)] == [7, 8]
        beyond = await events.page(ACME, EventFilter(), beyond=page[2].position, limit=2)
        assert [event.seq for event in beyond] == [4, 5]
        chunks = await events.page(ACME, EventFilter(call_id="call_1", status="chunk"))
        assert [event.kind for event in chunks] == ["chunk"] * 3
        assert await events.last_seq(ACME, "calm") == 8
        assert await events.last_position(ACME) == page[-1].position


async def test_sessions_come_by_id_and_those_of_single_calls_can_be_left_out(url: str | None) -> None:
    async with opened(url) as platform:
        for call_id, session in (("call_1", None), ("call_2", "calm"), ("call_3", "alpha")):
            await call(platform, call_id, session)
        sessions = await platform.events.sessions(ACME, None, 10)
        assert [session["id"] for session in sessions] == ["alpha", "call:call_1", "calm"]
        assert all(session.keys() == {"id", "last_seq", "created_at", "updated_at"} for session in sessions)
        named = await platform.events.sessions(ACME, "alpha", 10, named=True)
        assert [(session["id"], session["last_seq"]) for session in named] == [("calm", 4)]
        assert await platform.events.sessions(ACME, None, 10, prefix="b") == []
