"""Every page, looked at: light, dark and on a phone. The pictures of the docs are taken here.

`make screens` takes them anew. What a page says (headings, buttons, links and labels) is kept beside them:
a page that says something else than its picture fails here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tests.acceptance.web.browser import ROOT, Window, sign_in, window
from tests.acceptance.web.demo_server import DemoServer, demo_server

FOLDER = ROOT / "docs/screens"
SAID = FOLDER / "said.json"
WRITE = os.environ.get("HANDRAIL_SCREENS") == "write"
PAGES = (
    "sign-in",
    "home",
    "tools",
    "tool",
    "result",
    "approvals",
    "approval",
    "runs",
    "run",
    "sessions",
    "shared",
    "embed",
    "settings",
    "settings-keys",
    "settings-members",
    "settings-roles",
    "settings-letters",
    "settings-usage",
    "settings-embeds",
)
_PATHS = {
    "sign-in": "/sign-in",
    "home": "/",
    "tools": "/tools",
    "tool": "/tools/priority-matrix",
    "approvals": "/approvals",
    "runs": "/runs",
    "sessions": "/sessions",
    "settings": "/settings",
    "settings-keys": "/settings/keys",
    "settings-members": "/settings/members",
    "settings-roles": "/settings/roles",
    "settings-letters": "/settings/dead-letters",
    "settings-usage": "/settings/usage",
    "settings-embeds": "/settings/embeds",
}
_OUTLINE = """() => [...document.querySelectorAll('h1, h2, h3, button, label, legend, th, nav a, main a')]
  .filter((one) => one.checkVisibility()).map((one) => `${one.localName} ${one.textContent.trim()}`)"""
_CHANGING = re.compile(r"just now|(in )?\d[\d.,\s]*(ms|s|min|h|d)\b( ago)?|[0-9a-f]{8,}\S*|\d+", re.ASCII)
_TOOK = re.compile(r"(under )?#(\.#)? (ms|s)(?=#)")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    with demo_server(tmp_path_factory.mktemp("showcase")) as found:
        yield found


@pytest.fixture(scope="module")
def mine(shown: DemoServer, browser: Browser) -> Iterator[Window]:
    opened = window(browser, shown.served.url)
    assert shown.served.link is not None
    yield sign_in(opened, shown.served.link)
    opened.clean()
    opened.context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_looks_as_its_picture_says_and_nothing_is_wrong_with_it(
    name: str, shown: DemoServer, mine: Window, windows: Callable[..., Window]
) -> None:
    here = windows(shown.served.url) if name in ("sign-in", "embed") else mine
    here.page.set_viewport_size({"width": 1280, "height": 860})
    here.goto(shown.places.get(name) or _PATHS[name])
    here.page.wait_for_load_state("load")
    found = here.axe()
    if WRITE:
        _take(here, name)
    here.page.set_viewport_size({"width": 360, "height": 740})
    wide = here.page.evaluate("document.documentElement.scrollWidth")
    here.page.set_viewport_size({"width": 1280, "height": 860})
    assert found == []
    assert wide <= 360, "a page fits a phone"
    said = _said(here)
    if WRITE:
        _keep(name, said)
    assert _kept().get(name) == said, "the page changed: run `make screens` and look at it"
    for look in ("light", "dark", "phone"):
        assert (FOLDER / f"{name}-{look}.png").exists()


def _take(here: Window, name: str) -> None:
    FOLDER.mkdir(exist_ok=True)
    page, dark = here.page, "name => document.documentElement.classList.toggle('dark', name === 'dark')"
    for look, width, height in (("light", 1280, 860), ("dark", 1280, 860), ("phone", 360, 740)):
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(dark, look)
        page.screenshot(path=FOLDER / f"{name}-{look}.png")


def _said(here: Window) -> list[str]:
    told: list[str] = here.page.evaluate(_OUTLINE)
    lines = [_TOOK.sub("# ms", " ".join(_CHANGING.sub("#", one).split())) for one in told]
    return list(dict.fromkeys(lines))


def _kept() -> dict[str, list[str]]:
    kept: dict[str, list[str]] = json.loads(SAID.read_text()) if SAID.exists() else {}
    return kept


def _keep(name: str, said: list[str]) -> None:
    kept = _kept() | {name: said}
    ordered = {one: kept[one] for one in PAGES if one in kept}
    SAID.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n")


def test_there_are_pictures_of_these_pages_and_no_others() -> None:
    names = {f"{name}-{look}.png" for name in PAGES for look in ("light", "dark", "phone")}
    assert {one.name for one in FOLDER.glob("*.png")} == names
    assert set(_kept()) == set(PAGES)
