"""One browser for the tests of a file; each test opens windows of its own.

Playwright holds the thread's loop while it is open, so it is closed before tests of another kind begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.acceptance.web.browser import Window, launched, window
from tests.acceptance.web.tool_page_server import ToolPageServer, tool_page_server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture
def windows(browser: Browser) -> Iterator[Callable[..., Window]]:
    """Opens windows; at the end none of them may have seen what must not happen."""
    opened: list[Window] = []

    def open_one(url: str, *, script: bool = True, width: int = 1280, dark: bool = False) -> Window:
        opened.append(window(browser, url, script=script, width=width, dark=dark))
        return opened[-1]

    yield open_one
    for one in opened:
        if one.context.pages:
            one.clean()
        one.context.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[ToolPageServer]:
    """One server with the tools of the tests, for the pages of tools."""
    with tool_page_server(tmp_path_factory.mktemp("shop"), browser) as opened:
        yield opened
