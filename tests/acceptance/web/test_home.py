"""Home in a browser: the first step, what waits, what ran and what failed, as it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from handrail import Principal
from handrail.identity.granting import console
from handrail.identity.offices import Offices
from tests.acceptance.serving import Served, serving
from tests.acceptance.web.browser import Window, sign_in
from tests.acceptance.web.people import add_person, beside, link_of

Windows = Callable[..., Window]
OWNER = "ana@acme.example"
TOOLS = '''
from handrail import tool
from handrail.ext import ToolError


@tool("stock.count", level="read", name="Count stock")
async def count(shelf: str) -> dict:
    """Count what is on a shelf."""
    if shelf == "z":
        raise ToolError("there is no shelf z")
    return {"count": 3}


@tool("stock.order", level="write", name="Order <i>stock</i>")
async def order(item: str) -> dict:
    """Order something."""
    return {"ordered": item}
'''


@pytest.fixture
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "stock.py").write_text(TOOLS)
    with serving(folder, "--tools", "stock.py", "--owner", OWNER) as served:
        yield served


def count(served: Served, key: str, shelf: str) -> None:
    with served.http(key) as http:
        body = {"arguments": {"shelf": shelf}}
        assert http.post("/api/tools/stock.count/call", json=body).status_code == 200


def test_home_shows_a_newcomer_the_first_step_and_then_what_happens_by_itself(
    shop: Served, windows: Windows
) -> None:
    mine = sign_in(windows(shop.url), link_of(shop, OWNER))
    page = mine.page
    expect(page.get_by_role("heading", name="Run your first tool")).to_be_visible()
    expect(page.get_by_role("link", name="Browse tools")).to_have_attribute("href", "/tools")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    assert mine.axe() == []

    key = shop.key("mine", "--kind", "service", "--for", shop.owner())
    count(shop, key, "a")
    ran = page.get_by_role("region", name="What you ran")
    expect(ran.get_by_role("link").first).to_contain_text("Count stock")
    expect(page.get_by_role("region", name="Recent tools").get_by_role("link")).to_have_text(["Count stock"])

    agent = shop.key("ops", "--for", shop.owner(), "--agent", "ops")
    with shop.http(agent) as http:
        asked = http.post("/api/tools/stock.order/call", json={"arguments": {"item": "nails"}})
        assert asked.status_code == 202
    waiting = page.get_by_role("region", name="Needs your approval")
    expect(waiting.get_by_role("link").first).to_contain_text("Order <i>stock</i> asked for by agent “ops”")
    count(shop, key, "z")
    failed = page.get_by_role("region", name="Failed in the last seven days")
    expect(failed.get_by_role("link")).to_contain_text(["Count stock by you"])
    assert mine.axe() == []


@pytest.mark.req("EV-14")
def test_home_tells_others_only_what_they_may_see(shop: Served, windows: Windows) -> None:
    beside(
        shop.folder,
        lambda offices: offices.people.save_role(console("local"), "guest", ["entities.team.read"]),
    )
    add_person(shop.folder, "gus@acme.example", "guest")
    add_person(shop.folder, "vi@acme.example", "viewer")
    count(shop, shop.key("owners", "--kind", "service", "--for", shop.owner()), "z")
    guest = sign_in(windows(shop.url), link_of(shop, "gus@acme.example"))
    expect(guest.page.get_by_role("heading", name="Run your first tool")).to_be_visible()
    expect(guest.page.get_by_role("region", name="Failed in the last seven days")).to_have_count(0)
    viewer = sign_in(windows(shop.url, script=False), link_of(shop, "vi@acme.example"))
    failed = viewer.page.get_by_role("region", name="Failed in the last seven days")
    expect(failed.get_by_role("link")).to_contain_text(["Count stock by ana@acme.example"])


def test_favourites_are_at_home(shop: Served, windows: Windows) -> None:
    user = add_person(shop.folder, "fay@acme.example", "viewer")

    async def star(offices: Offices) -> bool:
        return await offices.keepsakes.favour(Principal("local", user), "stock.count", True)

    assert beside(shop.folder, star)
    mine = sign_in(windows(shop.url), link_of(shop, "fay@acme.example"))
    shown = mine.page.get_by_role("region", name="Favourite tools").get_by_role("link")
    expect(shown).to_have_text(["Count stock"])
    shown.click()
    expect(mine.page.get_by_role("heading", level=1)).to_have_text("Count stock")
