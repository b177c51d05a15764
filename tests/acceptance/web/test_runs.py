"""/runs: what ran, filtered, paged, live, and no more of it than one may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.web.browser import Window
from tests.acceptance.web.story_tools import Office, office

Windows = Callable[..., Window]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with office(tmp_path_factory.mktemp("runs")) as found:
        yield found


def rows(page: Page) -> list[str]:
    found: list[str] = page.locator(".run-table tbody tr").evaluate_all("all => all.map((one) => one.id)")
    return found


def test_the_list_says_what_to_do_first_and_a_run_appears_by_itself(here: Office, windows: Windows) -> None:
    mine = here.enter(windows(here.served.url))
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


def test_filters_follow_what_is_typed_and_work_without_script(here: Office, windows: Windows) -> None:
    here.call("work.odd", text="one")
    here.call("work.broken")
    here.call("work.odd", here.agent, text="two")
    mine = here.enter(windows(here.served.url))
    page = mine.goto("/runs")
    page.get_by_label("State").select_option("failed")
    expect(page).to_have_url(f"{here.served.url}/runs?tool=&who=&status=failed&source=&since=&until=")
    expect(page.locator(".run-table tbody tr")).to_have_count(1)
    expect(page.locator(".run-table tbody tr")).to_contain_text("work.broken")
    page.get_by_label("State").select_option("")
    page.get_by_label("Who").fill("agent ops")
    expect(page.locator(".run-table tbody")).not_to_contain_text("work.broken")
    expect(page.locator(".run-who").first).to_have_text("agent “ops” for you")
    page.get_by_label("Tool").fill("nothing.like.it")
    expect(page.get_by_role("heading", name="No runs like that")).to_be_visible()
    page.go_back()
    expect(page.locator(".run-table")).to_be_visible()
    bare = here.enter(windows(here.served.url, script=False))
    page = bare.goto("/runs")
    page.get_by_label("Tool").fill("work.broken")
    page.get_by_label("From").fill("2000-01-01")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".run-table tbody tr")).to_have_count(1)
    page.get_by_label("To").fill("2000-01-02")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("heading", name="No runs like that")).to_be_visible()
    expect(page.get_by_label("Tool")).to_have_value("work.broken")


def test_a_long_list_is_read_page_by_page_and_none_is_missed_or_shown_twice(
    here: Office, windows: Windows
) -> None:
    made = [here.call("work.odd", text=str(at))["run_id"] for at in range(120)]
    mine = here.enter(windows(here.served.url))
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


def test_a_place_in_the_list_that_is_none_begins_anew(here: Office, windows: Windows) -> None:
    here.call("work.odd", text="x")
    mine = here.enter(windows(here.served.url))
    page = mine.goto("/runs?after=nonsense&status=odd&since=yesterday")
    expect(page.locator(".run-table tbody tr").first).to_be_visible()
    expect(page.get_by_text("Write a day as 2026-05-31.")).to_be_visible()


def test_whoever_may_not_read_runs_sees_their_own_and_of_others_nothing(
    here: Office, windows: Windows
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
