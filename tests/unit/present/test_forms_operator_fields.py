"""Fields for operators: wherever they are marked, no visitor's value for them is left."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from handrail import tool
from handrail.core.define.ui_specs import FormSpec
from handrail.core.present.forms import (
    forget_form_spec,
    operator_paths,
    register_form_spec,
    unfilled_operator_fields,
    without_operator_fields,
)


class Scene(BaseModel):
    kind: str = "plain"
    seed: Annotated[int, Field(json_schema_extra={"x-operator-only": True})] = 1


@tool(
    "image.draw",
    level="read",
    form=FormSpec({"model": {"operator_only": True}, "tags.*.weight": {"operator_only": True}}),
)
async def draw(
    text: str,
    model: str = "small",
    scene: Scene | None = None,
    scenes: list[Scene] | None = None,
    tags: list[Any] | None = None,
) -> str:
    """Draw something."""
    return text


@tool("image.trace", level="read")
async def trace(model: Annotated[str, Field(json_schema_extra={"x-operator-only": True})]) -> str:
    """Trace something."""
    return model


@pytest.mark.req("UI-16")
def test_hints_and_marks_of_a_schema_say_the_same() -> None:
    assert operator_paths(draw) == ("model", "scene.seed", "scenes.*.seed", "tags.*.weight")
    assert unfilled_operator_fields(draw) == [] and unfilled_operator_fields(trace) == ["model"]


@pytest.mark.req("UI-16")
def test_a_form_that_is_registered_for_a_tool_says_what_is_for_operators() -> None:
    register_form_spec("tool:image-draw", FormSpec({"text": {"operator_only": True}}))
    try:
        assert without_operator_fields(draw, {"text": "cat", "tags": []}) == {"tags": []}
    finally:
        forget_form_spec("tool:image-draw")


@pytest.mark.req("UI-16")
def test_what_is_left_is_all_but_what_is_for_operators() -> None:
    given = {
        "text": "cat",
        "model": "huge",
        "scene": {"kind": "night", "seed": 7},
        "scenes": [{"kind": "day", "seed": 8}, {"seed": 9}],
        "tags": [{"name": "a", "weight": 2}, "plain"],
    }
    assert without_operator_fields(draw, given) == {
        "text": "cat",
        "scene": {"kind": "night"},
        "scenes": [{"kind": "day"}, {}],
        "tags": [{"name": "a"}, "plain"],
    }


_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["model", "seed", "scene", "scenes", "weight", "tags", "kind"]), inner
        )
    ),
    max_leaves=12,
)


@pytest.mark.req("UI-16")
@given(st.dictionaries(st.sampled_from(["text", "model", "scene", "scenes", "tags"]), _values))
def test_whatever_is_sent_nothing_stands_where_only_operators_may_write(args: dict[str, Any]) -> None:
    left = without_operator_fields(draw, args)
    assert "model" not in left
    if isinstance(left.get("scene"), dict):
        assert "seed" not in left["scene"]
    for name, part in (("scenes", "seed"), ("tags", "weight")):
        if isinstance(left.get(name), list):
            assert not any(isinstance(one, dict) and part in one for one in left[name])
    assert without_operator_fields(draw, left) == left
    assert without_operator_fields(trace, {"other": args}) == {"other": args}


class Engine(BaseModel):
    model_config = ConfigDict(json_schema_extra={"x-operator-only": True})
    name: str = "small"


@tool("image.render", level="read")
async def render(
    text: str, engine: Engine, other: Engine | None = None, more: list[Engine] | None = None
) -> str:
    """Render something."""
    return text


@pytest.mark.req("UI-16")
def test_a_mark_on_what_a_schema_refers_to_counts_wherever_it_is_used() -> None:
    assert "$ref" in str(render.input_schema)
    assert operator_paths(render) == ("engine", "more.*", "other")
    assert unfilled_operator_fields(render) == ["engine"]
    given = {"text": "cat", "engine": {"name": "huge"}, "other": {"name": "huge"}, "more": [{"name": "huge"}]}
    assert without_operator_fields(render, given) == {"text": "cat", "more": []}
