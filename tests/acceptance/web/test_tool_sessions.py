"""People fill in a tool together, in browsers of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.web.browser import Window, new_link, sign_in
from tests.acceptance.web.shared_tool_server import SharedToolServer, shared_tool_server

pytestmark = pytest.mark.long

Windows = Callable[..., Window]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedToolServer]:
    with shared_tool_server(tmp_path_factory.mktemp("team")) as found:
        yield found


def owner(server: SharedToolServer, windows: Windows, **options: object) -> Window:
    return sign_in(windows(server.served.url, **options), new_link(server.served))


def guest(server: SharedToolServer, windows: Windows, link: str, name: str, **options: object) -> Window:
    found = windows(server.served.url, **options)
    found.goto(link)
    found.page.get_by_label("Your name").fill(name)
    found.page.get_by_role("button", name="Join").click()
    expect(found.page.get_by_role("heading", name="Your answer")).to_be_visible()
    return found


def submit(page: Page, score: str) -> None:
    page.get_by_label("Score").fill(score)
    page.get_by_role("button", name="Submit").click()


@pytest.mark.req("CS-01", "CS-04", "RA-03")
def test_a_session_is_begun_from_the_tool_and_shared_by_a_link_that_can_be_taken_back(
    server: SharedToolServer, windows: Windows
) -> None:
    ana = owner(server, windows)
    page = ana.goto("/tools/team-rate")
    page.get_by_label("More about Rate an idea").click()
    page.get_by_role("link", name="Fill it in together").click()
    assert ana.axe() == []
    page.get_by_label("What is it about?").fill("Which idea first?")
    page.get_by_role("button", name="Begin a session").click()
    expect(page.get_by_role("heading", name="Which idea first?", level=1)).to_be_visible()
    session = page.url
    page.get_by_label("How long the link lives").select_option("3600")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("The link").input_value()
    expect(page.get_by_text("It ends in ")).to_be_visible()
    assert ana.axe() == []
    page.get_by_role("link", name="Back to the session").click()
    expect(page.get_by_text("Shared by link. The link ends in")).to_be_visible()
    bo = guest(server, windows, link.removeprefix(server.served.url), "Bo")
    assert bo.page.url == session and "hj_" not in bo.page.url
    bo.page.get_by_label("Remark").fill("half a thought")
    page.get_by_role("button", name="Take the link back").click()
    expect(page.get_by_text("Nobody without an account can come in.")).to_be_visible()
    expect(bo.page.get_by_text("the link by which you came has ended")).to_be_visible()
    expect(bo.page.get_by_label("Remark")).to_have_value("half a thought")
    bo.page.reload()
    expect(bo.page.get_by_role("heading", name="This session is not shared any more")).to_be_visible()
    bo.page.goto(link)
    expect(bo.page.get_by_role("heading", name="This link does not work any more")).to_be_visible()


@pytest.mark.req("CS-03", "CS-05", "CS-06", "RA-03")
def test_what_a_guest_submits_appears_to_everybody_with_what_it_comes_to(
    server: SharedToolServer, windows: Windows
) -> None:
    session = server.session()
    ana, bo = owner(server, windows), guest(server, windows, server.link(session), "Bo")
    ana.goto(session)
    expect(ana.page.get_by_text("Nobody has answered yet.")).to_be_visible()
    submit(bo.page, "4")
    expect(bo.page.get_by_text("Your answer is in.")).to_be_visible()
    expect(ana.page.locator(".shared-answers")).to_contain_text("Bo (guest), just now")
    submit(ana.page, "8")
    for one in (ana.page, bo.page):
        expect(one.get_by_text("2 people have answered")).to_be_visible()
        expect(one.locator("#together")).to_contain_text("6")
    expect(bo.page.get_by_role("row").filter(has_text="(you)")).to_contain_text("Bo")
    bo.page.get_by_label("Score").fill("10")
    bo.page.get_by_role("button", name="Change my answer").click()
    expect(ana.page.locator("#together")).to_contain_text("9")
    assert [one["input"]["score"] for one in server.submissions(session)] == [8, 10]
    ana.page.get_by_role("link", name="All of it of Bo").click()
    expect(ana.page.get_by_role("heading", level=1)).to_contain_text("Bo")
    assert ana.axe() == [] and bo.axe() == []


@pytest.mark.req("CS-06")
def test_a_wrong_answer_is_told_at_its_field_and_keeps_everything(
    server: SharedToolServer, windows: Windows
) -> None:
    bo = guest(server, windows, server.link(server.session()), "Bo")
    bo.page.get_by_label("Remark").fill("so so")
    submit(bo.page, "11")
    wrong = bo.page.get_by_label("Score")
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(wrong).to_have_value("11")
    expect(bo.page.get_by_label("Remark")).to_have_value("so so")


@pytest.mark.req("CS-06")
def test_a_session_that_closes_while_somebody_types_says_so_and_keeps_what_they_typed(
    server: SharedToolServer, windows: Windows
) -> None:
    session = server.session()
    ana, bo = owner(server, windows), guest(server, windows, server.link(session), "Bo")
    bo.page.get_by_label("Remark").fill("half a thought")
    ana.goto(session)
    ana.page.get_by_role("button", name="Close the session").click()
    expect(bo.page.get_by_text("This session is closed. Nothing more can be submitted.")).to_be_visible()
    expect(bo.page.get_by_label("Remark")).to_have_value("half a thought")
    submit(bo.page, "5")
    expect(bo.page.get_by_role("alert")).to_contain_text("closed")
    expect(bo.page.get_by_label("Remark")).to_have_value("half a thought")
    assert server.submissions(session) == []
    ana.page.get_by_role("button", name="Reopen it").click()
    expect(bo.page.locator("#shared-state")).to_contain_text("open")
    bo.page.get_by_role("button", name="Submit").click()
    expect(ana.page.get_by_text("1 person has answered")).to_be_visible()


@pytest.mark.req("CS-06", "RA-03")
def test_without_script_a_guest_joins_submits_and_sees_the_newest_by_looking_again(
    server: SharedToolServer, windows: Windows
) -> None:
    session = server.session()
    link = server.link(session)
    bo = guest(server, windows, link, "Bo", script=False)
    submit(bo.page, "many")
    expect(bo.page.get_by_label("Score")).to_have_attribute("aria-invalid", "true")
    submit(bo.page, "3")
    expect(bo.page.get_by_text("Your answer is in.")).to_be_visible()
    cy = guest(server, windows, link, "Cy", script=False)
    expect(cy.page.get_by_text("1 person has answered")).to_be_visible()
    submit(cy.page, "5")
    bo.page.reload()
    expect(bo.page.locator("#together")).to_contain_text("4")


@pytest.mark.req("CS-06")
def test_a_guest_sees_one_session_and_nothing_else(server: SharedToolServer, windows: Windows) -> None:
    first, second = server.session("First"), server.session("Second")
    server.link(second)
    bo = guest(server, windows, server.link(first), "Bo")
    for path in (second, f"{second}/part", "/tools", "/runs", f"{first}/close"):
        bo.goto(path)
        assert "Second" not in bo.page.content()
        expect(bo.page.get_by_text("Your answer")).to_have_count(0)
    bo.goto(first)
    expect(bo.page.get_by_role("button", name="Close the session")).to_have_count(0)
    [cookie] = [one for one in bo.context.cookies() if one["name"] == "handrail_guest"]
    assert cookie["httpOnly"] and cookie["path"] == first and cookie["sameSite"] == "Lax"


@pytest.mark.req("RA-03")
def test_what_was_submitted_can_be_taken_along(server: SharedToolServer, windows: Windows) -> None:
    session = server.session()
    bo = guest(server, windows, server.link(session), "=Bo")
    submit(bo.page, "4")
    with bo.page.expect_download() as waited:
        bo.page.get_by_role("link", name="CSV").click()
    text = waited.value.path().read_text()
    assert (
        text.splitlines()[0] == "participant,submitted_at,input.score,input.remark,output.score,output.remark"
    )
    assert text.splitlines()[1].startswith("'=Bo,")
    with bo.page.expect_download() as waited:
        bo.page.get_by_role("link", name="JSON").first.click()
    assert '"mean":4.0' in waited.value.path().read_text()


@pytest.mark.req("CS-05")
def test_markup_that_people_type_stays_text_for_everybody(server: SharedToolServer, windows: Windows) -> None:
    mark = "<img src=x onerror=alert(1)>"
    session = server.session(f"{mark} first?")
    link = server.link(session)
    ana, bo = owner(server, windows), windows(server.served.url)
    ana.goto(session)
    bo.goto(link)
    assert bo.axe() == []
    bo.page.get_by_label("Your name").fill(f"{mark} Bo")
    bo.page.get_by_role("button", name="Join").click()
    bo.page.get_by_label("Remark").fill(mark)
    submit(bo.page, "4")
    for one in (ana.page, bo.page):
        expect(one.get_by_role("heading", name=f"{mark} first?")).to_be_visible()
        expect(one.locator(".shared-answers")).to_contain_text(f"{mark} Bo (guest)")
        assert one.locator("main img").count() == 0
