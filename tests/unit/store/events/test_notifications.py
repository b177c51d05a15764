"""Signals: what another process tells is heard, not only found by looking now and then."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

import pytest

from handrail.store.database import Database
from handrail.store.events import log as logs
from handrail.store.events.log import StoreLog
from tests.unit.store.events.sample_events import started


@pytest.mark.req("BY-13", "EV-16")
@pytest.mark.fault("F16")
@pytest.mark.parametrize("session", ["s1", None])
async def test_what_another_process_tells_reaches_whoever_follows(
    db: Database,
    log: StoreLog,
    session: str | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(logs, "_FOLLOW_SECONDS", 3600.0)  # nobody looks for what is not heard
    other = Database(db.url)
    elsewhere = StoreLog(other)
    try:
        with caplog.at_level(logging.WARNING):
            async with aclosing(log.follow("acme", session=session)) as events, asyncio.timeout(30):
                for number in (1, 2, 3):
                    told = started(number)
                    waiting = asyncio.ensure_future(anext(events))
                    for _ in range(10):  # by then it has looked, found nothing, and listens
                        await db.read("acme", lambda conn: None)
                    elsewhere.append(told)
                    await elsewhere.flush(told)
                    heard = await waiting
                    assert (heard.call_id, heard.seq) == (told.call_id, number)
        assert not caplog.records
    finally:
        elsewhere.close()
        other.close()
