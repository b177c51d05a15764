"""/runs: what ran, filtered, paged, live, and no more of it than one may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.acceptance.web.browser import Window, window
from tests.acceptance.web.timeline_server import TimelineServer, timeline_server

pytestmark = pytest.mark.long

Windows = Callable[..., Window]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TimelineServer]:
    with timeline_server(tmp_path_factory.mktemp("runs")) as found:
        yield found


@pytest.fixture(scope="module")
def mine(here: TimelineServer, browser: Browser) -> Iterator[Window]:
    """The owner's browser; it stays signed in."""
    opened = here.enter(window(browser, here.served.url))
    yield opened
    opened.clean()
    opened.context.close()


def same_person(mine: Window, opened: Window) -> Window:
    """Another browser of somebody who is signed in."""
    for one in mine.context.cookies():
        opened.context.add_cookies([{"name": one["name"], "value": one["value"], "url": mine.url}])
    return opened


def rows(page: Page) -> list[str]:
    found: list[str] = page.locator(".run-table tbody tr").evaluate_all("all => all.map((one) => one.id)")
    return found


def test_the_list_says_what_to_do_first_and_a_run_appears_by_itself(
    here: TimelineServer, mine: Window
) -> None:
    page = mine.goto("/runs")
    expect(page.get_by_role("heading", name="Nothing has run yet")).to_be_visible()
    expect(page.get_by_role("link", name="Choose a tool")).to_have_attribute("href", "/tools")
    assert mine.axe() == []
    run = here.call("work.odd", text="hello")
    expect(page.get_by_role("row").filter(has_text="work.odd")).to_contain_text("you")
    first = rows(page)
    other = here.call("work.odd", here.agent, text="again")
    expect(page.get_by_role("link", name="1 new run")).to_be_visible()
    assert rows(page) == first == [f"run-{run['run_id']}"]
    page.get_by_role("link", name="1 new run").click()
    expect(page.get_by_role("row").filter(has_text="agent “ops” for you")).to_contain_text("REST")
    assert rows(page) == [f"run-{other['run_id']}", f"run-{run['run_id']}"]
    assert mine.axe() == []
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert mine.axe() == []
    page.set_viewport_size({"width": 1280, "height": 900})


def test_filters_follow_what_is_typed_and_work_without_script(
    here: TimelineServer, mine: Window, windows: Windows
) -> None:
    here.call("work.odd", text="one")
    here.call("work.broken")
    here.call("work.odd", here.agent, text="two")
    page = mine.goto("/runs")
    page.get_by_label("State").select_option("failed")
    expect(page).to_have_url(f"{here.served.url}/runs?tool=&who=&status=failed&source=&since=&until=")
    expect(page.locator(".run-table tbody tr")).to_have_count(1)
    expect(page.locator(".run-table tbody tr")).to_contain_text("work.broken")
    page.get_by_label("State").select_option("")
    page.get_by_label("Who").fill("agent ops")
    expect(page.locator(".run-table tbody")).not_to_contain_text("work.broken")
    expect(page.locator(".run-who").first).to_have_text("agent “ops” for you")
    page.get_by_label("Tool", exact=True).fill("nothing.like.it")
    expect(page.get_by_role("heading", name="No runs like that")).to_be_visible()
    page.go_back()
    expect(page.locator(".run-table")).to_be_visible()
    bare = same_person(mine, windows(here.served.url, script=False))
    page = bare.goto("/runs")
    page.get_by_label("Tool", exact=True).fill("work.broken")
    page.get_by_label("From").fill("2000-01-01")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".run-table tbody tr")).to_have_count(1)
    page.get_by_label("To", exact=True).fill("2000-01-02")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("heading", name="No runs like that")).to_be_visible()
    expect(page.get_by_label("Tool", exact=True)).to_have_value("work.broken")


def test_a_long_list_is_read_page_by_page_and_none_is_missed_or_shown_twice(
    here: TimelineServer, mine: Window
) -> None:
    made = [here.call("work.odd", text=str(at))["run_id"] for at in range(120)]
    page = mine.goto("/runs?tool=work.odd")
    found = rows(page)
    while page.get_by_role("link", name="Older").count():
        here.call("work.broken")  # what comes meanwhile moves nothing
        page.get_by_role("link", name="Older").click()
        expect(page.locator(f"[id='{found[-1]}']")).to_have_count(0)
        found += rows(page)
    assert len(found) == len(set(found)) and len(rows(page)) <= 50
    assert [one for one in found if one.removeprefix("run-") in made] == [f"run-{one}" for one in made[::-1]]
    page.get_by_role("link", name="Newest").click()
    expect(page.locator(f"[id='run-{made[-1]}']")).to_be_visible()


def test_a_place_in_the_list_that_is_none_begins_anew(here: TimelineServer, mine: Window) -> None:
    here.call("work.odd", text="x")
    page = mine.goto("/runs?after=nonsense&status=odd&since=yesterday")
    expect(page.locator(".run-table tbody tr").first).to_be_visible()
    expect(page.get_by_text("Write a day as 2026-05-31.")).to_be_visible()


def test_whoever_may_not_read_runs_sees_their_own_and_of_others_nothing(
    here: TimelineServer, windows: Windows
) -> None:
    theirs = here.call("work.odd", text="not for Cy")
    refused = here.call("work.change", id="only-this")
    here.person("cy@example.com", "Cy", "tools.tenant.read")
    here.person("vi@example.com", "Vi", "runs.read")
    cy = here.enter(windows(here.served.url), "cy@example.com")
    page = cy.goto("/runs")
    expect(page.get_by_text("Yours, and those of agents that act for you")).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing has run yet")).to_be_visible()
    for path in (theirs["run_id"], theirs["call_id"], refused["id"]):
        for more in (
            "",
            "/part",
            "/story",
            "/result",
            "/result.json",
            "/input",
            "/why",
            "/events/1",
            "/files/0",
        ):
            answer = page.request.get(f"{here.served.url}/runs/{path}{more}")
            assert answer.status == 404, (path, more)
            assert "not for Cy" not in answer.text()
        assert (
            page.request.post(
                f"{here.served.url}/runs/{path}/cancel", headers={"origin": here.served.url}
            ).status
            == 404
        )
    vi = here.enter(windows(here.served.url), "vi@example.com")
    page = vi.goto(f"/runs/{theirs['run_id']}")
    expect(page.get_by_text("can be seen by whoever made the call")).to_be_visible()
    assert "not for Cy" not in page.content()
    assert page.request.get(f"{here.served.url}/runs/{theirs['run_id']}/result.json").status == 404
    assert page.request.get(f"{here.served.url}/runs/{refused['id']}").status == 404
    assert vi.axe() == []


@pytest.mark.req("BY-07")
def test_a_call_that_was_asked_for_tells_its_story_while_others_decide(
    here: TimelineServer, mine: Window
) -> None:
    asked = here.call("work.change", here.agent, id="rec-1", status="archived")
    page = mine.goto(f"/runs/{asked['call_id']}")
    expect(page.locator("#run-now")).to_contain_text("needs approval")
    expect(said(page)).to_have_text(
        [
            "Agent “ops” for you called work.change through REST",
            "A person was asked to approve: it changes real data",
        ]
    )
    page.locator(".story-exact summary").first.click()
    expect(page.locator(".story-exact pre").first).to_contain_text('"type": "tool.needs_approval"')
    assert mine.axe() == []
    edited = {"id": "rec-1", "status": "inactive"}
    answer = here.owner.post(f"/api/approvals/{asked['approval']['id']}/approve", json={"arguments": edited})
    assert answer.status_code == 200, answer.text
    expect(page.locator("#run-now .mark").first).to_have_text("done")
    expect(said(page)).to_have_count(6)
    told = said(page).all_text_contents()
    assert told[2:4] == [
        'You changed status from "archived" to "inactive" and approved',
        "work.change started",
    ]
    assert told[4].startswith("Ran in ") and told[5] == "1 record changed"
    expect(page.locator(".story-changes")).to_contain_text("inactive")
    expect(page.locator(".story-exact pre").first).to_be_visible()  # what one had opened stays open
    page.locator("summary", has_text="Why was a person asked?").click()
    expect(page.locator(".run-decided")).to_contain_text(
        "Level wants a person to agree: it changes real data"
    )
    expect(page.locator(".run-why")).to_contain_text("You approved it")
    assert mine.axe() == []
    page.reload()
    assert said(page).all_text_contents() == told


def said(page: Page) -> Locator:
    return page.locator(".story-said")


@pytest.mark.req("ST-02")
def test_a_run_shows_what_it_does_and_can_be_cancelled(
    here: TimelineServer, mine: Window, tmp_path: Path
) -> None:
    call = here.begin("work.slow", gate=str(tmp_path / "gate"))
    page = mine.goto(f"/runs/{call}")
    expect(page.locator(".run-current")).to_have_text("Reading page 1 of 2")
    expect(said(page)).to_have_text(["You called work.slow through REST", "Wrote 11 characters of output"])
    assert mine.axe() == []
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#run-now .mark")).to_have_text("cancelled")
    expect(said(page).last).to_contain_text("You cancelled it after")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    call = here.begin("work.slow", gate=str(tmp_path / "other"))
    page = mine.goto(f"/runs/{call}")
    expect(page.locator(".run-current")).to_be_visible()
    (tmp_path / "other").touch()
    expect(page.locator("#run-now .mark")).to_have_text("done")
    expect(said(page).last).to_contain_text("Ran in")
    expect(page.locator("#run-result")).to_contain_text("Done")


def test_files_are_downloads_and_stay_what_they_are(here: TimelineServer, mine: Window) -> None:
    run = here.call("work.report", name='../<img src=x onerror=alert(1)>"\u202e.html')
    page = mine.goto(f"/runs/{run['run_id']}")
    expect(page.locator(".story-files")).to_contain_text('../<img src=x onerror=alert(1)>"\\u202e.html')
    assert mine.axe() == []
    answer = page.request.get(f"{here.served.url}/runs/{run['run_id']}/files/0")
    assert answer.body() == b"<script>alert(1)</script>"
    headers = answer.headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["x-content-type-options"] == "nosniff" and "sandbox" in headers["content-security-policy"]
    assert headers["content-disposition"].startswith('attachment; filename="_')
    assert "/" not in headers["content-disposition"].partition("filename=")[2].replace("UTF-8''", "")
    assert page.request.get(f"{here.served.url}/runs/{run['run_id']}/files/2").status == 404
    with page.expect_download() as taken:
        page.get_by_role("link", name="b.csv").last.click()
    assert Path(taken.value.path()).read_bytes() == b"a,b"
    told = page.request.get(f"{here.served.url}/runs/{run['run_id']}/result.json").json()
    assert told["data"] == {"rows": [{"a": 1}]}


def test_calls_within_calls_lead_to_each_other_and_failures_to_what_is_kept(
    here: TimelineServer, mine: Window
) -> None:
    page = mine.goto(f"/runs/{here.call('work.outer')['run_id']}")
    page.locator(".run-calls").get_by_role("link", name="work.odd").click()
    expect(page.get_by_role("heading", name="Odd")).to_be_visible()
    page.get_by_role("link", name="the call that made it").click()
    expect(page.get_by_role("heading", name="Outer")).to_be_visible()
    page = mine.goto(f"/runs/{here.call('work.broken')['run_id']}")
    expect(said(page).last).to_contain_text("the printer is on fire")
    expect(page.locator(".run-facts")).to_contain_text("It can be made again.")
    refused = here.call("work.change", id=5)
    page = mine.goto(f"/runs/{refused['id']}")
    expect(page.locator("#run-now .mark")).to_have_text("not allowed")
    expect(said(page).last).to_contain_text("status is required")
    page.locator("summary", has_text="Why was this not allowed?").click()
    expect(page.locator(".run-trace")).to_contain_text("Arguments refuses it")
    assert mine.axe() == []


def test_strange_text_is_shown_and_long_output_is_not_loaded_at_once(
    here: TimelineServer, mine: Window
) -> None:
    odd = "<b>bold</b> \u202eevil\x07 " + "x" * 100_000
    page = mine.goto(f"/runs/{here.call('work.odd', text=odd)['run_id']}")
    expect(said(page).last).to_contain_text("<b>bold</b> \\u202eevil\\x07")
    expect(said(page).last).to_contain_text("100\u202f019 characters in all")
    expect(page.get_by_role("link", name="Show the result")).to_be_visible()
    assert len(page.content()) < 200_000
    page.get_by_role("link", name="Show the result").click()
    expect(page.locator("#run-result .view-result")).to_be_visible()
    page = mine.goto(f"/runs/{here.call('work.chatty')['run_id']}")
    assert "line 199\n" in page.content() and "line 200\n" not in page.content()
    page.get_by_role("link", name="There is more output").click()
    expect(page.locator("main pre")).to_contain_text("line 399")
    page.get_by_role("link", name="More output").click()
    expect(page.locator("main pre")).to_contain_text("line 449")


def test_a_run_can_be_read_without_script(here: TimelineServer, mine: Window, windows: Windows) -> None:
    run = here.call("work.odd", text="plain")
    page = same_person(mine, windows(here.served.url, script=False)).goto(f"/runs/{run['run_id']}")
    expect(said(page)).to_have_count(3)
    page.get_by_text("What it was given").first.click()
    page.get_by_role("link", name="What it was given").click()
    expect(page.locator("main pre")).to_contain_text('"text": "plain"')
    page.go_back()
    page.locator(".story-exact summary").first.click()
    page.get_by_role("link", name="Read the exact event").first.click()
    expect(page.locator("main pre")).to_contain_text('"type": "tool.started"')
    page.goto(f"{here.served.url}/runs/{run['run_id']}")
    page.get_by_role("link", name="Run again").click()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("plain")


@pytest.mark.fault("F16")
def test_a_session_is_one_story_told_from_its_end_and_misses_nothing(
    here: TimelineServer, mine: Window
) -> None:
    def call(text: str) -> None:
        body = {"arguments": {"text": text}, "session": "desk/1"}
        assert here.owner.post("/api/tools/work-odd/call", json=body).status_code == 200

    for at in range(70):
        call(f"word {at}")
    page = mine.goto("/sessions")
    page.get_by_role("link", name="desk/1").click()
    expect(page.get_by_role("heading", name="desk/1")).to_be_visible()
    expect(said(page).last).to_have_text("word 69")
    assert (
        page.locator("[data-seq]").evaluate_all("all => new Set(all.map((one) => one.dataset.seq)).size")
        == 100
    )
    assert mine.axe() == []
    page.get_by_role("link", name="Earlier").click()
    expect(said(page).first).to_have_text("You called work.odd through REST")
    expect(page.get_by_role("link", name="Earlier")).to_have_count(0)
    call("word 70")
    expect(said(page).last).to_have_text("word 70")
    mine.context.set_offline(True)
    for at in range(71, 75):
        call(f"word {at}")
    mine.context.set_offline(False)
    call("word 75")
    expect(said(page).last).to_have_text("word 75")
    words = [one for one in said(page).all_text_contents() if one.startswith("word")]
    assert words == [f"word {at}" for at in range(76)]
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 1280, "height": 900})
