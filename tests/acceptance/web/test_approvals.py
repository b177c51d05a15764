"""The approval inbox in real browsers: decide by mouse, by keys, on a phone, without script, two at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.acceptance.web.approval_server import BEA, ApprovalServer, approval_server
from tests.acceptance.web.browser import Window
from tests.harness.poll import poll_until

Windows = Callable[..., Window]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApprovalServer]:
    with approval_server(tmp_path_factory.mktemp("desk")) as made:
        yield made


@pytest.fixture
def enter(place: ApprovalServer, windows: Windows) -> Callable[..., Window]:
    def open_as(email: str = "owner", **options: object) -> Window:
        return place.enter(windows(place.served.url, **options), email)

    return open_as


def card(page: Page, approval: str) -> Any:
    return page.locator(f"#ask-{approval}")


def record(place: ApprovalServer, id: str, **more: Any) -> str:
    return place.ask("data.updateRecord", {"id": id, "status": "archived", **more})


@pytest.mark.req("BY-02", "BY-06")
def test_a_question_appears_by_itself_is_approved_with_the_mouse_and_leads_to_its_run(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    mine = enter()
    page = mine.goto("/approvals")
    expect(page.get_by_role("heading", name="Approvals")).to_be_visible()
    asked = record(place, "rec-mouse")
    expect(card(page, asked)).to_contain_text('agent "ops", for you, wants to run Update a record')
    expect(page.locator(".side .badge-count")).not_to_be_empty()
    assert mine.axe() == []
    card(page, asked).get_by_role("button", name="Approve", exact=True).click()
    expect(card(page, asked)).to_contain_text("You approved.")
    expect(card(page, asked).get_by_role("link", name="What came of it")).to_be_visible()
    assert place.outcome(asked)["status"] == "completed" and len(place.ran("rec-mouse")) == 1
    expect(card(page, asked)).to_contain_text("You approved.")
    assert mine.axe() == []


@pytest.mark.req("BY-02")
@pytest.mark.parametrize(
    ("error", "said"),
    [("No such box. Look at the list.", "It failed: No such box."), ("", "It ran: Sent 1 letter")],
)
@pytest.mark.parametrize("alone", [True, False])
def test_whoever_approved_is_told_by_itself_what_came_of_it(
    place: ApprovalServer, enter: Callable[..., Window], error: str, said: str, alone: bool
) -> None:
    gate = place.served.folder / f"gate-{bool(error)}-{alone}"
    asked = place.ask("mail.send", {"gate": str(gate), "error": error})
    mine = enter()
    page = mine.goto(f"/approvals/{asked}" if alone else "/approvals")
    card(page, asked).get_by_role("button", name="Approve", exact=True).click()
    expect(card(page, asked)).to_contain_text("You approved.")
    expect(card(page, asked)).not_to_contain_text(said)
    gate.touch()
    expect(card(page, asked)).to_contain_text(said)
    assert mine.axe() == []


@pytest.mark.fault("F29")
@pytest.mark.req("BY-02")
def test_what_hides_is_to_be_seen_and_what_is_long_can_be_opened(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    tail = "and delete everything"
    asked = record(place, "rec-\u202e1", remark="p\u0430y \u200b " + "x" * 5_000 + tail)
    mine = enter()
    page = mine.goto(f"/approvals/{asked}")
    shown = card(page, asked).locator(".ask-values code.ask-exact")
    assert shown.nth(0).text_content() == '"rec-\\u202e1"'
    expect(card(page, asked)).to_contain_text("5\u202f027 characters, open to read all of it")
    expect(card(page, asked).locator("code.ask-start")).to_contain_text(tail)
    card(page, asked).locator(".ask-long > summary").click()
    whole = json.loads(str(shown.nth(2).text_content()))
    assert whole == "p\u0430y \u200b " + "x" * 5_000 + tail
    expect(card(page, asked).locator("mark", has_text="\\u200b").first).to_have_attribute(
        "title", "U+200B zero width space"
    )
    with page.expect_response(lambda told: told.url.endswith(f"/approvals/{asked}/card")) as redrawn:
        place.ask("posts.publish", {"title": "rec-news"})
    redrawn.value.finished()
    expect(card(page, asked).locator(".ask-long[open]")).to_have_count(1)
    box = shown.nth(2).evaluate("one => getComputedStyle(one).unicodeBidi")
    assert box == "bidi-override"
    assert mine.axe() == []
    place.owner.post(f"/api/approvals/{asked}/reject", json={})


@pytest.mark.req("BY-02", "UI-05")
def test_edit_with_the_tools_own_form_look_at_the_change_then_approve(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    asked = record(place, "rec-edit", remark="as it was", token="s3cret")
    mine = enter()
    page = mine.goto(f"/approvals/{asked}")
    page.keyboard.press("e")
    expect(page.get_by_role("heading", name="Edit, then approve")).to_be_visible()
    assert mine.axe() == []
    page.get_by_label("Status").select_option("inactive")
    page.get_by_role("button", name="See what changes").click()
    look = page.locator(".ask-look")
    expect(look.locator(".ask-changes > div")).to_have_count(1)
    expect(look.locator(".ask-changes")).to_contain_text('"archived"')
    expect(look.locator(".ask-changes")).to_contain_text('"inactive"')
    assert mine.axe() == []
    page.get_by_role("button", name="Change more").click()
    expect(page.get_by_label("Status")).to_have_value("inactive")
    page.get_by_label("Record").fill("rec-edited")
    page.get_by_role("button", name="See what changes").click()
    expect(look.locator(".ask-changes > div")).to_have_count(2)
    page.get_by_role("button", name="Approve with these changes").click()
    expect(card(page, asked)).to_contain_text("You changed it and approved.")
    assert place.outcome(asked)["status"] == "completed"
    assert place.ran("rec-edited") == [
        {"id": "rec-edited", "status": "inactive", "remark": "as it was", "token": "s3cret"}
    ]
    assert mine.axe() == []


@pytest.mark.req("BY-02")
def test_keys_move_between_cards_and_act_on_the_one_in_focus(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    first, second = record(place, "rec-k1"), record(place, "rec-k2")
    grave = place.ask("data.purge", {"before": "rec-k3"})
    page = enter().goto("/approvals")
    expect(card(page, grave)).to_be_visible()
    ids = page.locator(".ask").evaluate_all("all => all.map((one) => one.dataset.ask)")
    page.keyboard.press("a")
    assert place.ran("rec-k1") == [], "no card is in focus yet, and there are several"
    for _ in range(ids.index(first) + 1):
        page.keyboard.press("j")
    expect(card(page, first)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(card(page, first)).to_be_focused()
    page.keyboard.press("r")
    page.keyboard.type("era: a jar of reasons")
    expect(card(page, first).get_by_label("Why not, for whoever asked")).to_have_value(
        "era: a jar of reasons"
    )
    expect(card(page, second).locator(".ask-fold[open]")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(card(page, first)).to_be_focused()
    page.keyboard.press("a")
    expect(card(page, first)).to_contain_text("You approved.")
    card(page, grave).focus()
    page.keyboard.press("a")
    expect(card(page, grave)).to_contain_text("This cannot be taken back.")
    assert place.ran("rec-k3") == [] and place.asked(grave)["status"] == "pending"
    page.keyboard.press("a")
    expect(card(page, grave)).to_contain_text("You approved.")
    assert place.outcome(grave)["status"] == "completed" and len(place.ran("rec-k3")) == 1
    card(page, second).focus()
    page.keyboard.press("r")
    page.keyboard.type("not now")
    card(page, second).get_by_role("button", name="Reject", exact=True).click()
    expect(card(page, second)).to_contain_text("You rejected it. It did not run.")
    assert "not now" in place.outcome(second)["result"]["error"]


@pytest.mark.req("BY-02")
def test_an_answer_in_its_place_is_told_to_whoever_asked(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    asked = record(place, "rec-answer")
    mine = enter()
    page = mine.goto(f"/approvals/{asked}")
    page.get_by_text("Answer instead").click()
    page.get_by_label("Or as data").fill("[1, 2")
    page.get_by_role("button", name="Send this answer").click()
    expect(card(page, asked).locator(".ask-wrong")).to_contain_text("This is not JSON")
    expect(page.get_by_label("Or as data")).to_have_value("[1, 2")
    assert mine.axe() == []
    page.get_by_label("Or as data").fill('{"id": "rec-answer", "status": "kept"}')
    page.get_by_role("button", name="Send this answer").click()
    expect(card(page, asked)).to_contain_text("You answered in its place. It did not run.")
    expect(card(page, asked)).not_to_contain_text("This is not JSON")
    assert place.outcome(asked)["result"]["data"]["status"] == "kept" and place.ran("rec-answer") == []


@pytest.mark.req("BY-03")
def test_what_somebody_else_decides_appears_and_nothing_typed_is_lost(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    asked, edited = record(place, "rec-two"), record(place, "rec-two-edit")
    mine, theirs = enter(), enter(BEA)
    page, other = mine.goto("/approvals"), theirs.goto(f"/approvals/{asked}")
    card(page, asked).get_by_text("Reject", exact=True).first.click()
    card(page, asked).get_by_label("Why not, for whoever asked").fill("half a reason")
    editing = mine.context.new_page()
    editing.goto(f"{place.served.url}/approvals/{edited}/edit")
    editing.get_by_label("Record").fill("half a record")
    card(other, asked).get_by_role("button", name="Approve", exact=True).click()
    expect(card(other, asked)).to_contain_text("You approved.")
    expect(card(page, asked)).to_contain_text("Bea approved.")
    expect(card(page, asked).get_by_label("Why not, for whoever asked")).to_have_value("half a reason")
    card(page, asked).get_by_role("button", name="Reject", exact=True).click()
    expect(card(page, asked)).to_contain_text("Your answer came too late and was not counted.")
    expect(card(page, asked)).to_contain_text("half a reason")
    assert mine.axe() == []
    other.goto(f"{place.served.url}/approvals/{edited}")
    other.get_by_text("Reject", exact=True).first.click()
    card(other, edited).get_by_role("button", name="Reject", exact=True).click()
    expect(editing.locator("#ask-standing")).to_contain_text("Bea rejected it. It did not run.")
    expect(editing.get_by_label("Record")).to_have_value("half a record")
    editing.get_by_role("button", name="See what changes").click()
    expect(editing.locator("#ask-standing")).to_contain_text("What you typed is still here")
    expect(editing.get_by_label("Record")).to_have_value("half a record")
    assert place.ran("rec-two-edit") == [] and len(place.ran("rec-two")) == 1


@pytest.mark.req("BY-03")
def test_two_who_approve_at_once_run_it_once_and_one_is_told(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    asked = record(place, "rec-race")
    pages = [enter().goto(f"/approvals/{asked}"), enter(BEA).goto(f"/approvals/{asked}")]
    # Both have sent their answer before either is answered: each post is held until the other is there too.
    held: list[Any] = []
    for page in pages:
        page.route(f"**/approvals/{asked}/approve", lambda route: held.append(route))
    for page in pages:
        card(page, asked).get_by_role("button", name="Approve", exact=True).click()
    poll_until(lambda: [page.evaluate("1") for page in pages] and len(held) == 2)
    with ThreadPoolExecutor(2) as pool, place.served.http() as http:
        sent = [(route.request.post_data, dict(route.request.all_headers())) for route in held]
        posts = [
            pool.submit(http.post, f"/approvals/{asked}/approve", content=body, headers=headers)
            for body, headers in sent
        ]
        answers = [one.result(30) for one in posts]
    for route, answer in zip(held, answers, strict=True):
        route.fulfill(status=answer.status_code, content_type="text/html", body=answer.content)
    assert sorted(one.status_code for one in answers) == [200, 409]
    won = next(page for page, one in zip(pages, answers, strict=True) if one.status_code == 200)
    lost = next(page for page in pages if page is not won)
    expect(card(won, asked)).to_contain_text("You approved.")
    expect(card(lost, asked)).to_contain_text("Your answer came too late and was not counted.")
    card(lost, asked).evaluate("card => card.dataset.drawn = 'before'")
    lost.evaluate("document.body.dispatchEvent(new Event('approvals'))")
    expect(card(lost, asked)).not_to_have_attribute("data-drawn", "before")
    expect(card(lost, asked)).to_contain_text("Your answer came too late and was not counted.")
    assert place.outcome(asked)["status"] == "completed" and len(place.ran("rec-race")) == 1


@pytest.mark.req("BY-05")
def test_two_must_agree_and_each_sees_how_many_have(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    asked = place.ask("money.pay", {"to": "rec-quorum", "amount": "900"})
    page, other = enter().goto(f"/approvals/{asked}"), enter(BEA).goto(f"/approvals/{asked}")
    expect(card(page, asked)).to_contain_text('took "900" as 900 in amount')
    card(page, asked).get_by_role("button", name="Approve", exact=True).click()
    expect(card(page, asked)).to_contain_text("You have approved it. 1 more must.")
    expect(card(other, asked)).to_contain_text("1 of 2 approved: owner@")
    card(other, asked).get_by_role("button", name="Approve", exact=True).click()
    expect(card(page, asked)).to_contain_text("and Bea approved.")
    assert place.outcome(asked)["status"] == "completed" and len(place.ran("rec-quorum")) == 1


@pytest.mark.req("BY-05")
def test_four_eyes_show_no_yes_to_whoever_is_behind_it(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    asked = place.ask("posts.publish", {"title": "rec-eyes"})
    mine = enter()
    page = mine.goto(f"/approvals/{asked}")
    expect(card(page, asked)).to_contain_text("somebody else must approve what you asked for")
    expect(card(page, asked).get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    page.keyboard.press("a")
    assert mine.axe() == [] and place.asked(asked)["status"] == "pending"
    other = enter(BEA).goto(f"/approvals/{asked}")
    card(other, asked).get_by_role("button", name="Approve", exact=True).click()
    expect(card(page, asked)).to_contain_text("Bea approved.")


@pytest.mark.req("BY-02")
def test_without_script_everything_can_be_decided(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    first, second = record(place, "rec-plain"), record(place, "rec-plain-edit")
    grave = place.ask("data.purge", {"before": "rec-plain-grave"})
    page = enter(script=False).goto("/approvals")
    card(page, first).get_by_role("button", name="Approve", exact=True).click()
    expect(card(page, first)).to_contain_text("You approved.")
    page.go_back()
    page.reload()
    card(page, second).get_by_role("link", name="Edit and approve").click()
    page.get_by_label("Status").select_option("inactive")
    page.get_by_role("button", name="See what changes").click()
    page.get_by_role("button", name="Approve with these changes").click()
    expect(card(page, second)).to_contain_text("You changed it and approved.")
    page.goto(f"{place.served.url}/approvals/{grave}")
    card(page, grave).get_by_text("Reject", exact=True).first.click()
    card(page, grave).get_by_label("Why not, for whoever asked").fill("no")
    card(page, grave).get_by_role("button", name="Reject", exact=True).click()
    expect(card(page, grave)).to_contain_text("You rejected it.")
    for one in (first, second):
        assert place.outcome(one)["status"] == "completed"
    assert [one["status"] for one in place.ran("rec-plain")] == ["archived"]
    assert [one["status"] for one in place.ran("rec-plain-edit")] == ["inactive"]


@pytest.mark.req("BY-02")
def test_on_a_phone_one_card_is_decided_with_the_thumb(
    place: ApprovalServer, enter: Callable[..., Window]
) -> None:
    asked = record(place, "rec-phone-" + "long" * 20, remark="https://acme.example/" + "path/" * 30)
    mine = enter(width=360)
    page = mine.goto(f"/approvals/{asked}")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360, f"it scrolls sideways: {wide}"
    button = card(page, asked).get_by_role("button", name="Approve", exact=True)
    box = button.bounding_box()
    assert box is not None and box["height"] >= 40 and box["width"] >= 200
    assert mine.axe() == []
    button.click()
    expect(card(page, asked)).to_contain_text("You approved.")


@pytest.mark.req("BY-02")
@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_word_in_a_field_makes_no_form_of_a_question_wider(
    place: ApprovalServer, enter: Callable[..., Window], width: int
) -> None:
    asked = record(place, f"rec-wide-{width}", remark="x" * 300)
    page = enter(width=width).goto(f"/approvals/{asked}")
    card(page, asked).get_by_text("Reject", exact=True).first.click()
    card(page, asked).get_by_label("Why not, for whoever asked").fill("y" * 300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{place.served.url}/approvals/{asked}/edit")
    expect(page.get_by_label("Note")).to_have_value("x" * 300)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Edit as JSON").click()
    expect(page.get_by_role("button", name="Edit in the form")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
