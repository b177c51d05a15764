"""A page with eighty inputs against a bare template, what a visit loads, and what an open page costs."""

from __future__ import annotations

import asyncio
import gzip
import tempfile
from pathlib import Path

import httpx
import psutil

from benchmarks.environments import Peers
from benchmarks.measured_processes import own_source, time_together
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort, Measured, NotMeasured, Size, Timing, by_median
from handrail.doors.web.assets import assets
from handrail.doors.web.live import live_url
from tests.acceptance.server_process import running_server
from tests.harness.page_streams import open_pages, sign_in_cookie

TITLE = "Pages"

_PAGE = "the page of a tool with 80 inputs"
_BARE = "the same fields in Jinja2"
_BUDGET = 0.025
_WEIGHT = 100_000
_STREAMS = 1_000


def measure(peers: Peers, effort: Effort) -> list[Row]:
    own = own_source("benchmarks.subjects.tool_page")
    times = time_together([own], effort)
    page, bare = times.of(own, _PAGE), times.of(own, _BARE)
    weight, stream = _served()
    return [
        Row(_BARE, bare),
        Row(_PAGE, page, Ratio(page, bare, "{:.1f} times the template")),
        Row(
            "the same, by its median",
            by_median(page),
            Ratio(by_median(page), Timing.fixed(_BUDGET), "{:.2f} of 25 ms"),
            at_most(1.0),
        ),
        Row(
            "first visit of a tool's page, packed",
            weight,
            Ratio(weight, Size(_WEIGHT, _WEIGHT, 1), "{:.2f} of 100 kB"),
            at_most(1.0),
        ),
        Row(f"one open page, of {_STREAMS:,} at one server", stream),
    ]


def _served() -> tuple[Measured, Measured]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "handrail.toml").write_text("rate_limit = 100000\n")
        with running_server(Path(folder), "--demo") as served:
            if served.link is None:
                return NotMeasured("nobody to sign in"), NotMeasured("nobody to sign in")
            cookie, process = sign_in_cookie(served.link), psutil.Process(served.process.pid)
            return asyncio.run(_looked_at(served.url, cookie, process))


async def _looked_at(url: str, cookie: str, process: psutil.Process) -> tuple[Measured, Measured]:
    async with httpx.AsyncClient(base_url=url, headers={"cookie": cookie}) as http:
        page = (await http.get("/tools/roi-calculator")).raise_for_status()
    loaded = [gzip.compress(page.content, 6)]
    loaded += [asset.packed for asset in assets().values() if asset.url in page.text]
    weight = float(sum(map(len, loaded)))
    before = process.memory_info().rss
    async with open_pages(url, cookie, _STREAMS, live_url(["runs", "mine"])):
        each = (process.memory_info().rss - before) / _STREAMS
    return Size(weight, weight, 1), Size(each, each, 1)
