"""Coming in by a link or a password, going out, and going to another tenant, in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from playwright.sync_api import expect

from tests.acceptance.server_process import ServerProcess, running_server
from tests.acceptance.web.browser import Window, sign_in
from tests.acceptance.web.people import PASSWORD, add_person, link_of

pytestmark = pytest.mark.long

Windows = Callable[..., Window]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for all; each test has people of its own."""
    with running_server(tmp_path_factory.mktemp("home"), "--demo", "--owner", "ana@acme.example") as served:
        yield served


def by_password(mine: Window, email: str, password: str = PASSWORD) -> None:
    page = mine.page
    page.get_by_label("Address").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()


@pytest.mark.parametrize("script", [False, True])
def test_a_link_waits_for_a_press_and_lets_in_once(
    home: ServerProcess, windows: Windows, script: bool
) -> None:
    link = link_of(home, "ana@acme.example")
    assert httpx.get(link).status_code == 200  # a program looks at it: it is not used up
    mine = sign_in(windows(home.url, script=script), link)
    expect(mine.page.get_by_role("heading", level=1)).to_have_text("Home")
    cookie = next(one for one in mine.context.cookies() if one["name"] == "handrail_session")
    assert cookie["httpOnly"] and cookie["sameSite"] == "Lax" and not cookie["secure"]
    other = windows(home.url, script=script)
    other.page.goto(link)
    other.page.get_by_role("button", name="Sign in").click()
    expect(other.page.get_by_role("alert")).to_contain_text("used already, or is over")
    mine.page.locator("summary", has_text="Account").click()
    mine.page.get_by_role("button", name="Sign out", exact=True).click()
    expect(mine.page.get_by_role("heading", name="Sign in")).to_be_visible()
    mine.goto("/settings/profile")
    expect(mine.page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.req("UI-17")
@pytest.mark.parametrize("script", [False, True])
def test_a_password_is_set_on_a_page_and_lets_in_to_where_one_was_going(
    home: ServerProcess, windows: Windows, script: bool
) -> None:
    email = f"set{script}@acme.example"
    add_person(home.folder, email, "admin")
    mine = sign_in(windows(home.url, script=script), link_of(home, email))
    page = mine.goto("/settings/profile")
    page.get_by_label("New password").fill("short")
    page.get_by_label("The same once more").fill("short")
    page.get_by_role("button", name="Set password").click()
    wrong = page.get_by_label("New password")
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#field-new-error")).to_have_text(
        "A password has at least 12 characters. Three or four words will do."
    )
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("The same once more").fill(PASSWORD)
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("status").filter(has_text="password was changed")).to_be_visible()

    other = windows(home.url, script=script)
    page = other.goto("/settings/keys")
    by_password(other, email, "not this one at all")
    expect(page.get_by_label("Address")).to_have_value(email)
    expect(page.get_by_label("Password")).to_have_value("")
    expect(page.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
    described = page.get_by_label("Password").get_attribute("aria-describedby")
    expect(page.locator(f"#{described}")).to_have_text("The address or the password is not right.")
    if script:
        assert other.axe() == []
    by_password(other, email.upper())
    expect(page.get_by_role("heading", level=1)).to_have_text("Keys")


def test_whoever_guesses_waits_and_is_told_for_how_long(home: ServerProcess, windows: Windows) -> None:
    add_person(home.folder, "bo@acme.example", "viewer", password=PASSWORD)
    mine = windows(home.url, script=False)
    mine.goto("/sign-in")
    for n in range(5):
        by_password(mine, "bo@acme.example", f"guess number {n}")
        expect(mine.page.locator("#field-password-error")).to_be_visible()
    by_password(mine, "bo@acme.example")
    expect(mine.page.get_by_role("alert")).to_contain_text("Try again in 15 minutes")
    expect(mine.page.get_by_label("Address")).to_have_value("bo@acme.example")
    sign_in(mine, link_of(home, "bo@acme.example"))
    expect(mine.page.get_by_role("heading", level=1)).to_have_text("Home")


AWAY = ("//evil.example", "/\\evil.example", "https:evil.example", "%2F%2Fevil.example", "/%09/evil.example")


def test_no_address_sends_a_browser_elsewhere_after_signing_in(home: ServerProcess, windows: Windows) -> None:
    add_person(home.folder, "gus@acme.example", "viewer", password=PASSWORD)
    for goal in AWAY:
        mine = windows(home.url, script=False)
        mine.goto(f"/sign-in?next={goal}")
        by_password(mine, "gus@acme.example")
        mine.page.wait_for_url(f"{home.url}/")
        with home.http() as http:
            posted = {"email": "gus@acme.example", "password": PASSWORD, "next": goal}
            where = http.post("/sign-in", data=posted).headers["location"]
            assert where == "/" or (where.startswith("/%") and "//" not in where)


def test_everywhere_means_every_browser(home: ServerProcess, windows: Windows) -> None:
    here, there = [sign_in(windows(home.url), link_of(home, "ana@acme.example")) for _ in range(2)]
    here.goto("/settings/profile")
    here.page.get_by_role("button", name="Sign out everywhere").click()
    expect(here.page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(there.goto("/").get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.req("MT-01")
def test_a_person_of_two_tenants_goes_from_one_to_the_other_without_script(
    home: ServerProcess, windows: Windows
) -> None:
    add_person(home.folder, "two@acme.example", "owner", password=PASSWORD)
    add_person(home.folder, "two@acme.example", "viewer", tenant="harbour")
    mine = windows(home.url, script=False)
    mine.goto("/sign-in")
    by_password(mine, "two@acme.example")
    page = mine.page
    expect(page.locator("nav").get_by_role("link", name="Settings")).to_be_visible()
    page.locator("summary", has_text="Account").click()
    page.get_by_role("link", name="Switch tenant").click()
    page.get_by_role("button", name="Harbour").click()
    expect(page.locator("main")).to_contain_text("failed at Harbour")
    mine.goto("/settings")
    expect(page.get_by_role("navigation", name="Settings").get_by_role("link")).to_have_text(["Profile"])
    assert mine.goto("/settings/keys").get_by_role("heading", level=1).inner_text() == "Not found"
