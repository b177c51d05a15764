"""Shapes: lists, unions, recursion, conditions, and what a schema does not know."""

from __future__ import annotations

from typing import Any

import pytest

from handrail.core.define.call import FieldError
from handrail.core.define.ui_specs import FormGroup, FormSpec
from handrail.doors.web.forms.form import compile_form
from tests.unit.doors.web.forms.browser import Page, changed
from tests.unit.doors.web.forms.fill_form import control_name, rendered_page, sent_form, single_field_form

ROWS = {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}}


@pytest.mark.req("UI-02")
def test_a_row_is_added_without_a_script() -> None:
    form = single_field_form(ROWS)
    read = sent_form(form, {"it": [{"price": 1}]}, press="add:/it")
    assert read.done == "add" and not read.ok
    assert read.value == {"it": [{"price": 1}, {}]}
    assert rendered_page(form, read.value).control("#/it/1/price").attrs["value"] == ""


@pytest.mark.req("UI-02")
def test_a_row_keeps_its_name_when_another_goes_so_that_nothing_typed_moves() -> None:
    form = single_field_form(ROWS)
    value = {"it": [{"price": 1}, {"price": 2}, {"price": 3}]}
    read = sent_form(form, value, press="remove:/it/0")
    assert read.done == "remove" and read.value == {"it": [{"price": 2}, {"price": 3}]}
    page = rendered_page(form, read.value)
    assert page.control("#/it/1/price").attrs["value"] == "2"
    again = form.read([*page.sends(), ("_do", "add:/it")])
    assert rendered_page(form, again.value).control("#/it/3/price").attrs["value"] == ""


@pytest.mark.req("UI-02")
@pytest.mark.parametrize(("press", "after"), [("up:/it/2", [1, 3, 2]), ("down:/it/0", [2, 1, 3])])
def test_rows_are_moved(press: str, after: list[int]) -> None:
    form = single_field_form({"type": "array", "items": {"type": "integer"}})
    read = sent_form(form, {"it": [1, 2, 3]}, press=press)
    assert read.value == {"it": after} and read.done == press.partition(":")[0]


@pytest.mark.req("UI-02")
def test_what_is_typed_elsewhere_survives_a_button() -> None:
    form = control_name({"n": {"type": "number"}, "it": ROWS})
    pairs = changed(rendered_page(form, {"it": []}).sends(), "#/n", "68k")
    read = form.read([*pairs, ("_do", "add:/it")])
    assert read.value == {"n": "68k", "it": [{}]}
    assert rendered_page(form, read.value).control("#/n").attrs["value"] == "68k"


def test_a_button_that_nothing_answers_to_still_only_draws_again() -> None:
    read = single_field_form(ROWS).read([("_do", "add:/nowhere")])
    assert read.done == "add" and read.value == {}


@pytest.mark.req("UI-02")
def test_a_new_number_row_must_be_filled_in() -> None:
    form = single_field_form({"type": "array", "items": {"type": "number"}})
    added = sent_form(form, {"it": []}, press="add:/it")
    read = form.read(rendered_page(form, added.value).sends())
    assert [(error.path, error.reason) for error in read.errors] == [("it.0", "is required")]


def test_a_full_list_takes_no_more() -> None:
    form = single_field_form({"type": "array", "items": {"type": "string"}, "maxItems": 1})
    assert "add:/it" in rendered_page(form, {"it": []}).buttons()
    assert "add:/it" not in rendered_page(form, {"it": ["x"]}).buttons()


UNION = {
    "oneOf": [
        {
            "title": "Card",
            "type": "object",
            "properties": {"kind": {"const": "card"}, "number": {"type": "string"}},
        },
        {
            "title": "Cash",
            "type": "object",
            "properties": {"kind": {"const": "cash"}, "number": {"type": "string"}},
        },
        {"title": "Code", "type": "string"},
    ]
}


@pytest.mark.req("UI-06")
@pytest.mark.parametrize(
    ("value", "at"), [({"kind": "card"}, "0"), ({"kind": "cash", "number": "1"}, "1"), ("x", "2"), (5, "0")]
)
def test_a_union_shows_the_shape_that_its_value_has(value: Any, at: str) -> None:
    form = single_field_form(UNION)
    assert ("!/it", at) in rendered_page(form, {"it": value}).sends()
    assert sent_form(form, {"it": value}).value == {"it": value}


@pytest.mark.req("UI-06")
def test_choosing_another_shape_draws_it_and_takes_along_what_both_have() -> None:
    form = single_field_form(UNION, required=True)
    read = sent_form(form, {"it": {"kind": "card", "number": "7"}}, press="choose:/it", it="1")
    assert read.done == "choose" and read.value == {"it": {"kind": "cash", "number": "7"}}
    read = sent_form(form, {"it": {"kind": "card"}}, press="choose:/it", it="2")
    assert rendered_page(form, read.value).control("#/it/~u").attrs["type"] == "text"


@pytest.mark.req("UI-06")
def test_a_shape_chosen_without_its_fields_in_view_is_not_run() -> None:
    """Without a script somebody may choose and send at once: the fields were never there."""
    assert sent_form(single_field_form(UNION), {"it": "x"}, it="0").done == "choose"


TREE: dict[str, Any] = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "left": {"$ref": "#/$defs/node"},
                "all": {"allOf": [{"$ref": "#/$defs/node"}]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
        }
    },
    "$ref": "#/$defs/node",
}


@pytest.mark.req("UI-06")
def test_a_schema_that_holds_itself_is_drawn_as_deep_as_somebody_asks() -> None:
    form = compile_form(TREE)
    assert {"add:/left", "add:/all", "add:/children"} <= set(rendered_page(form).buttons())
    read = form.read(rendered_page(form).sends(press="add:/left"))
    assert read.value == {"left": {}}
    assert rendered_page(form, read.value).control("#/left/name").tag == "input"
    deep = {"left": {"children": [{"left": {"name": "x"}}]}}
    assert form.read(rendered_page(form, deep).sends()).value == deep
    assert form.read(rendered_page(form, deep).sends(press="remove:/left")).value == {}


def test_a_small_schema_cannot_ask_for_an_endless_form() -> None:
    names = [f"p{at}" for at in range(8)]
    defs: dict[str, Any] = {
        f"d{level}": {
            "type": "object",
            "required": names,
            "properties": {name: {"$ref": f"#/$defs/d{level + 1}"} for name in names},
        }
        for level in range(12)
    }
    form = compile_form({"$ref": "#/$defs/d0", "$defs": {**defs, "d12": {"type": "string"}}})
    page = rendered_page(form)
    assert len(page.controls) < 5_000
    assert form.read([("#/p0/p0", "1"), ("?/p0/p0", "json")]).value == {"p0": {"p0": 1}}


@pytest.mark.req("UI-06")
def test_a_tuple_has_a_field_for_each_place_and_rows_for_the_rest() -> None:
    form = single_field_form(
        {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": {"type": "boolean"},
        }
    )
    assert sent_form(form, {"it": ["a", 1, True]}).value == {"it": ["a", 1, True]}
    assert sent_form(form, {"it": ["a"]}).value == {"it": ["a"]}
    read = form.read(changed(changed(rendered_page(form, {"it": []}).sends(), "#/it/0", ""), "#/it/1", "5"))
    assert [error.path for error in read.errors] == ["it.0"]


@pytest.mark.req("UI-06")
def test_what_the_schema_does_not_know_is_shown_and_kept() -> None:
    form = compile_form(
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False}
    )
    value = {"a": "x", "personalData": {"age": 34}, "=odd\n": None}
    assert form.read(rendered_page(form, value).sends()).value == value
    assert not [one for one in rendered_page(form, value).buttons() if one.startswith("add")]


@pytest.mark.req("UI-06")
def test_further_values_are_added_renamed_and_removed() -> None:
    form = compile_form({"type": "object", "additionalProperties": {"type": "integer"}})
    added = form.read(rendered_page(form).sends(press="add:/~k"))
    assert added.value == {"name": ""}
    pairs = changed(changed(rendered_page(form, added.value).sends(), "&/~k0", "age"), "#/~k0", "5")
    assert form.read(pairs).value == {"age": 5}
    assert form.read(rendered_page(form, {"age": 5}).sends(press="remove:/~k0")).value == {}


def test_a_name_that_is_taken_loses_no_value() -> None:
    form = compile_form({"type": "object", "additionalProperties": {"type": "integer"}})
    pairs = changed(rendered_page(form, {"a": 1, "b": 2}).sends(), "&/~k1", "a")
    read = form.read(pairs)
    assert read.value == {"a": 1, "a 2": 2} and "there is one already" in read.errors[0].reason


@pytest.mark.req("UI-02")
@pytest.mark.parametrize(
    ("when", "value", "shown"),
    [
        ({"field": "kind", "is": "other"}, {"kind": "other"}, True),
        ({"field": "kind", "is": "other"}, {"kind": "usual"}, False),
        ({"field": "kind", "is": "other"}, {}, False),
        ({"field": "kind", "is_not": "other"}, {}, True),
        ({"field": "kind", "in": ["a", "b"]}, {"kind": "b"}, True),
        ({"field": "kind", "given": True}, {"kind": ""}, False),
        ({"field": "/kind", "is": "x"}, {"kind": "x"}, True),
        ([{"field": "kind", "is": "x"}, {"field": "on", "is": True}], {"kind": "x", "on": True}, True),
        ([{"field": "kind", "is": "x"}, {"field": "on", "is": True}], {"kind": "x", "on": False}, False),
    ],
)
def test_a_field_is_shown_when_it_is_of_use(when: Any, value: dict[str, Any], shown: bool) -> None:
    properties = {"kind": {"type": "string"}, "on": {"type": "boolean"}, "it": {"type": "string"}}
    page = rendered_page(control_name(properties, {"it": {"visible_when": when}}), value)
    wrapper = next(attrs for _, attrs in page.tags if "form-when" in (attrs.get("class") or ""))
    assert ("hidden" not in wrapper) is shown
    assert '"name": "#/kind"' in (wrapper["data-when"] or "")


@pytest.mark.req("UI-02")
def test_a_hidden_field_keeps_a_value_that_it_had_and_shows_itself_when_something_is_wrong() -> None:
    form = control_name(
        {"kind": {"type": "string"}, "it": {"type": "string"}},
        {"it": {"visible_when": {"field": "kind", "is": "other"}}},
    )
    assert form.read(rendered_page(form, {"it": "x"}).sends()).value == {"it": "x"}
    page = rendered_page(form, {}, errors=[FieldError("it", "is required")])
    wrapper = next(attrs for _, attrs in page.tags if "form-when" in (attrs.get("class") or ""))
    assert "hidden" not in wrapper
    assert "refresh:" in page.buttons()


@pytest.mark.req("UI-02")
def test_conditions_of_the_schema_show_their_fields() -> None:
    form = compile_form(
        {
            "type": "object",
            "properties": {"animal": {"enum": ["Cat", "Fish"]}},
            "if": {"properties": {"animal": {"const": "Fish"}}, "required": ["animal"]},
            "then": {"properties": {"water": {"enum": ["lake", "sea"]}}},
        }
    )

    def hidden(value: Any) -> bool:
        tags = rendered_page(form, value).tags
        return "hidden" in next(attrs for _, attrs in tags if "form-when" in (attrs.get("class") or ""))

    assert hidden({"animal": "Cat"}) and not hidden({"animal": "Fish"})
    assert form.read(rendered_page(form, {"animal": "Cat", "water": "sea"}).sends()).value == {
        "animal": "Cat",
        "water": "sea",
    }


@pytest.mark.req("UI-01")
def test_fields_stand_in_the_order_and_the_groups_of_the_spec() -> None:
    properties = {name: {"type": "string"} for name in "abcd"}
    spec = FormSpec(
        {"d": {"group": "Last"}}, order=("c",), groups=(FormGroup("Money", ("b", "a"), "What it costs."),)
    )
    page = Page(str(compile_form({"type": "object", "properties": properties}, spec).render()))
    assert [control.name for control in page.controls if control.name] == ["#/c", "#/b", "#/a", "#/d"]
    assert page.text == "C Money What it costs. B A Last D"
