"""Settings in a browser: keys, members and roles, dead letters, usage; and what is not there for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.acceptance.server_process import ServerProcess, running_server
from tests.acceptance.web.browser import Window, sign_in, window
from tests.acceptance.web.people import add_person, key_of, link_of

pytestmark = pytest.mark.long

Windows = Callable[..., Window]
OWNER = "ana@acme.example"
TOOLS = '''
from handrail import ToolError, tool

_broken = [True]


@tool("stock.count", level="read")
async def count(shelf: str) -> dict:
    """Count what is on a shelf."""
    return {"shelf": shelf, "count": 3}


@tool("stock.quote", level="read")
async def quote(item: str, note: str = "") -> dict:
    """Ask the supplier for a price."""
    if _broken.pop() if _broken else False:
        raise ToolError("the supplier <b>does not</b> answer")
    return {"price": 5}
'''


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("shop")
    (folder / "stock.py").write_text(TOOLS)
    with running_server(folder, "--tools", "stock.py", "--owner", OWNER) as served:
        yield served


def settings_of(page: Window) -> list[str]:
    return page.page.get_by_role("navigation", name="Settings").get_by_role("link").all_inner_texts()


@pytest.mark.req("UI-17")
def test_a_key_is_made_shown_once_used_and_revoked_without_script(
    shop: ServerProcess, windows: Windows
) -> None:
    mine = sign_in(windows(shop.url, script=False), link_of(shop, OWNER))
    page = mine.goto("/settings/keys")
    page.get_by_role("link", name="New key").click()
    page.get_by_label("Name of the agent").fill("night watch")
    page.get_by_label("Reaches").select_option("read")
    page.get_by_label("Tools", exact=True).fill("stock.*")
    page.get_by_role("button", name="Make the key").click()
    expect(page.locator("#field-name-error")).to_have_text("Say in 1 to 200 characters what the key is for.")
    expect(page.get_by_label("What is it for")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Name of the agent")).to_have_value("night watch")
    expect(page.get_by_label("Reaches")).to_have_value("read")
    expect(page.get_by_label("Tools", exact=True)).to_have_value("stock.*")
    page.get_by_label("What is it for").fill("counts at night")
    page.get_by_role("button", name="Make the key").click()
    key = page.get_by_label("The key").input_value()
    with shop.http(key) as http:
        me = http.get("/api/me").json()
        assert (me["agent"], me["ceiling"], me["tools"]) == ("night watch", "read", ["stock.*"])
    mine.goto("/settings/keys")
    row = page.get_by_role("row").filter(has_text="counts at night")
    expect(row).to_contain_text("agent “night watch” for ana@acme.example")
    assert key not in page.content() and key.rpartition("_")[2] not in page.content()
    row.get_by_role("link", name="Revoke counts at night").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Revoke “counts at night”?")
    page.get_by_role("button", name="Revoke the key").click()
    expect(page.get_by_role("status").filter(has_text="was revoked")).to_be_visible()
    with shop.http(key) as http:
        assert http.get("/api/me").status_code == 401


def test_a_new_key_is_copied_by_a_button(shop: ServerProcess, windows: Windows) -> None:
    mine = sign_in(windows(shop.url), link_of(shop, OWNER))
    mine.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = mine.goto("/settings/keys/new")
    page.get_by_label("What is it for").fill("copied")
    page.get_by_role("button", name="Make the key").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.locator("#toasts")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.get_by_label("The key").input_value()


@pytest.mark.req("PM-17")
def test_what_one_may_not_use_is_not_there(shop: ServerProcess, windows: Windows) -> None:
    add_person(shop.folder, "vi@acme.example", "viewer")
    add_person(shop.folder, "op@acme.example", "operator")
    vi = sign_in(windows(shop.url), link_of(shop, "vi@acme.example"))
    vi.goto("/settings")
    assert settings_of(vi) == ["Profile"]
    for part in ("keys", "keys/new", "members", "roles", "roles/new", "dead-letters", "usage"):
        page = vi.goto(f"/settings/{part}")
        expect(page.get_by_role("heading", level=1)).to_have_text("Not found")
        answer = vi.context.request.post(f"{shop.url}/settings/{part}", form={"name": "x"})
        assert answer.status in (404, 405), part
    op = sign_in(windows(shop.url), link_of(shop, "op@acme.example"))
    op.goto("/settings")
    assert settings_of(op) == ["Profile", "Dead letters", "Usage"]


@pytest.mark.req("PM-14")
def test_members_get_only_roles_that_one_may_give(shop: ServerProcess, windows: Windows) -> None:
    add_person(shop.folder, "ad@acme.example", "admin")
    mine = sign_in(windows(shop.url), link_of(shop, "ad@acme.example"))
    page = mine.goto("/settings/members")
    add = page.locator("form", has_text="Add somebody")
    expect(add.get_by_label("owner: everything")).to_have_count(0)
    add.get_by_label("Address").fill("not an address")
    add.get_by_label("viewer").check()
    page.evaluate("document.querySelector('form[action=\"/settings/members\"]').noValidate = true")
    add.get_by_role("button", name="Add").click()
    expect(page.locator("#field-email-error")).to_contain_text("is not an e-mail address")
    expect(page.get_by_label("Address")).to_have_value("not an address")
    expect(page.get_by_label("viewer: looks")).to_be_checked()
    page.get_by_label("Address").fill("new@acme.example")
    page.get_by_label("Name", exact=True).fill("Nia <b>New</b>")
    page.get_by_role("button", name="Add").click()
    row = page.get_by_role("row").filter(has_text="new@acme.example")
    expect(row).to_contain_text("Nia <b>New</b>")
    row.get_by_role("link", name="Edit").click()
    page.get_by_label("approver").check()
    page.get_by_label("viewer").uncheck()
    page.get_by_role("button", name="Save roles").click()
    expect(row.locator(".mark")).to_have_text(["approver"])
    row.get_by_role("link", name="Edit").click()
    page.get_by_role("link", name="Remove the person").click()
    page.get_by_role("button", name="Remove the person").click()
    expect(page.get_by_role("row").filter(has_text="new@acme.example")).to_have_count(0)
    boss = page.get_by_role("row").filter(has_text=OWNER)
    boss.get_by_role("link", name="Edit").click()
    expect(page.locator("main")).to_contain_text("Also owner, which is not yours to give or take.")
    page.get_by_role("link", name="Remove the person").click()
    page.get_by_role("button", name="Remove the person").click()
    expect(page.locator("main")).to_contain_text("You cannot give what you do not hold")
    mine.goto("/settings/members")
    assert mine.axe() == []


@pytest.mark.req("PM-14")
def test_a_role_of_ones_own_is_made_changed_and_deleted(shop: ServerProcess, windows: Windows) -> None:
    mine = sign_in(windows(shop.url), link_of(shop, OWNER))
    page = mine.goto("/settings/roles/new")
    page.get_by_label("Name", exact=True).fill("Night Shift")
    page.get_by_label("See usage").check()
    page.get_by_label("Other permissions").fill("alarms.read")
    page.get_by_role("button", name="Save role").click()
    expect(page.locator("#field-name-error")).to_contain_text("Use lower-case words")
    expect(page.get_by_label("See usage")).to_be_checked()
    expect(page.get_by_label("Other permissions")).to_have_value("alarms.read")
    page.get_by_label("Name", exact=True).fill("night-shift")
    page.get_by_role("button", name="Save role").click()
    role = page.get_by_role("region", name="Role night-shift")
    expect(role).to_contain_text("See usage; alarms.read")
    assert mine.axe() == []
    role.get_by_role("link", name="Edit").click()
    page.get_by_label("See usage").uncheck()
    page.get_by_role("button", name="Save role").click()
    expect(role).not_to_contain_text("See usage")
    role.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete the role").click()
    expect(role).to_have_count(0)


@pytest.mark.req("UI-17")
def test_a_dead_letter_is_looked_at_replayed_and_purged(shop: ServerProcess, windows: Windows) -> None:
    key = key_of(shop.folder, shop.owner())
    with shop.http(key) as http:
        given = {"item": "nails \u202e", "note": "<script>alert(1)</script>"}
        failed = http.post("/api/tools/stock.quote/call", json={"arguments": given})
        assert failed.json()["result"]["success"] is False
    mine = sign_in(windows(shop.url), link_of(shop, OWNER))
    page = mine.goto("/settings/dead-letters")
    assert mine.axe() == []
    page.get_by_role("row").filter(has_text="does not").get_by_role("link", name="stock.quote").click()
    main = page.locator("main")
    expect(main).to_contain_text("the supplier <b>does not</b> answer")
    expect(main).to_contain_text("<script>alert(1)</script>")
    expect(main.locator(".view-char")).to_have_attribute("title", "Right-to-left override")
    assert mine.axe() == []
    page.get_by_role("button", name="Replay this call").click()
    expect(page.get_by_role("status").filter(has_text="Replayed: done.")).to_be_visible()
    expect(page.get_by_role("button", name="Replay this call")).to_have_count(0)
    page.get_by_role("link", name="Purge").click()
    page.get_by_role("button", name="Purge").click()
    expect(page.get_by_role("heading", name="Nothing failed for good")).to_be_visible()


def test_usage_is_drawn_with_its_data_and_told_by_tool(shop: ServerProcess, windows: Windows) -> None:
    key = key_of(shop.folder, shop.owner())
    with shop.http(key) as http:
        for _ in range(3):
            http.post("/api/tools/stock.count/call", json={"arguments": {"shelf": "a"}})
    mine = sign_in(windows(shop.url), link_of(shop, OWNER))
    page = mine.goto("/settings/usage")
    row = page.get_by_role("row").filter(has_text="stock.count")
    expect(row.get_by_role("cell").first).to_have_text("3")
    expect(page.get_by_role("img", name="Bar chart, Runs by day")).to_be_visible()
    expect(page.get_by_role("img", name="Line chart, How long runs took")).to_be_visible()
    expect(page.get_by_role("heading", name="Most called")).to_be_visible()
    assert mine.axe() == []
    page.get_by_label("The last").select_option("7")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_label("The last")).to_have_value("7")


def test_ones_name_and_theme_are_ones_own_everywhere(shop: ServerProcess, windows: Windows) -> None:
    add_person(shop.folder, "th@acme.example", "viewer")
    mine = sign_in(windows(shop.url), link_of(shop, "th@acme.example"))
    page = mine.goto("/settings/profile")
    page.get_by_label("What others see").fill("  ")
    page.get_by_role("button", name="Save name").click()
    expect(page.locator("#field-name-error")).to_have_text("A name has 1 to 100 characters.")
    page.get_by_label("What others see").fill("Thea")
    page.get_by_role("button", name="Save name").click()
    expect(page.locator("summary", has_text="Account")).to_contain_text("Thea")
    page.get_by_label("Pages look").select_option("dark")
    page.get_by_role("button", name="Save theme").click()
    expect(page.locator("html")).to_have_class("dark script")
    other = sign_in(windows(shop.url), link_of(shop, "th@acme.example"))
    expect(other.page.locator("html")).to_have_class("dark script")
    assert mine.axe() == []


@pytest.mark.parametrize(
    "path", ["/", "/settings/profile", "/settings/keys", "/settings/keys/new", "/settings/members",
             "/settings/roles", "/settings/dead-letters", "/settings/usage"]
)  # fmt: skip
def test_no_page_is_wider_than_a_small_phone(shop: ServerProcess, narrow: Window, path: str) -> None:
    page = narrow.goto(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert narrow.axe() == []


@pytest.fixture(scope="module")
def narrow(shop: ServerProcess, browser: Browser) -> Iterator[Window]:
    opened = sign_in(window(browser, shop.url, width=360), link_of(shop, OWNER))
    yield opened
    opened.clean()
    opened.context.close()
