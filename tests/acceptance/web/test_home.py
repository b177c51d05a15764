"""Home in a browser: the first step, what waits, what ran and what failed, as it happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from handrail import Principal
from handrail.identity.permissions import console_principal
from tests.acceptance.server_process import ServerProcess, running_server
from tests.acceptance.web.browser import Window, sign_in
from tests.acceptance.web.people import add_person, beside, key_of, link_of

pytestmark = pytest.mark.long

Windows = Callable[..., Window]
TOOLS = '''
from handrail import ToolError, tool


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


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all; each test has a tenant of its own."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "stock.py").write_text(TOOLS)
    with running_server(folder, "--tools", "stock.py") as served:
        yield served


def call(served: ServerProcess, key: str, tool: str, **args: str) -> int:
    with served.http(key) as http:
        return http.post(f"/api/tools/{tool}/call", json={"arguments": args}).status_code


def test_home_shows_a_newcomer_the_first_step_and_then_what_they_ran_by_itself(
    shop: ServerProcess, windows: Windows
) -> None:
    user = add_person(shop.folder, "nia@acme.example", "owner", tenant="harbour")
    mine = sign_in(windows(shop.url), link_of(shop, "nia@acme.example", "harbour"))
    page = mine.page
    expect(page.get_by_role("heading", name="Run your first tool")).to_be_visible()
    expect(page.get_by_role("link", name="Browse tools")).to_have_attribute("href", "/tools")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    assert mine.axe() == []
    key = key_of(shop.folder, user, "harbour")
    assert call(shop, key, "stock.count", shelf="a") == 200
    ran = page.get_by_role("region", name="What you ran")
    expect(ran.get_by_role("link").first).to_contain_text("Count stock")
    expect(page.get_by_role("region", name="Recent tools").get_by_role("link")).to_have_text(["Count stock"])
    assert call(shop, key, "stock.count", shelf="z") == 200
    failed = page.get_by_role("region", name="Failed in the last seven days")
    expect(failed.get_by_role("link")).to_contain_text(["Count stock by you"])
    assert mine.axe() == []
    failed.get_by_role("link").click()
    expect(page.locator("main")).to_contain_text("there is no shelf z")


def test_home_shows_what_waits_for_whoever_may_decide(shop: ServerProcess, windows: Windows) -> None:
    user = add_person(shop.folder, "ap@acme.example", "owner", tenant="quay")
    mine = sign_in(windows(shop.url), link_of(shop, "ap@acme.example", "quay"))
    key = key_of(shop.folder, user, "quay", agent="ops")
    assert call(shop, key, "stock.order", item="nails") == 202
    waiting = mine.page.get_by_role("region", name="Needs your approval").get_by_role("link")
    expect(waiting).to_contain_text(['Order <i>stock</i> "nails" asked for by agent “ops”'])
    waiting.click()
    expect(mine.page.locator("main")).to_contain_text("nails")


@pytest.mark.req("EV-14")
def test_home_tells_others_only_what_they_may_see(shop: ServerProcess, windows: Windows) -> None:
    user = add_person(shop.folder, "bea@acme.example", "owner")
    save = console_principal("local")
    beside(shop.folder, lambda services: services.people.save_role(save, "guest", ["entities.team.read"]))
    add_person(shop.folder, "gus@acme.example", "guest")
    add_person(shop.folder, "vi@acme.example", "viewer")
    call(shop, key_of(shop.folder, user), "stock.count", shelf="z")
    guest = sign_in(windows(shop.url), link_of(shop, "gus@acme.example"))
    expect(guest.page.get_by_role("heading", name="Run your first tool")).to_be_visible()
    expect(guest.page.get_by_role("region", name="Failed in the last seven days")).to_have_count(0)
    viewer = sign_in(windows(shop.url, script=False), link_of(shop, "vi@acme.example"))
    failed = viewer.page.get_by_role("region", name="Failed in the last seven days")
    expect(failed.get_by_role("link")).to_contain_text(["Count stock by bea@acme.example"])


def test_favourites_are_at_home(shop: ServerProcess, windows: Windows) -> None:
    user = add_person(shop.folder, "fay@acme.example", "viewer")
    who = Principal("local", user)
    assert beside(shop.folder, lambda services: services.preferences.set_favourite(who, "stock.count", True))
    mine = sign_in(windows(shop.url), link_of(shop, "fay@acme.example"))
    shown = mine.page.get_by_role("region", name="Favourite tools").get_by_role("link")
    expect(shown).to_have_text(["Count stock"])
    shown.click()
    expect(mine.page.get_by_role("heading", level=1)).to_have_text("Count stock")
