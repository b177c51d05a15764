"""Inputs with their values, hints and errors, as a browser and a screen reader find them."""

from __future__ import annotations

from starlette.datastructures import FormData, UploadFile

from handrail.doors.web import controls as c


def test_an_input_points_at_its_hint_and_at_its_error() -> None:
    form = c.Controls({"name": "<k>"}, {"name": "Too short."})
    text = str(form.field("name", "Name", hint="Any words."))
    assert 'value="&lt;k&gt;"' in text and 'aria-invalid="true"' in text
    assert 'aria-describedby="field-name-hint field-name-error"' in text
    assert 'id="field-name-hint"' in text and '<p class="wrong" id="field-name-error">Too short.</p>' in text


def test_an_input_without_hint_and_error_points_at_nothing() -> None:
    text = str(c.Controls().field("name", "Name"))
    assert "aria-" not in text and "data-invalid" not in text and 'value=""' in text


def test_what_a_password_field_held_is_never_sent_back() -> None:
    text = str(c.Controls({"new": "hush"}, {"new": "Too short."}).field("new", "New", kind="password"))
    assert "hush" not in text and "value" not in text and "Too short." in text


def test_a_group_points_at_its_error_but_is_not_invalid_itself() -> None:
    form = c.Controls({"roles": ["viewer"]}, {"roles": "Choose at least one."})
    text = str(form.checkboxes("roles", "Roles", [("viewer", "Viewer"), ("owner", "Owner")]))
    assert 'aria-describedby="field-roles-error"' in text and "aria-invalid" not in text
    assert 'value="viewer" checked' in text and 'value="owner" checked' not in text


def test_one_option_of_a_list_is_selected() -> None:
    text = str(c.Controls({"days": "30"}).select("days", "Ends", [("30", "In 30 days"), ("", "Never")]))
    assert '<option value="30" selected>' in text and '<option value="">' in text


def test_a_file_in_the_place_of_a_text_is_no_text() -> None:
    form = FormData([("name", UploadFile(None, filename="x")), ("roles", "viewer")])  # type: ignore[arg-type]
    assert c.posted_text(form, "name") == "" and c.posted_texts(form, "name") == []
    assert c.posted_texts(form, "roles") == ["viewer"]


def test_a_part_of_a_page_asks_again_when_its_topics_are_told_and_when_the_stream_begins() -> None:
    assert c.refresh_on_news("/home/part", "mine", "approvals") == {
        "hx-get": "/home/part",
        "hx-trigger": "mine from:body, approvals from:body, hello from:body",
        "hx-swap": "outerMorph",
    }


def test_a_table_with_a_label_can_be_scrolled_with_the_keyboard() -> None:
    labelled = str(c.table("Keys", ["Name", "Runs"], [], head_classes={1: "num"}))
    assert 'tabindex="0" role="region" aria-label="Keys"' in labelled
    assert '<th scope="col">Name</th><th scope="col" class="num">Runs</th>' in labelled
    assert "tabindex" not in str(c.table(None, ["Name"], []))
