"""The library of tools in a browser: found by words and filters, favourites and recent ones on top."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.web.browser import Window
from tests.acceptance.web.tool_page_server import ToolPageServer


def names(page: Page) -> list[str]:
    return page.locator(".tool-card-name").all_inner_texts()


@pytest.mark.req("RA-01")
def test_tools_are_found_as_one_types_and_by_category(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools")
    expect(page.get_by_role("heading", name="Tools", exact=True)).to_be_visible()
    assert "Quote" in names(page) and "Slow work" in names(page)
    assert mine.axe() == []
    page.get_by_label("Find a tool").press_sequentially("order tax")
    expect(page.locator(".tool-card-name")).to_have_text(["Quote"])
    expect(page.get_by_label("Find a tool")).to_be_focused()
    page.wait_for_url("**/tools?q=order+tax*")
    page.reload()
    expect(page.locator(".tool-card-name")).to_have_text(["Quote"])
    page.get_by_label("Find a tool").fill("")
    page.get_by_label("Category").select_option("Work")
    expect(page.locator(".tool-card-name")).to_have_text(["Take a note", "Secret word", "Slow work", "Wipe"])
    page.get_by_label("Find a tool").fill("zzz")
    expect(page.get_by_text("Nothing found for “zzz”")).to_be_visible()
    assert mine.axe() == []
    page.get_by_role("link", name="Show all tools").click()
    expect(page.locator(".tool-card-name").first).to_be_visible()
    assert len(names(page)) > 3


@pytest.mark.req("RA-01")
def test_favourites_and_what_was_used_lately_stand_on_top(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools")
    page.get_by_role("button", name="Wipe: make it a favourite").click()
    expect(page.get_by_role("button", name="Wipe: a favourite")).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(page.get_by_role("region", name="Favourites").locator(".tool-card-name")).to_have_text(["Wipe"])
    page = mine.goto("/tools/work-secret")
    page.get_by_role("textbox", name="Word").fill("hush")
    page.get_by_role("button", name="Run ⌘↵").click()
    expect(page.get_by_text("Letters", exact=True)).to_be_visible()
    assert "hush" not in page.content()
    page = mine.goto("/tools")
    lately = page.get_by_role("region", name="Used lately").locator(".tool-card-name")
    expect(lately).to_have_text(["Secret word"])
    page.get_by_role("link", name="Wipe").first.click()
    page.get_by_role("button", name="Wipe: a favourite").click()
    expect(page.get_by_role("button", name="Wipe: make it a favourite")).to_be_visible()
    page = mine.goto("/tools")
    expect(page.get_by_role("region", name="Favourites")).to_have_count(0)


@pytest.mark.req("RA-01")
def test_the_library_works_without_script_and_on_a_phone(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    plain = shop.enter(windows(shop.url, script=False))
    page = plain.goto("/tools")
    page.get_by_label("Find a tool").fill("order tax")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.locator(".tool-card-name")).to_have_text(["Quote"])
    page.get_by_role("button", name="Quote: make it a favourite").click()
    expect(page.get_by_role("region", name="Favourites")).to_contain_text("Quote")
    page.get_by_role("button", name="Quote: a favourite").first.click()
    phone = shop.enter(windows(shop.url, width=360))
    page = phone.goto("/tools")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert phone.axe() == []
