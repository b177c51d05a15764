"""The flagship story in the browser: an agent asks over MCP or REST and waits; a person changes the card and
approves it in a real browser; the caller that waits gets what the person wanted, and it happened once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from handrail.platform.middleware import SESSION_COOKIE
from tests.acceptance.flagship_scenario import (
    ASKED,
    EDITED,
    Platform,
    check_event_log,
    outside_client,
    structured_content,
)
from tests.acceptance.forked_cli import ForkedCli
from tests.acceptance.mcp_sdk_client import MODERN
from tests.acceptance.server_process import ServerProcess
from tests.acceptance.web.approval_server import session
from tests.acceptance.web.browser import Window


def entered(served: ServerProcess, opened: Window, token: str) -> Window:
    opened.context.add_cookies([{"name": SESSION_COOKIE, "value": token, "url": served.url}])
    return opened


def edit_and_approve(page: Page) -> None:
    """What a person does with the one card that waits: read it, pay less, look at the change, agree."""
    card = page.locator(".ask")
    expect(card).to_contain_text('agent "ops", for you, wants to run')
    expect(card.locator(".ask-values")).to_contain_text("900")
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.get_by_label("amount", exact=False)).to_have_value("900")
    page.get_by_label("amount", exact=False).fill("90")
    page.get_by_role("button", name="See what changes").click()
    change = page.locator(".ask-changes > div")
    expect(change).to_have_count(1)
    expect(change).to_contain_text("900")
    page.get_by_role("button", name="Approve with these changes").click()
    expect(page.locator(".ask")).to_contain_text("You changed it and approved.")


@pytest.mark.req("BY-01", "BY-02", "BY-03", "BY-04", "BY-06")
@pytest.mark.fault("F29")
@pytest.mark.timeout(300)
def test_an_outside_agent_waits_over_mcp_while_a_person_edits_and_approves_the_card(
    forked_cli: ForkedCli, tmp_path: Path, windows: Callable[..., Window]
) -> None:
    platform = Platform(tmp_path, forked_cli)
    with platform.server() as served:
        agent = platform.key(served, "agent", "--agent", "ops", "--audience", "mcp")
        assert served.link is not None
        mine = entered(served, windows(served.url), session(served, served.link))
        page = mine.goto("/approvals")
        expect(page.get_by_text("Nothing needs your decision")).to_be_visible()
        with outside_client(served, agent, MODERN, step=False) as client:
            waits = client.until("waits")
            assert waits["_meta"]["handrail/approval"]["status"] == "pending"
            expect(page.locator(".ask-through")).to_contain_text("through MCP")
            assert platform.ledger() == []
            edit_and_approve(page)
            done = client.until("done")
            assert structured_content(done) == {"paid": 90, "to": "ana"}
            assert done["_meta"]["handrail/approval"]["arguments"] == EDITED
        page.get_by_role("link", name="What came of it").click()
        expect(page.locator("main")).to_contain_text("bank.pay")
        assert platform.ledger() == ["ana 90"]
        assert served.stop()[0] == 0
    check_event_log(platform)


@pytest.mark.req("BY-01", "BY-02", "BY-03")
@pytest.mark.timeout(300)
def test_a_caller_waits_over_rest_while_a_person_edits_and_approves_the_card(
    forked_cli: ForkedCli, tmp_path: Path, windows: Callable[..., Window]
) -> None:
    platform = Platform(tmp_path, forked_cli)
    with platform.server() as served:
        assert served.link is not None
        token = session(served, served.link)
        agent = platform.key(served, "agent", "--agent", "ops", "--audience", "api")
        answers: list[Any] = []

        def call_and_wait() -> None:
            with served.http(agent) as http:
                asked = http.post("/api/tools/bank.pay/call", json={"arguments": ASKED}).json()
                while asked["status"] == "pending":
                    asked = http.get(f"/api/calls/{asked['call_id']}", params={"wait": "20"}).json()
                answers.append(asked)

        caller = threading.Thread(target=call_and_wait)
        page = entered(served, windows(served.url), token).goto("/approvals")
        caller.start()
        try:
            expect(page.locator(".ask-through")).to_contain_text("through REST")
            edit_and_approve(page)
        finally:
            caller.join(60)
        [answer] = answers
        assert (answer["status"], answer["result"]["data"]) == ("completed", {"paid": 90, "to": "ana"})
        assert platform.ledger() == ["ana 90"]
