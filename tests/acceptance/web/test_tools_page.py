"""The page of a tool in a browser: its form, its two faces, a run and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.web.browser import Window
from tests.acceptance.web.tool_page_server import ToolPageServer
from tests.harness.poll import poll_until

RUN = "Run ⌘↵"


def run(page: Page) -> None:
    page.get_by_role("button", name=RUN).click()


def fill_quote(page: Page, amount: str = "100") -> None:
    page.get_by_label("Customer").fill("Acme <b>")
    page.get_by_role("button", name="Add entry to Lines").click()
    page.get_by_label("Item").fill("Chair")
    page.get_by_label("Amount").fill(amount)


@pytest.mark.req("RA-02", "EV-14", "UI-15")
def test_a_tool_is_filled_in_run_run_again_and_edited(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/shop-quote")
    assert mine.axe() == []
    expect(page.get_by_text("Nobody ran it yet.", exact=False)).to_be_visible()
    fill_quote(page)
    page.keyboard.press("Control+Enter")
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_text("120", exact=True)).to_be_visible()
    expect(result.get_by_text("Acme <b>").first).to_be_visible()
    expect(page.locator(".tool-history tbody tr")).to_have_count(1)
    expect(page.get_by_label("Amount")).to_have_value("100")
    result.get_by_text("Why was this allowed?").click()
    expect(result.get_by_text("decided", exact=True)).to_be_visible()
    assert mine.axe() == []
    result.get_by_role("button", name="Run again").click()
    expect(page.locator(".tool-history tbody tr")).to_have_count(2)
    page.get_by_label("Amount").fill("200")
    run(page)
    expect(result.get_by_text("240", exact=True)).to_be_visible()
    page.reload()
    expect(result.get_by_text("240", exact=True)).to_be_visible()
    expect(page.get_by_label("Amount")).to_have_value("200")
    page.get_by_role("row").last.get_by_role("link", name="Open and edit").click()
    expect(page.get_by_label("Amount")).to_have_value("100")
    expect(result.get_by_text("120", exact=True)).to_be_visible()
    page.get_by_role("row").last.get_by_role("button", name="Run again").click()
    expect(page.locator(".tool-history tbody tr")).to_have_count(4)
    expect(page.locator(".tool-history .mark-good")).to_have_count(4)


@pytest.mark.req("RA-02")
def test_turning_between_form_and_json_loses_nothing(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/shop-quote")
    fill_quote(page, "68k")
    page.get_by_label("Note").fill('5" <i>\u202e')
    page.get_by_role("button", name="JSON", exact=True).click()
    box = page.get_by_label("Input as JSON")
    typed = json.loads(box.input_value())
    assert typed["lines"] == [{"item": "Chair", "amount": "68k"}] and typed["note"] == '5" <i>\u202e'
    assert "\\u202e" in box.input_value(), "what cannot be seen is written out"
    assert mine.axe() == []
    broken = box.input_value().replace("}", "", 1)
    box.fill(broken)
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.get_by_text("This is not JSON yet:", exact=False)).to_be_visible()
    assert box.input_value() == broken
    box.fill(json.dumps({**typed, "kind": "loud", "extra": [1, {"a": None}], "rate": 0.5}))
    page.get_by_role("button", name="Form", exact=True).click()
    expect(page.get_by_label("Amount")).to_have_value("68k")
    expect(page.get_by_label("Customer")).to_have_value("Acme <b>")
    page.get_by_label("Tax rate").fill("0.25")
    page.get_by_role("button", name="JSON", exact=True).click()
    expect(box).to_be_visible()
    again = json.loads(box.input_value())
    assert again == {**typed, "kind": "loud", "extra": [1, {"a": None}], "rate": 0.25}
    run(page)
    expect(page.get_by_text("lines.0.amount:", exact=False)).to_be_visible()
    assert json.loads(box.input_value()) == again
    assert mine.axe() == []


@pytest.mark.req("RA-02", "UI-17")
def test_errors_appear_at_touched_fields_and_leave_the_typing_alone(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/shop-quote")
    rate = page.get_by_label("Tax rate")
    rate.fill("7")
    page.get_by_label("Note").focus()
    said = page.get_by_text("Tax rate must be 1 or less.")
    expect(said).to_be_visible()
    expect(rate).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Note")).to_be_focused()
    expect(page.get_by_text("Customer is required", exact=False)).to_have_count(0)
    rate.press("End")
    rate.press_sequentially("x")
    expect(page.get_by_text("Tax rate must be a number. You typed 7x", exact=False)).to_be_visible()
    expect(rate).to_be_focused()
    expect(rate).to_have_value("7x")
    rate.fill("0.5")
    expect(rate).not_to_have_attribute("aria-invalid", "true")
    page.get_by_label("Note").fill("kept")
    rate.fill("9")
    run(page)
    expect(page.get_by_text("Customer", exact=False).locator("visible=true").first).to_be_visible()
    expect(page.get_by_label("Customer")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Customer")).to_be_focused()
    expect(page.get_by_label("Note")).to_have_value("kept")
    expect(rate).to_have_value("9")
    assert mine.axe() == []
    fill_quote(page)
    rate.fill("0.1")
    run(page)
    expect(page.get_by_role("region", name="Result").get_by_text("110", exact=True)).to_be_visible()
    expect(page.locator("[aria-invalid=true]")).to_have_count(0)


@pytest.mark.req("RA-02")
def test_pressing_run_twice_runs_once(shop: ToolPageServer, windows: Callable[..., Window]) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/shop-count")
    page.get_by_label("Folder").fill(str(shop.folder))
    page.get_by_label("Name", exact=True).fill("twice")
    page.get_by_role("button", name=RUN).dblclick()
    expect(page.get_by_role("region", name="Result").get_by_text("done")).to_be_visible()
    expect(page.locator(".tool-history .mark-good")).to_have_count(1)
    page.reload()
    assert (shop.folder / "twice.count").read_text() == "1"


@pytest.mark.req("RA-02")
def test_inputs_are_saved_under_names_and_put_into_links(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/shop-quote")
    fill_quote(page, "7x")
    page.get_by_text("Saved inputs").click()
    page.get_by_label("Name for this input").fill("  A & B/c  ")
    page.get_by_role("button", name="Save this input").click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    expect(page.get_by_label("Amount")).to_have_value("7x")
    page.get_by_role("button", name="Save this input").click()
    expect(page.get_by_text("Give it a name", exact=False)).to_be_visible()
    assert mine.axe() == []
    page = mine.goto("/tools/shop-quote")
    page.get_by_text("Saved inputs (1)").click()
    page.get_by_role("link", name="A & B/c").click()
    expect(page.get_by_label("Amount")).to_have_value("7x")
    page.get_by_text("Saved inputs (1)").click()
    page.get_by_label("Change A & B/c").click()
    page.get_by_label("New name").fill("Other")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_text("Renamed.")).to_be_visible()
    page.get_by_label("Change Other").click()
    page.get_by_role("button", name="Remove Other").click()
    expect(page.get_by_text("Removed.")).to_be_visible()
    expect(page.get_by_role("link", name="Other")).to_have_count(0)
    page.get_by_label("Amount").fill("8")
    page.get_by_role("button", name="Link with this input").click()
    link = page.get_by_role("textbox", name="Link with this input").input_value()
    assert link.startswith(f"{shop.url}/tools/shop-quote?input=")
    page.goto(link)
    expect(page.get_by_label("Amount")).to_have_value("8")
    expect(page.get_by_label("Customer")).to_have_value("Acme <b>")
    page.get_by_label("Note").fill("x" * 9_000)
    page.get_by_role("button", name="Link with this input").click()
    expect(page.get_by_text("too long for a link", exact=False)).to_be_visible()
    page.goto(f"{link[:-3]}!")
    expect(page.get_by_text("The link is not whole", exact=False)).to_be_visible()


@pytest.mark.req("RA-02", "ST-02")
def test_the_whole_way_works_without_script(shop: ToolPageServer, windows: Callable[..., Window]) -> None:
    plain = shop.enter(windows(shop.url, script=False))
    page = plain.goto("/tools/shop-quote")
    fill_quote(page, "10x")
    page.get_by_role("button", name="JSON", exact=True).click()
    assert json.loads(page.get_by_label("Input as JSON").input_value())["lines"][0]["amount"] == "10x"
    page.get_by_role("button", name="Form", exact=True).click()
    run(page)
    expect(page.get_by_text("Amount must be a number.", exact=False).first).to_be_visible()
    page.get_by_label("Amount").fill("10")
    page.get_by_label("Amount").press("Enter")
    expect(page.get_by_role("region", name="Result").get_by_text("12", exact=True)).to_be_visible()
    expect(page.get_by_label("Amount")).to_have_value("10")
    page.get_by_role("button", name="Run again").first.click()
    expect(page.get_by_role("region", name="Result").get_by_text("12", exact=True)).to_be_visible()
    gate = shop.folder / "gate-plain"
    page = plain.goto("/tools/work-slow")
    page.get_by_label("Gate").fill(str(gate))
    run(page)
    expect(page.get_by_text("Running", exact=True)).to_be_visible()
    gate.touch()
    expect(page.get_by_text("All steps done").first).to_be_visible()  # the page looks again by itself


@pytest.mark.req("RA-02")
def test_the_page_of_a_tool_fits_a_phone(shop: ToolPageServer, windows: Callable[..., Window]) -> None:
    phone = shop.enter(windows(shop.url, width=360))
    page = phone.goto("/tools/shop-quote")
    fill_quote(page)
    run(page)
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_text("120", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    parts = (page.locator("#input-form"), result, page.locator("#history"))
    tops = [box["y"] for one in parts if (box := one.bounding_box()) is not None]
    assert len(tops) == 3 and tops == sorted(tops)
    assert phone.axe() == []


@pytest.mark.req("RA-02")
@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_word_in_a_field_makes_the_page_of_a_tool_no_wider(
    shop: ToolPageServer, windows: Callable[..., Window], width: int
) -> None:
    page = shop.enter(windows(shop.url, width=width)).goto("/tools/work-note")
    page.get_by_label("Text").fill("echo " + "x" * 300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box, panel = page.get_by_label("Text").bounding_box(), page.locator(".tool-panel").first.bounding_box()
    assert box is not None and panel is not None and box["x"] + box["width"] <= panel["x"] + panel["width"]
    page.get_by_role("button", name="JSON", exact=True).click()
    expect(page.get_by_label("Input as JSON")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.req("ST-02", "ST-03", "TR-04")
def test_a_long_run_shows_its_progress_and_output_and_ends_in_the_same_place(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    gate = shop.folder / "gate-slow"
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/work-slow")
    page.get_by_label("Gate").fill(str(gate))
    page.get_by_label("Steps").fill("3")
    run(page)
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_text("Step 3 of 3")).to_be_visible()
    expect(page.locator(".tool-output")).to_have_text("line 1\nline 2\nline 3\n")
    expect(page.locator(".tool-history")).to_contain_text("running")
    assert mine.axe() == []
    other = shop.enter(windows(shop.url))
    seen = other.goto("/tools/work-slow").get_by_role("region", name="Result")
    expect(seen.get_by_text("Step 3 of 3")).to_be_visible()
    gate.touch()
    expect(result.get_by_text("All steps done").first).to_be_visible()
    expect(seen.get_by_text("All steps done").first).to_be_visible()
    expect(page.locator(".tool-history")).not_to_contain_text("running")


@pytest.mark.req("ST-02")
def test_a_run_can_be_cancelled_from_its_page(shop: ToolPageServer, windows: Callable[..., Window]) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/work-slow")
    page.get_by_label("Gate").fill(str(shop.folder / "never"))
    run(page)
    result = page.get_by_role("region", name="Result")
    result.get_by_role("button", name="Cancel").click()
    expect(result.get_by_text("cancelled", exact=True)).to_be_visible()
    expect(page.locator(".tool-history tbody tr").first).to_contain_text("cancelled")
    assert mine.axe() == []


@pytest.mark.req("RA-02")
def test_what_must_be_confirmed_waits_for_it_and_then_runs(
    shop: ToolPageServer, windows: Callable[..., Window]
) -> None:
    mine = shop.enter(windows(shop.url))
    page = mine.goto("/tools/work-wipe")
    page.get_by_label("Folder").fill(str(shop.folder))
    run(page)
    result = page.get_by_role("region", name="Result")
    expect(result.get_by_text("Needs your confirmation")).to_be_visible()
    assert not (shop.folder / "wiped").exists()
    assert mine.axe() == []
    result.get_by_role("button", name="Confirm and run").click()
    expect(result.get_by_text("done", exact=True)).to_be_visible()
    assert poll_until((shop.folder / "wiped").exists)
