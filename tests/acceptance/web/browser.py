"""A real browser at the pages: Debian's Chromium, driven by Playwright.

A window hears everything that must not happen on a page: an error of a script, a report of the content
security policy, a request to another place. `Window.clean()` fails on any of it; the fixture `windows` asks
it at the end of each test.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.acceptance.server_process import ServerProcess

ROOT = Path(__file__).parents[3]
AXE = ROOT / ".web-packages/node_modules/axe-core/axe.min.js"
DEADLINE = 30_000.0
"""Milliseconds that a page has for anything."""
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_REPORTS = """
window.__reports = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.__reports.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""


def chromium() -> str:
    """The browser of this machine; `make test` installs one where it can."""
    found = shutil.which("chromium")
    assert found is not None, "The tests of the pages need Chromium. On Debian: apt-get install chromium"
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Window:
    """One person's browser, with cookies of its own."""

    context: BrowserContext
    page: Page
    url: str
    wrong: list[str] = field(default_factory=list)

    def goto(self, path: str) -> Page:
        self.page.goto(self.url + path)
        return self.page

    def clean(self) -> None:
        """Nothing happened that must not."""
        found = [*self.wrong]
        for page in self.context.pages:
            found += page.evaluate("window.__reports ?? []")
        assert not found, found

    def axe(self) -> list[str]:
        """What axe-core finds wrong with the page as it stands, in light and in dark."""
        found: list[str] = []
        for theme in ("light", "dark"):
            self.page.evaluate(
                "name => document.documentElement.classList.toggle('dark', name === 'dark')", theme
            )
            if not self.page.evaluate("'axe' in window"):
                self.page.evaluate(AXE.read_text())
            told = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            for one in told["violations"]:
                places = "; ".join(str(node["html"])[:200] for node in one["nodes"][:4])
                found.append(f"{theme} {self.page.url}: {one['id']}: {one['help']}: {places}")
        return found


def window(
    browser: Browser, url: str, *, script: bool = True, width: int = 1280, dark: bool = False
) -> Window:
    """A new browser of somebody who is not signed in."""
    context = browser.new_context(
        java_script_enabled=script,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(DEADLINE)
    if script:
        context.add_init_script(_REPORTS)
    page = context.new_page()
    opened = Window(context, page, url)
    page.on("pageerror", lambda error: opened.wrong.append(f"error: {error}"))
    page.on(
        "console",
        lambda line: opened.wrong.append(line.text) if "Content Security Policy" in line.text else None,
    )
    home = urlsplit(url).netloc

    def requested(address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != home:
            opened.wrong.append(f"asked another place: {address}")

    page.on("request", lambda request: requested(request.url))
    return opened


def sign_in(opened: Window, link: str) -> Window:
    """Go in by a link that works once."""
    opened.page.goto(link)
    opened.page.get_by_role("button", name="Sign in").click()
    opened.page.wait_for_url(lambda url: "/sign-in" not in url)
    return opened


def new_link(served: ServerProcess, email: str | None = None) -> str:
    """Another link for the owner of the first tenant, or for somebody else of it."""
    from tests.acceptance.command_line import handrail

    words = ["sign-in", "--database", "sqlite:///handrail.db", *([email] if email else [])]
    done = handrail(*words, cwd=served.folder)
    assert done.code == 0, done.err
    link = next(word for word in (done.out + done.err).split() if "/sign-in?link=" in word)
    return served.url + link[link.index("/sign-in") :]
