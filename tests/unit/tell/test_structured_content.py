"""What a tool with an output schema returns is MCP's structured content, valid against that schema."""

import dataclasses
import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,  # pydantic wants these before Python 3.12
    Optional,
)
from uuid import UUID

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, computed_field
from typing_extensions import TypedDict

from handrail import Handrail, Outcome, Result, Tool, define


class Color(Enum):
    RED = "red"
    BLUE = 2


class Leaf(BaseModel):
    name: str = Field(serialization_alias="leafName")
    size: Annotated[int, Field(ge=0)] = 0


class Tree(BaseModel):
    model_config = ConfigDict(populate_by_name=True)

    leaves: list[Leaf] = []
    left: Optional["Tree"] = None
    label: str | None = Field(default=None, validation_alias=AliasChoices("label", "tag"))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def count(self) -> int:
        return len(self.leaves)


@dataclasses.dataclass
class Point:
    x: float
    tags: frozenset[str] = frozenset()


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Pair(NamedTuple):
    first: int
    second: str


finite = st.floats(allow_nan=False, allow_infinity=False)
leaves = st.builds(Leaf, name=st.text(), size=st.integers(0, 9))
trees = st.recursive(
    st.builds(Tree, leaves=st.lists(leaves, max_size=2), label=st.none() | st.text()),
    lambda inner: st.builds(Tree, left=inner),
    max_leaves=3,
)
Typed = tuple[Any, st.SearchStrategy[Any]]
simple: list[Typed] = [
    (int, st.integers(-(2**63), 2**63)),
    (bool, st.booleans()),
    (float, finite | st.integers(-5, 5)),
    (str, st.text()),
    (None | int, st.none() | st.integers()),
    (Literal["a", 1, True], st.sampled_from(["a", 1, True])),
    (Color, st.sampled_from(Color)),
    (date, st.dates()),
    (datetime, st.datetimes()),
    (time, st.times()),
    (timedelta, st.timedeltas()),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (UUID, st.uuids()),
    (Leaf, leaves),
    (Tree, trees),
    (Point, st.builds(Point, finite, st.frozensets(st.text(), max_size=2))),
    (Movie, st.fixed_dictionaries({"title": st.text()}, optional={"year": st.integers()})),
    (Pair, st.builds(Pair, st.integers(), st.text())),
    (dict[str, Any], st.dictionaries(st.text(), st.none() | st.integers() | st.text(), max_size=3)),
    (Annotated[int, Field(ge=3, le=9)], st.integers(3, 9)),
]


def nested(typed: st.SearchStrategy[Typed]) -> st.SearchStrategy[Typed]:
    def wrap(inner: Typed) -> st.SearchStrategy[Typed]:
        kind, values = inner
        return st.sampled_from(
            [
                (list[kind], st.lists(values, max_size=3)),  # type: ignore[valid-type]
                (dict[str, kind], st.dictionaries(st.text(), values, max_size=3)),  # type: ignore[valid-type]
                (tuple[kind, int], st.tuples(values, st.integers())),  # type: ignore[valid-type]
                (tuple[kind, ...], st.lists(values, max_size=3).map(tuple)),  # type: ignore[valid-type]
                (kind | None, st.none() | values),
            ]
        )

    return typed.flatmap(wrap)


typed_values = st.recursive(st.sampled_from(simple), nested, max_leaves=4).flatmap(
    lambda typed: st.tuples(st.just(typed[0]), typed[1])
)


def giving(value: Any, output: Any) -> Tool:
    async def execute(args: Any) -> Any:
        return value

    return define(
        "t.give", {"description": "Give it.", "level": "read", "output": output, "execute": execute}
    )


async def called(tool: Tool) -> tuple[Outcome, dict[str, Any]]:
    async with Handrail([tool]) as hr:
        [exported] = await hr.export("mcp")
        return await hr.call("t.give"), exported


def holds(schema: Any, value: Any) -> bool:
    return jsonschema_rs.validator_for(schema, validate_formats=False).is_valid(value)


@pytest.mark.req("TR-15")
@settings(max_examples=150)
@given(typed_values)
async def test_structured_content_is_valid_against_the_tools_own_output_schema(
    typed: tuple[Any, Any],
) -> None:
    kind, value = typed
    outcome, exported = await called(giving(value, kind))
    assert outcome.status == "completed", outcome.result.error
    mcp = outcome.to_mcp()
    json.dumps(mcp, allow_nan=False)
    if "outputSchema" in exported:
        assert holds(exported["outputSchema"], mcp.get("structuredContent"))


@pytest.mark.req("TR-15")
@pytest.mark.parametrize(
    ("value", "output"),
    [
        ("five", int),
        (None, int),
        ({"leaves": 5}, Tree | None),
        ([{"size": -1, "name": "x"}], list[Leaf]),
        ({"title": 5}, Movie),
        (Result(data={"title": 5}, summary="Found"), Movie),
        ({"success": True, "summary": "Found", "data": {"title": 5}}, Movie),
        ({"n": 0}, {"type": "object", "properties": {"n": {"minimum": 1}}, "required": ["n"]}),
        (float("nan"), float),
    ],
)
async def test_output_that_breaks_its_schema_is_reported_and_never_structured_content(
    value: Any, output: Any
) -> None:
    tool = giving(value, output)
    async with Handrail([tool]) as hr:
        outcome = await hr.call("t.give", session="s1")
        [_, failed] = hr.log.read("local", session="s1")
    assert (outcome.status, outcome.code) == ("failed", "INVALID_OUTPUT")
    assert "structuredContent" not in outcome.to_mcp() and outcome.to_mcp()["isError"] is True
    assert failed.kind == "failed" and failed.to_dict()["code"] == "INVALID_OUTPUT"
    assert "t.give" in outcome.to_model()


@pytest.mark.req("TR-15")
async def test_the_data_of_an_envelope_is_held_to_the_output_schema() -> None:
    value = {"success": True, "summary": "1 found", "data": {"title": "Alien", "year": 1979}}
    outcome, exported = await called(giving(value, Movie))
    assert holds(exported["outputSchema"], outcome.to_mcp()["structuredContent"])
    assert outcome.result.to_ui() == "1 found"


@pytest.mark.req("TR-15")
async def test_a_bare_dict_promises_nothing_so_it_exports_no_schema() -> None:
    _, exported = await called(giving({"a": 1}, dict[str, Any]))
    assert "outputSchema" not in exported
    _, exported = await called(giving({"a": 1}, dict[str, int]))
    assert exported["outputSchema"] == {"type": "object", "additionalProperties": {"type": "integer"}}


@pytest.mark.req("TR-15", "EX-11")
async def test_a_result_from_a_hook_is_held_to_the_output_schema_too() -> None:
    class Cache:
        async def before(self, tool: Tool, values: Any, ctx: Any, /) -> Result | None:
            return Result(data={"title": 5})

        async def after(self, tool: Tool, values: Any, ctx: Any, result: Result, /) -> Result:
            return result

    async with Handrail([giving({"title": "Alien"}, Movie)], hooks=[Cache()]) as hr:
        outcome = await hr.call("t.give")
    assert outcome.code == "INVALID_OUTPUT" and "structuredContent" not in outcome.to_mcp()
