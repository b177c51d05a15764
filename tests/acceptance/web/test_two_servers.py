"""Two server processes behind one PostgreSQL serve one person's pages, streams and approvals alike.

Shown here: who signed in at one is signed in at the other; what is asked at one appears by itself on a page
of the other; what is decided there reaches the caller who waits at the first; and when one of them stops, a
page that is open goes on with the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from handrail.platform.middleware import SESSION_COOKIE
from tests.acceptance.server_process import ServerProcess, running_server
from tests.acceptance.web.approval_server import TOOLS, session
from tests.acceptance.web.browser import Window
from tests.acceptance.web.load_balancer import load_balancer
from tests.harness.poll import poll_until

pytestmark = pytest.mark.long


class Caller(threading.Thread):
    """An agent at one server who asks, and waits there for the end."""

    def __init__(self, served: ServerProcess, key: str, id: str) -> None:
        super().__init__(daemon=True)
        self._served, self._key, self._id = served, key, id
        self.answer: Any = None
        self.start()

    def run(self) -> None:
        wanted = {"arguments": {"id": self._id, "status": "archived"}}
        with self._served.http(self._key) as http:
            told = http.post("/api/tools/data.updateRecord/call", json=wanted).json()
            while told["status"] == "pending":
                told = http.get(f"/api/calls/{told['call_id']}", params={"wait": "20"}).json()
            self.answer = told


@pytest.mark.req("BY-03", "BY-06", "BY-12")
@pytest.mark.timeout(300)
def test_two_servers_are_as_good_as_one(
    postgres_url: str, tmp_path: Path, windows: Callable[..., Window]
) -> None:
    (tmp_path / "desk_tools.py").write_text(TOOLS)
    words = ("--tools", "desk_tools.py", "--database", postgres_url)
    with (
        running_server(tmp_path, *words, HANDRAIL_KEY="5a" * 32) as first,
        running_server(tmp_path, *words, HANDRAIL_KEY="5a" * 32) as second,
        load_balancer(first.url, second.url) as both,
    ):
        assert first.link is not None and second.link is None
        token = session(first, first.link)
        key = _key_of_an_agent(first, token)
        page = _window(windows, second.url, token).goto("/approvals")
        expect(page.get_by_text("Nothing needs your decision")).to_be_visible()

        waiting = Caller(first, key, "rec-1")
        card = page.locator(".ask")
        expect(card).to_contain_text("rec-1")
        card.get_by_role("button", name="Approve", exact=True).click()
        expect(card).to_contain_text("You approved.")
        waiting.join(60)
        assert waiting.answer["result"]["data"] == {"id": "rec-1", "status": "archived"}

        here = _window(windows, both.url, token)
        page = here.goto("/approvals")
        for path in ("/tools", "/runs", "/approvals"):
            here.goto(path)
            expect(page.get_by_role("navigation", name="Main")).to_be_visible()
        other = Caller(second, key, "rec-2")
        mine = page.locator(".ask", has_text="rec-2")
        expect(mine).to_be_visible()
        assert first.stop()[0] == 0
        seen = both.served[second.url]
        last = Caller(second, key, "rec-3")
        expect(page.locator(".ask", has_text="rec-3")).to_be_visible(timeout=60_000)
        assert both.served[first.url] >= 1, "the page was served by both"
        mine.get_by_role("button", name="Approve", exact=True).click()
        expect(mine).to_contain_text("You approved.")
        page.locator(".ask", has_text="rec-3").get_by_role("link", name="Edit and approve").click()
        page.get_by_label("Status").select_option("inactive")
        page.get_by_role("button", name="See what changes").click()
        page.get_by_role("button", name="Approve with these changes").click()
        expect(page.locator(".ask")).to_contain_text("You changed it and approved.")
        other.join(60)
        last.join(60)
        assert other.answer["result"]["data"]["status"] == "archived"
        assert last.answer["result"]["data"] == {"id": "rec-3", "status": "inactive"}
        assert both.served[second.url] > seen
    ran = poll_until(lambda: (tmp_path / "ledger").read_text().splitlines())
    assert len(ran) == 3, ran


def _key_of_an_agent(served: ServerProcess, token: str) -> str:
    with served.http() as owner:
        owner.cookies.set(SESSION_COOKIE, token)
        wanted = {"name": "claude-desk", "kind": "agent", "user": served.owner(), "agent": "ops"}
        made = owner.post("/api/keys", json=wanted)
        assert made.status_code == 201, made.text
        return str(made.json()["key"])


def _window(windows: Callable[..., Window], url: str, token: str) -> Window:
    opened = windows(url)
    opened.context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": url}])
    return opened
