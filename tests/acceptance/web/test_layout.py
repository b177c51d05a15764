"""The frame of every page: moving about, the palette, themes, small screens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.acceptance.server_process import running_server
from tests.acceptance.web.browser import Window, sign_in


def test_a_page_that_is_not_there_says_so_and_the_frame_works(
    tmp_path: Path, windows: Callable[..., Window]
) -> None:
    with running_server(tmp_path, "--demo") as served:
        assert served.link is not None
        mine = sign_in(windows(served.url), served.link)
        page = mine.goto("/nowhere")
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").fill("records")
        expect(page.get_by_role("option").first).to_contain_text("ecord")
        page.keyboard.press("Escape")
        expect(page.locator("#palette")).to_be_hidden()
        page.keyboard.press("?")
        expect(page.get_by_role("heading", name="Keyboard")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Light or dark").click()
        expect(page.locator("html")).to_have_class("script dark")
        page.reload()
        expect(page.locator("html")).to_have_class("dark script")
        assert mine.axe() == []
        page.set_viewport_size({"width": 360, "height": 700})
        expect(page.get_by_role("navigation", name="Most used")).to_be_visible()
        expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
