"""Who fills in a form, and what they may see of it: operators, secrets, files, pickers, errors."""

from __future__ import annotations

import asyncio
import pkgutil
from importlib import import_module
from typing import Any

import pytest

from handrail import ext, tool
from handrail.core.define.call import FieldError
from handrail.core.define.redaction import MASK
from handrail.core.present.forms import Option
from handrail.doors.web.forms.field_components import bootstrap_field_registry
from handrail.doors.web.forms.fields import MISSING
from handrail.doors.web.forms.form import compile_form, form_of
from handrail.doors.web.forms.options import PickerOptions, load_options
from handrail.doors.web.forms.post import Upload
from handrail.ext.forms import FormSpec, forget_form_spec, register_form_spec
from tests.unit.doors.web.forms.browser import Page, changed
from tests.unit.doors.web.forms.fill_form import control_name, rendered_page, sent_form, single_field_form

HOSTILE = "\"><script>alert(1)</script><b a='"


@pytest.mark.req("UI-01")
def test_a_registered_form_wins_over_the_tools_own() -> None:
    @tool("forms.rate", level="read", form={"rate": {"label": "Own"}})
    def rate(rate: int) -> int:
        """Give the rate."""
        return rate

    assert "Own" in rendered_page(form_of(rate)).text
    register_form_spec("tool:forms-rate", FormSpec({"rate": {"label": "Registered"}}))
    try:
        assert "Registered" in rendered_page(form_of(rate)).text
    finally:
        forget_form_spec("tool:forms-rate")
    assert "Own" in rendered_page(form_of(rate)).text
    with pytest.raises(ValueError, match="tool:<slug>"):
        register_form_spec("forms-rate", FormSpec())


@pytest.mark.req("UI-01")
def test_a_form_is_compiled_once_for_a_tool_and_a_mode() -> None:
    @tool("forms.once", level="read")
    def once(rate: int) -> int:
        """Give the rate."""
        return rate

    assert form_of(once) is form_of(once)
    assert form_of(once) is not form_of(once, "embed")


@pytest.mark.req("UI-01")
def test_a_word_that_is_no_hint_is_refused() -> None:
    with pytest.raises(ValueError, match="widgit is no hint"):
        FormSpec({"rate": {"widgit": "slider"}})


PROMPT: dict[str, Any] = {
    "prompt": {"type": "string"},
    "model": {"type": "string", "default": "small", "x-operator-only": True},
    "look": {"type": "object", "properties": {"ratio": {"type": "string"}, "scene": {"type": "string"}}},
}
HINTS = {"look.ratio": {"operator_only": True}}


@pytest.mark.req("UI-10", "UI-09")
def test_operators_fields_are_folded_away_under_additional_options() -> None:
    page = rendered_page(control_name(PROMPT, HINTS))
    folded = [attrs for tag, attrs in page.tags if tag == "details"]
    assert len(folded) == 2 and all("open" not in attrs for attrs in folded)
    assert page.text.count("Additional options") == 2
    assert {"#/model", "#/look/ratio"} <= {control.name for control in page.controls}


@pytest.mark.req("UI-10")
def test_the_fold_has_the_title_and_the_class_of_the_spec() -> None:
    spec = FormSpec({"model": {"operator_only": True}}, additional_title="For us", additional_class="mine")
    drawn = str(compile_form({"type": "object", "properties": {"model": {"type": "string"}}}, spec).render())
    assert '<details class="form-details form-additional mine"><summary>For us</summary>' in drawn


@pytest.mark.req("UI-10")
def test_the_fold_is_open_when_something_in_it_is_wrong() -> None:
    page = rendered_page(control_name(PROMPT), {}, errors=[FieldError("model", "is required")])
    assert "open" in next(attrs for tag, attrs in page.tags if tag == "details")


@pytest.mark.req("UI-16", "UI-10", "UI-09")
def test_an_embed_has_no_operators_fields_and_takes_none_however_they_are_sent() -> None:
    inside = control_name(PROMPT, HINTS)
    embed = control_name(PROMPT, HINTS, mode="embed")
    value = {"prompt": "x", "model": "large", "look": {"ratio": "16:9", "scene": "s"}}
    drawn = str(embed.render(value))
    assert "model" not in drawn and "large" not in drawn and "16:9" not in drawn
    wanted = {"prompt": "x", "look": {"scene": "s"}}
    sent_inside = Page(str(inside.render(value))).sends()
    assert embed.read(sent_inside).value == wanted
    further = [("#/prompt", "x"), ("?/look", "here"), ("#/look/scene", "s")]
    rows = [("+", "0"), ("&/~k0", "model"), ("#/~k0", '"large"'), ("?/~k0", "json")]
    assert embed.read([*further, *rows]).value == wanted
    whole = '{"prompt": "x", "model": "large", "look": {"ratio": "16:9", "scene": "s"}}'
    assert embed.read([("#", whole), ("?", "json")]).value == wanted
    assert inside.read([("#", whole), ("?", "json")]).value == value


SECRET = {"type": "string", "format": "password", "title": "Key"}


def test_a_secret_is_never_in_the_page() -> None:
    form = single_field_form(SECRET)
    drawn = str(form.render({"it": "hunter2"}))
    assert "hunter2" not in drawn and 'type="password"' in drawn and "Type it again" in drawn
    assert sent_form(form, it="hunter2").value == {"it": "hunter2"}


def test_a_secret_left_alone_is_kept_and_one_taken_away_is_gone() -> None:
    form = single_field_form(SECRET)
    left = sent_form(form, {"it": MASK})
    assert left.value == {"it": MASK} and left.kept == ("it",)
    pairs = [*rendered_page(form, {"it": MASK}).sends(), ("@/it", "remove")]
    assert form.read(pairs).value == {}
    assert sent_form(form, {"it": MASK}, it="new").value == {"it": "new"}


def test_a_secret_by_the_path_of_the_tool_or_by_hint_is_one_too() -> None:
    schema = {"type": "object", "properties": {"it": {"type": "string"}}}
    assert 'type="password"' in str(compile_form(schema, secrets=frozenset({"it"})).render())
    assert 'type="password"' in str(single_field_form({"type": "string"}, secret=True).render())


FILE = {"type": "string", "format": "file", "title": "Paper"}


@pytest.mark.req("UI-02", "UI-11")
def test_a_file_becomes_a_data_url_with_its_name_and_stays_through_another_drawing() -> None:
    form = single_field_form(FILE)
    read = form.read([("#/it", Upload("a b.txt", "text/plain", b"hello"))])
    assert read.value == {"it": "data:text/plain;name=a%20b.txt;base64,aGVsbG8="}
    page = rendered_page(form, read.value)
    assert "a b.txt (text/plain, 6 bytes)" in page.text
    assert form.read(page.sends()).value == read.value
    assert form.read(page.sends(press="remove:/it/0")).value == {}
    assert (
        form.read([*page.sends(), ("#/it", Upload("b", "", b"1"))])
        .value["it"]
        .startswith("data:application/octet")
    )
    assert form.read([("#/it", Upload("", "", b"")), *page.sends()]).value == read.value


@pytest.mark.req("UI-02")
def test_several_files_are_added_to_those_there_are() -> None:
    form = single_field_form({"type": "array", "items": {"type": "string", "format": "data-url"}})
    page = rendered_page(form, {"it": ["data:,a"]})
    assert "multiple" in page.control("#/it").attrs
    both = [("#/it", Upload("b", "text/plain", b"b")), ("#/it", Upload("c", "text/plain", b"c"))]
    read = form.read([*page.sends(), *both])
    assert [one[-4:] for one in read.value["it"]] == ["a:,a"[-4:], "Yg==", "Yw=="]
    assert form.read(page.sends(press="remove:/it/0")).value == {"it": []}


@pytest.mark.req("UI-11")
def test_a_compact_drop_zone_has_no_box_for_an_address_and_one_can_hide_only_that() -> None:
    def has(form: Any) -> tuple[bool, bool]:
        page = rendered_page(form)
        return any(one.name == "@/it" for one in page.controls), "form-compact" in str(page.tags)

    assert has(single_field_form(FILE)) == (True, False)
    assert has(single_field_form(FILE, compact=True)) == (False, True)
    assert has(single_field_form(FILE, hide_manual_url=True)) == (False, False)
    assert sent_form(single_field_form(FILE)).value == {}
    form = single_field_form(FILE)
    assert form.read(changed(rendered_page(form).sends(), "@/it", "https://example.com/a.png")).value == {
        "it": "https://example.com/a.png"
    }


class Shop:
    """Some customers."""

    async def search(self, type: str, text: str, limit: int) -> list[Option]:
        found = [Option("c-1", "Acme"), Option("c-2", "Bolt")]
        return (
            [one for one in found if text.lower() in one.label.lower()][:limit] if type == "customer" else []
        )


@pytest.mark.req("UI-08", "UI-06")
def test_an_entity_is_picked_from_what_a_store_has() -> None:
    form = single_field_form({"type": "string", "x-entity-type": "customer", "title": "Customer"})
    assert form.types == ("customer",)
    options = asyncio.run(load_options(form.types, Shop(), "/options"))
    page = Page(str(form.render({"it": "c-2"}, options=options)))
    box = page.control("#/it").attrs
    assert box["data-search"] == "/options" and box["data-type"] == "customer"
    assert box["list"] in page.ids and "Bolt" in page.text
    assert [attrs["value"] for tag, attrs in page.tags if tag == "option"] == ["c-1", "c-2"]
    assert form.read(page.sends()).value == {"it": "c-2"}


@pytest.mark.req("UI-08")
def test_several_entities_are_picked_one_after_the_other() -> None:
    form = single_field_form(
        {
            "type": "array",
            "items": {"type": "string"},
            "x-entity-type": "customer",
            "x-entity-select": "multiple",
        }
    )
    options = PickerOptions({"customer": [Option("c-1", "Acme")]})
    page = Page(str(form.render({"it": ["c-1", "c-9"]}, options=options)))
    assert "Acme" in page.text and "c-9" in page.text
    assert form.read(changed(page.sends(press="add:/it"), "#/it", "c-3")).value == {
        "it": ["c-1", "c-9", "c-3"]
    }
    assert form.read(page.sends(press="remove:/it/0")).value == {"it": ["c-9"]}
    assert form.read(page.sends()).value == {"it": ["c-1", "c-9"]}


def test_options_of_a_named_source_are_searched_the_same_way() -> None:
    form = single_field_form({"type": "string"}, options="regions")
    assert form.types == ("regions",)
    assert rendered_page(form).control("#/it").attrs["data-type"] == "regions"


@pytest.mark.req("UI-15", "UI-17")
def test_an_error_stands_at_its_field_and_is_bound_to_it() -> None:
    form = control_name({"cost": {"type": "number", "title": "Initial cost", "description": "In EUR"}})
    errors = [FieldError("cost", "is required", missing=True)]
    page = rendered_page(form, {}, errors=errors, id="run")
    box = page.control("#/cost").attrs
    assert box["aria-invalid"] == "true"
    assert (box["aria-describedby"] or "").split() == ["run/cost:help", "run/cost:error"]
    assert {"run/cost:help", "run/cost:error"} <= set(page.ids)
    assert "Initial cost is required." in page.text


@pytest.mark.req("UI-17")
def test_an_error_in_a_row_stands_in_that_row_and_one_of_nobody_stands_on_top() -> None:
    form = control_name(
        {"it": {"type": "array", "items": {"type": "object", "properties": {"price": {"type": "number"}}}}}
    )
    removed = sent_form(form, {"it": [{}, {"price": "x"}]}, press="remove:/it/0").value
    errors = [
        FieldError("it.0.price", "must be a number"),
        FieldError("ghost", "is not known here; leave it out"),
    ]
    page = rendered_page(form, removed, errors=errors)
    assert page.control("#/it/1/price").attrs["aria-invalid"] == "true"
    assert "ghost is not known here; leave it out." in page.text
    links = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert links == ["#f/it/1/price"] and "f/it/1/price" in page.ids


@pytest.mark.req("UI-17")
def test_whatever_comes_into_a_form_stays_text() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "title": HOSTILE,
        "properties": {
            HOSTILE: {"type": "string", "title": HOSTILE, "description": HOSTILE, "default": HOSTILE},
            "e": {"enum": [HOSTILE, "a"]},
            "l": {"type": "array", "items": {"type": "string", "title": HOSTILE}},
            "u": {"oneOf": [{"title": HOSTILE, "type": "string"}, {"type": "integer"}]},
            "f": {"type": "string", "format": "file"},
            "p": {"type": "string", "x-entity-type": HOSTILE},
        },
    }
    options = PickerOptions({HOSTILE: [Option(HOSTILE, HOSTILE)]}, HOSTILE)
    value = {
        HOSTILE: HOSTILE,
        "e": HOSTILE + "x",
        "l": [HOSTILE],
        "u": HOSTILE,
        "f": HOSTILE,
        "p": HOSTILE,
        "z": HOSTILE,
    }
    form = compile_form(schema)
    for shown in (MISSING, value):
        drawn = str(
            form.render(shown, [FieldError("l.0", HOSTILE), FieldError(HOSTILE, HOSTILE)], options=options)
        )
        assert "<script" not in drawn and "style=" not in drawn and " on" not in drawn.replace(" one", "")
    assert form.read(Page(str(form.render(value))).sends()).value == value


@pytest.mark.req("UI-15")
def test_the_first_button_that_enter_presses_changes_nothing() -> None:
    page = rendered_page(single_field_form({"type": "array", "items": {"type": "string"}}))
    first = next(control for control in page.controls if control.tag == "button")
    assert not first.name


@pytest.mark.req("UI-04")
def test_a_form_spec_is_the_only_way_to_ask_otherwise() -> None:
    modules = [import_module(f"handrail.ext.{part.name}") for part in pkgutil.iter_modules(ext.__path__)]
    names = {name for module in modules for name in vars(module)}
    assert {name for name in names if "register" in name and "form" in name} == {"register_form_spec"}
    assert not {"register_tool_ui", "OutputDisplay"} & names
    assert {slot for slot, _ in bootstrap_field_registry()} == {"field-input", "field-display"}


@pytest.mark.req("UI-15", "UI-09")
def test_defaults_fill_a_form_only_when_it_is_first_shown() -> None:
    form = control_name({"n": {"type": "integer", "default": 3}})
    assert form.read(rendered_page(form).sends()).value == {"n": 3}
    assert form.read(rendered_page(form, {}).sends()).value == {}
    assert form.mode == "internal"
