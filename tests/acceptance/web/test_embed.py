"""Published tools inside a page of another origin, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, FrameLocator, Page, expect

from tests.acceptance.web.browser import DEADLINE, new_link, sign_in, window
from tests.acceptance.web.shared_tool_server import SharedToolServer, page_of_others, shared_tool_server

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedToolServer]:
    with shared_tool_server(tmp_path_factory.mktemp("team")) as found:
        yield found


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[str, dict[str, str]]]:
    with page_of_others() as found:
        yield found


@contextmanager
def visitor(browser: Browser, script: bool = True) -> Iterator[Page]:
    context: BrowserContext = browser.new_context(java_script_enabled=script)
    context.set_default_timeout(DEADLINE)
    try:
        yield context.new_page()
    finally:
        context.close()


def framed(
    page: Page, server: SharedToolServer, site: tuple[str, dict[str, str]], token_url: str, more: str = ""
) -> FrameLocator:
    """The embed in a page of the other site."""
    url, pages = site
    assert urlsplit(url).hostname != urlsplit(server.served.url).hostname
    pages["/"] = (
        f'<!doctype html><title>Ours</title><iframe src="{server.served.url}{token_url}" {more}></iframe>'
    )
    page.goto(f"{url}/")
    return page.frame_locator("iframe")


@pytest.mark.req("RA-13", "UI-09", "UI-10")
@pytest.mark.parametrize("script", [True, False])
def test_a_visitor_runs_a_published_tool_on_a_page_of_another_origin(
    script: bool, server: SharedToolServer, site: tuple[str, dict[str, str]], browser: Browser
) -> None:
    made = server.embed(origins=[site[0]])
    with visitor(browser, script) as page:
        frame = framed(page, server, site, made["url"])
        expect(frame.get_by_role("heading", name="Draw", level=1)).to_be_visible()
        frame.get_by_label("What to draw").fill("x")
        frame.get_by_role("button", name="Run").click()
        expect(frame.get_by_label("What to draw")).to_have_attribute("aria-invalid", "true")
        frame.get_by_label("What to draw").fill("a cat")
        frame.get_by_role("button", name="Run").click()
        expect(frame.locator("#embed-result")).to_contain_text("a cat")
        expect(frame.locator("#embed-result")).to_contain_text("small")
        expect(frame.get_by_label("What to draw")).to_have_value("a cat")
        assert frame.get_by_label("Model").count() == 0
        assert "model" not in (frame.locator("#embed-form").inner_html()).lower()
        assert page.context.cookies() == []


@pytest.mark.req("RA-13")
@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_word_in_a_field_makes_the_page_of_a_published_tool_no_wider(
    width: int, server: SharedToolServer, browser: Browser
) -> None:
    made = server.embed("image.paint")
    with visitor(browser) as page:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(server.served.url + made["url"])
        page.get_by_label("What to paint").fill("x" * 300)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#embed-result")).to_contain_text("xxx")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.req("RA-13")
@pytest.mark.parametrize("origins", [["https://www.example.com"], []])
def test_a_browser_does_not_show_it_on_a_page_of_an_origin_that_is_not_named(
    origins: list[str], server: SharedToolServer, site: tuple[str, dict[str, str]], browser: Browser
) -> None:
    made = server.embed(origins=origins)
    said: list[str] = []
    with visitor(browser) as page:
        page.on("console", lambda line: said.append(line.text))
        frame = framed(page, server, site, made["url"])
        page.wait_for_load_state("load")
        expect(frame.get_by_role("heading", name="Draw")).to_have_count(0)
        assert any("frame-ancestors" in one for one in said), said


@pytest.mark.req("RA-13")
def test_the_kill_switch_ends_a_page_that_is_open(
    server: SharedToolServer, site: tuple[str, dict[str, str]], browser: Browser
) -> None:
    made = server.embed(origins=[site[0]])
    with visitor(browser) as page:
        frame = framed(page, server, site, made["url"])
        frame.get_by_label("What to draw").fill("a cat")
        switched = server.owner.patch(f"/api/embeds/{made['id']}", json={"enabled": False})
        assert switched.status_code == 200
        frame.get_by_role("button", name="Run").click()
        expect(frame.get_by_role("heading", name="This is no longer here")).to_be_visible()
        page.reload()
        expect(
            page.frame_locator("iframe").get_by_role("heading", name="This is no longer here")
        ).to_be_visible()
    assert httpx.get(server.served.url + made["url"]).status_code == 404


@pytest.mark.req("RA-13")
def test_a_quota_that_is_used_up_is_told_in_words_and_nothing_typed_is_lost(
    server: SharedToolServer, site: tuple[str, dict[str, str]], browser: Browser
) -> None:
    made = server.embed(origins=[site[0]], runs_per_visitor=1)
    with visitor(browser) as page:
        frame = framed(page, server, site, made["url"])
        for text in ("a cat", "a dog"):
            frame.get_by_label("What to draw").fill(text)
            frame.get_by_role("button", name="Run").click()
            expect(frame.locator("#embed-result, [role=alert]").first).to_be_visible()
        expect(frame.get_by_role("alert")).to_contain_text("as often as one visitor can in a day")
        expect(frame.get_by_label("What to draw")).to_have_value("a dog")


@pytest.mark.req("UI-16", "RA-13")
def test_what_is_for_operators_is_ignored_by_the_server_and_no_cookie_is_set_or_read(
    server: SharedToolServer,
) -> None:
    made = server.embed("image.draw", "image.paint", origins=["https://a.example"])
    url = server.served.url + made["url"]
    first = httpx.get(url, headers={"cookie": "handrail_theme=dark; handrail_session=x"})
    assert "Draw" in first.text and "Paint" in first.text and 'data-theme="system"' in first.text
    assert first.headers["content-security-policy"].endswith("frame-ancestors https://a.example")
    form = httpx.get(f"{url}/image-draw").text
    name = next(part.split('"')[1] for part in form.split("name=")[1:] if "/text" in part[:20])
    posted = httpx.post(f"{url}/image-draw", data={name: "a cat", name.replace("text", "model"): "huge"})
    assert posted.status_code == 200 and "a cat" in posted.text
    assert "small" in posted.text and "huge" not in posted.text
    assert not [one for answer in (first, posted) for one in answer.headers.get_list("set-cookie")]
    assert httpx.get(f"{url}/team-rate").status_code == 404


@pytest.mark.req("RA-13")
@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_page_of_others_posts_nothing_into_an_embed_itself(origin: str, server: SharedToolServer) -> None:
    url = f"{server.served.url}{server.embed()['url']}/image-draw"
    refused = httpx.post(url, data={"x": "y"}, headers={"origin": origin, "sec-fetch-site": "cross-site"})
    assert refused.status_code == 403
    own = httpx.post(
        url, data={"x": "y"}, headers={"origin": server.served.url, "sec-fetch-site": "same-origin"}
    )
    assert own.status_code == 422


@pytest.mark.req("RA-13")
def test_a_person_publishes_changes_switches_off_and_ends_an_embed(
    server: SharedToolServer, browser: Browser
) -> None:
    ana = sign_in(window(browser, server.served.url), new_link(server.served))
    page = ana.goto("/settings/embeds")
    page.get_by_role("link", name="Publish tools").click()
    page.get_by_label("Name").fill("On our site")
    page.get_by_label("Tools, one a line").fill("no-such-tool")
    page.get_by_label("Sites that may show it, one a line").fill("https://www.example.com")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_label("Tools, one a line")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Sites that may show it, one a line")).to_have_value("https://www.example.com")
    page.get_by_label("Tools, one a line").fill("image-draw")
    page.get_by_role("button", name="Publish").click()
    code = page.get_by_label("HTML").input_value()
    assert code.startswith("<iframe src=") and "/embed/he_" in code
    url = code.split('"')[1]
    assert httpx.get(url).status_code == 200
    page.get_by_label("Runs a day of one visitor").fill("7")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. It holds from now on.")).to_be_visible()
    expect(page.get_by_label("Runs a day of one visitor")).to_have_value("7")
    page.get_by_role("button", name="Switch it off").click()
    expect(page.get_by_text("Switched off.")).to_be_visible()
    assert httpx.get(url).status_code == 404
    page.get_by_role("button", name="Switch it on").click()
    expect(page.get_by_text("Switched on again.")).to_be_visible()
    assert httpx.get(url).status_code == 200
    assert ana.axe() == []
    page.get_by_role("link", name="End it for good").click()
    page.get_by_role("button", name="End it for good").click()
    expect(page.get_by_text("Ended for good.")).to_be_visible()
    assert httpx.get(url).status_code == 404
    ana.clean()
    ana.context.close()


def test_no_log_holds_what_lets_people_in(server: SharedToolServer) -> None:
    token = server.embed()["token"]
    link = server.link(server.session())
    httpx.get(f"{server.served.url}/embed/{token}")
    httpx.get(f"{server.served.url}{link}")
    asked = httpx.get(f"{server.served.url}/healthz")
    assert asked.status_code == 200
    logged = "\n".join(server.served.logged)
    assert token not in logged and link.rpartition("/")[2] not in logged
