"""A thousand open pages at one server: other pages still answer, and what happens reaches all of them."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import httpx
import psutil
import pytest

from handrail.doors.web.live import live_url
from tests.acceptance.server_process import running_server
from tests.harness.page_streams import open_pages, sign_in_cookie

PAGES = 1_000
BYTES = 120_000
"""What one more open page may cost a server."""
SLOWEST = 3.0
"""Seconds in which a page answers, however many listen."""


@pytest.mark.alone
def test_a_thousand_open_pages_leave_room_for_others(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text("rate_limit = 100000\n")
    with running_server(tmp_path, "--demo", fresh=True) as served:
        assert served.link is not None
        cookie = sign_in_cookie(served.link)
        asyncio.run(_look(served.url, cookie, psutil.Process(served.process.pid)))


async def _look(url: str, cookie: str, process: psutil.Process) -> None:
    async with httpx.AsyncClient(base_url=url, headers={"cookie": cookie}, timeout=30) as http:
        for _ in range(20):
            assert (await http.get("/tools")).status_code == 200
        before = process.memory_info().rss
        async with open_pages(url, cookie, PAGES, live_url(["runs", "mine"])) as streams:
            each = (process.memory_info().rss - before) / PAGES
            assert each < BYTES
            for _ in range(3):
                called = await http.post(
                    "/api/tools/data-search-records/call",
                    json={"arguments": {"limit": 1}},
                    headers={"origin": url},
                )
                assert called.status_code == 200, called.text
                heard = asyncio.create_task(streams.all_hear("runs", 20))
                slowest = 0.0
                while not heard.done():
                    begun = time.perf_counter()
                    assert (await http.get("/tools")).status_code == 200
                    slowest = max(slowest, time.perf_counter() - begun)
                await heard
                assert slowest < SLOWEST
        assert (await http.get("/tools")).status_code == 200
