"""Pages of one process hear what another process changed in a tool session."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from sqlalchemy import text

from handrail import Handrail
from handrail.doors.web.live import LiveUpdates, ToolSessionWatcher, tool_session_topic
from handrail.platform import platform_of
from tests.contract.shared.two_tenants import ACME, TOOLS, two_tenants
from tests.harness.poll import poll_until


@pytest.mark.req("CS-05")
async def test_what_another_process_closes_is_news_here(database_url: str) -> None:
    async with (
        two_tenants(database_url) as tenants,
        Handrail(TOOLS, database=database_url, worker=False) as other,
    ):
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        platform = platform_of(other)
        live = LiveUpdates(platform)
        watching = ToolSessionWatcher(platform, live)
        topic = tool_session_topic(session.id)
        async with aclosing(live._pieces(ACME, frozenset({topic}), None, None, None)) as pieces:
            assert "hello" in await anext(pieces)
            watching.watch(session)
            await tenants.services.tool_sessions.set_status(session, "completed")
            async with asyncio.timeout(20):
                while f"event: {topic}" not in await anext(pieces):
                    pass
        live.close()
        assert watching._task is not None
        watching._task.cancel()


async def test_pages_hear_again_after_the_log_could_not_be_read(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with two_tenants(sqlite_url) as tenants:
        ana, db = await tenants.person("owner"), tenants.services.db
        live = LiveUpdates(platform_of(tenants.hr))

        def rename(was: str, now: str) -> None:
            with db.system() as conn:
                conn.execute(text(f"alter table {was} rename to {now}"))

        async with aclosing(live._pieces(ACME, frozenset({"runs"}), ana, None, None)) as pieces:
            assert "hello" in await anext(pieces)
            reader = live._readers[ACME]
            rename("session_events", "away")
            await asyncio.to_thread(
                poll_until, lambda: reader.done() or "could not be followed" in caplog.text
            )
            rename("away", "session_events")
            await tenants.hr.call("image.paint", {"text": "x"}, principal=ana)
            async with asyncio.timeout(20):
                while "event: runs" not in await anext(pieces):
                    pass
        live.close()
