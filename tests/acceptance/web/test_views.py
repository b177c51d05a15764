"""Results in a real browser, under the policy of our pages: sorting, charts, frames; also without script."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import htpy as h
import pytest
from playwright.sync_api import Browser, expect

from handrail.core.present.blocks import tool_output_to_blocks
from handrail.doors.web.assets import asset_url, assets
from handrail.doors.web.responses import html
from handrail.doors.web.views.blocks import custom_frame
from handrail.doors.web.views.result import render_result
from handrail.ext.forms import OutputSection
from tests.acceptance.web.browser import Window, window

pytestmark = pytest.mark.long

Windows = Callable[..., Window]
ROWS = [{"name": "b", "n": 10}, {"name": "a", "n": 9}, {"name": "c", "n": None}, {"name": "d", "n": -1.5}]
SECTIONS = [
    OutputSection("figures", "Summary", "summary", {"figures": [{"key": "npv", "unit": "EUR"}]}),
    OutputSection("rows", "Rows", "table"),
    OutputSection("rows", "Bars", "chart"),
    OutputSection("rows", "Curve", "chart", {"kind": "area"}),
    OutputSection("scores", "Scores", "radar", {"max": 5}),
    OutputSection("scores", "Ranking", "ranking"),
    OutputSection("page", "Page", "custom", {"height": 120}),
]
HOSTILE = """
<h1 id=said>quiet</h1>
<script>
  const said = document.getElementById('said');
  const tries = {
    page: () => parent.document.title,
    cookie: () => document.cookie,
    store: () => localStorage.length,
    top: () => { top.location = 'about:blank'; },
  };
  const works = (go) => { try { go(); return true; } catch { return false; } };
  const reached = Object.keys(tries).filter((name) => works(tries[name]));
  said.textContent = reached.join() || 'nothing';
  fetch('/stolen').catch(() => { said.textContent += ' and no network'; });
</script>
"""
DATA: dict[str, Any] = {
    "figures": {"npv": 84210.5},
    "rows": ROWS,
    "scores": {"Data": 3, "People": 4.5, "Tools": 2},
    "page": "<h1>Hello from a tool</h1>",
    "rest": {"odd": "a\u202eb", "deep": [[[[[[["x"]]]]]]], "long": "word " * 400},
}


class _Pages(BaseHTTPRequestHandler):
    """A page with a result, its frames and its scripts; nothing else."""

    sections = SECTIONS
    data = DATA
    asked: list[str]

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.asked.append(self.path)
        parts = urlsplit(self.path)
        found = next((one for one in assets().values() if one.url == parts.path), None)
        if found is not None:
            self._send(found.body, {"content-type": found.kind.decode()})
        elif parts.path.startswith("/frames/"):
            frame = custom_frame(tool_output_to_blocks(self.sections, self.data), parts.path[8:])
            assert frame is not None
            self._send(frame.html.encode(), frame.headers)
        elif parts.path == "/":
            answer = html(self._page(dict(parse_qsl(parts.query))))
            self._send(bytes(answer.body), dict(answer.headers))
        else:
            self.send_error(404)

    def _page(self, query: dict[str, str]) -> h.Element:
        result = {"success": True, "data": self.data, "summary": "Worth it.", "markdown": "**bold**"}
        drawn = render_result(self.sections, result, id="out", frames="/frames", query=query)
        return h.html(lang="en")[
            h.head[
                h.title["Result"],
                h.link(rel="icon", href="data:,"),
                h.link(rel="stylesheet", href=asset_url("app.css")),
                h.script(src=asset_url("app.js"), defer=True),
            ],
            h.body[h.main[h.h1["Tool"], h.h2["Result"], drawn]],
        ]

    def _send(self, body: bytes, headers: Any) -> None:
        self.send_response(200)
        for name, value in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def shown(**settings: Any) -> Iterator[tuple[str, list[str]]]:
    """The address of a page with a result, and what was asked for under it."""
    asked: list[str] = []
    handler = type("Pages", (_Pages,), {"asked": asked, **settings})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def names(opened: Window) -> list[str]:
    return opened.page.locator("#out-1-part tbody td:first-child").all_inner_texts()


@pytest.mark.req("UI-14")
def test_a_heading_sorts_its_table_in_place_and_what_is_missing_stays_last(
    windows: Windows,
) -> None:
    with shown() as (url, asked):
        mine = windows(url)
        page = mine.goto("/")
        heading = page.locator("#out-1-part th").nth(1)
        heading.get_by_role("link").click()
        expect(heading).to_have_attribute("aria-sort", "ascending")
        assert names(mine) == ["d", "a", "b", "c"]
        heading.get_by_role("link").press("Enter")
        expect(heading).to_have_attribute("aria-sort", "descending")
        assert names(mine) == ["b", "a", "d", "c"]
        assert asked.count("/") == 1


@pytest.mark.req("UI-14")
def test_without_script_the_same_heading_is_a_link_and_the_chart_is_a_picture(
    windows: Windows,
) -> None:
    with shown() as (url, _):
        mine = windows(url, script=False)
        page = mine.page
        page.goto(url)
        page.locator("#out-1-part th").nth(1).get_by_role("link").click()
        expect(page.locator("#out-1-part th").nth(1)).to_have_attribute("aria-sort", "ascending")
        assert names(mine) == ["d", "a", "b", "c"]
        assert page.locator("svg.view-plot").count() == 2
        expect(page.locator("svg.view-plot").first).to_be_visible()
        mine.context.close()


@pytest.mark.req("UI-14")
def test_charts_are_drawn_again_by_a_script_of_ours_that_only_pages_with_charts_fetch(
    windows: Windows,
) -> None:
    with shown() as (url, asked):
        page = windows(url).goto("/")
        page.locator("view-chart").last.scroll_into_view_if_needed()
        expect(page.locator("view-chart canvas")).to_have_count(2)
        expect(page.locator("svg.view-plot").first).to_be_hidden()
        expect(page.get_by_role("img", name="Bar chart, Bars: N from −1.5 (d) to 10 (b).")).to_be_visible()
        assert asked.count(asset_url("chart.js")) == 1
        before = page.locator("view-chart canvas").first.screenshot()
        page.evaluate("document.documentElement.classList.add('dark')")
        expect(page.locator("view-chart canvas")).to_have_count(2)
        assert page.locator("view-chart canvas").first.screenshot() != before
    with shown(sections=SECTIONS[:2]) as (url, asked):
        windows(url).goto("/")
        assert asset_url("chart.js") not in asked


@pytest.mark.req("UI-12")
def test_a_custom_block_is_seen_in_its_frame(windows: Windows) -> None:
    with shown() as (url, _):
        page = windows(url).goto("/")
        page.locator("iframe").scroll_into_view_if_needed()
        expect(page.frame_locator("iframe").get_by_role("heading")).to_have_text("Hello from a tool")


@pytest.mark.req("UI-12")
@pytest.mark.parametrize(("scripts", "said"), [(False, "quiet"), (True, "nothing and no network")])
def test_a_hostile_block_reaches_neither_page_nor_network(browser: Browser, scripts: bool, said: str) -> None:
    sections = [OutputSection("page", "Page", "custom", {"scripts": scripts})]
    with shown(sections=sections, data={"page": HOSTILE}) as (url, asked):
        mine = window(browser, url)
        page = mine.goto("/")
        page.locator("iframe").scroll_into_view_if_needed()
        expect(page.frame_locator("iframe").locator("#said")).to_have_text(said)
        alone = mine.context.new_page()
        alone.goto(f"{url}/frames/page")
        assert alone.evaluate("window.origin") == "null"
        assert "/stolen" not in asked
        assert page.url == f"{url}/"
        mine.context.close()


@pytest.mark.parametrize("width", [1280, 360])
def test_a_result_is_open_to_everybody(windows: Windows, width: int) -> None:
    with shown() as (url, _):
        mine = windows(url, width=width)
        page = mine.goto("/")
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = true; }")
        assert mine.axe() == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
