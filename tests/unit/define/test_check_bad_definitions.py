"""A definition that cannot be used fails where it is written: with file, line, tool and remedy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, RootModel

from handrail import BaseTool, Registry, Tool, define, from_json_schema, from_params, tool
from handrail.core.define.build import normalise_options
from handrail.ext.errors import DefinitionError


class Opaque:
    """A type that JSON cannot carry."""


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Pet(RootModel[Annotated[Cat | Dog, Field(discriminator="kind")]]):
    pass


class Unfinished(BaseModel):
    part: NotWrittenYet  # type: ignore[name-defined]  # noqa: F821


def answer(args: Any) -> str:
    return "answer"


def spoiled(**options: Any) -> Tool:
    return define("shop.sell", **{"description": "Sell.", "execute": answer, **options})


def function_with(fn: Callable[..., Any], **options: Any) -> Tool:
    return tool("shop.sell", **{"description": "Sell.", **options})(fn)


def unannotated(price, *, currency: str = "EUR") -> str:
    return currency


def starred(*prices: int) -> int:
    return sum(prices)


def keywords(**prices: int) -> int:
    return sum(prices.values())


def by_position(price: int, /) -> int:
    return price


def opaque(thing: Opaque) -> str:
    return "?"


def unknown_type(thing: Missing) -> str:  # type: ignore[name-defined]  # noqa: F821
    return "?"


def unknown_return(price: int) -> Missing:  # type: ignore[name-defined]  # noqa: F821
    return price


def bad_pattern(code: Annotated[str, Field(pattern="(")]) -> str:
    return code


def opaque_return(price: int) -> Opaque:
    return Opaque()


class Empty(BaseTool):
    id = "shop.sell"
    description = "Sell."


class Demanding(BaseTool):
    """Sell."""

    id = "shop.sell"

    def __init__(self, till: str) -> None:
        self.till = till

    def execute(self) -> str:
        return self.till


OBJECT: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}

CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "no description": (lambda: spoiled(description=""), "no description"),
    "blank description": (lambda: spoiled(description=" \n "), "no description"),
    "no docstring": (lambda: tool("shop.sell")(answer_without_text), "no description"),
    "slug": (lambda: spoiled(slug="Sell it!"), "slug"),
    "alias": (lambda: spoiled(aliases=["shop sell"]), "'shop sell' is not a name"),
    "aliases": (lambda: spoiled(aliases=5), "aliases"),
    "alias of no parameter": (lambda: spoiled(aliases={"sell": {"x": "y"}}), "'y', which is no parameter"),
    "param_aliases of none": (
        lambda: spoiled(param_aliases={"price": "cost"}),
        "'price', which is no parameter",
    ),
    "param_aliases": (lambda: spoiled(param_aliases=["price"]), "param_aliases"),
    "not callable": (lambda: spoiled(execute="sell"), "execute cannot be called"),
    "no execute": (lambda: define("shop.sell", description="Sell."), "execute cannot be called"),
    "execute twice": (lambda: function_with(by_name, execute=answer), "beside the function"),
    "three parameters": (lambda: spoiled(execute=lambda args, ctx, more: 1), "declared as (args, ctx, more)"),
    "keyword that nobody gives": (
        lambda: spoiled(execute=lambda args, *, more: 1),
        "declared as (args, *, more)",
    ),
    "unannotated parameter": (lambda: function_with(unannotated), "'price' has no type"),
    "*args": (lambda: function_with(starred), "'*prices' cannot be given by name"),
    "**kwargs": (lambda: function_with(keywords), "'**prices' cannot be given by name"),
    "positional only": (lambda: function_with(by_position), "cannot be given by name"),
    "opaque parameter": (lambda: function_with(opaque), "cannot become a schema"),
    "bad pattern": (lambda: function_with(bad_pattern), "cannot be checked"),
    "unresolvable annotation": (lambda: function_with(unknown_type), "'Missing' is not defined"),
    "unresolvable return": (lambda: function_with(unknown_return), "'Missing' is not defined"),
    "unresolvable return of (args)": (
        lambda: spoiled(execute=unknown_return),
        "'Missing' is not defined",
    ),
    "opaque return": (lambda: function_with(opaque_return), "output type cannot become a schema"),
    "bad level": (lambda: spoiled(level="admin"), "'admin' is not a level"),
    "empty level": (lambda: spoiled(level=""), "'' is not a level"),
    "level of no kind": (lambda: spoiled(level=["read"]), "['read'] is not a level"),
    "bad danger": (lambda: spoiled(danger="huge"), "'huge' is not a level, danger"),
    "danger beside a level": (lambda: spoiled(level="read", danger="huge"), "'huge' is not a danger"),
    "bad policy": (lambda: spoiled(policy="sometimes"), "'sometimes' is not a policy"),
    "bad origin": (lambda: spoiled(origin="space"), "'space' is not a origin"),
    "bad capability": (lambda: spoiled(capabilities=["fly"]), "'fly' is not a level, danger or capability"),
    "capability beside a level": (
        lambda: spoiled(level="read", capabilities=["fly"]),
        "'fly' is not a capability",
    ),
    "permissions": (lambda: spoiled(permissions={"requires": ["read"]}), "'requires' is neither"),
    "permissions as a list": (lambda: spoiled(permissions=["read"]), "permissions cannot be read"),
    "requires": (lambda: spoiled(requires=5), "requires is 5"),
    "tenants": (lambda: spoiled(tenants=5), "tenants cannot be read"),
    "tenant of no kind": (lambda: spoiled(tenants=[5]), "tenants name 5"),
    "icon": (lambda: spoiled(icon=5), "icon is 5"),
    "writes": (lambda: spoiled(writes="till"), "writes is 'till', which cannot be called"),
    "reads": (lambda: spoiled(reads=["till"]), "reads is ['till'], which cannot be called"),
    "aggregate": (lambda: spoiled(aggregate="sum"), "aggregate is 'sum', which cannot be called"),
    "danger function": (lambda: spoiled(getDangerLevel="safe"), "danger function is 'safe'"),
    "no timeout": (lambda: spoiled(timeout=0), "timeout 0"),
    "negative timeout": (lambda: spoiled(timeout=-1), "timeout -1"),
    "endless timeout": (lambda: spoiled(timeout=float("inf")), "timeout inf"),
    "timeout in words": (lambda: spoiled(timeout="1 minute"), "timeout '1 minute'"),
    "timeout of no kind": (lambda: spoiled(timeout=True), "timeout True"),
    "section without a label": (lambda: spoiled(outputSections=[{"key": "rows"}]), "sections cannot be read"),
    "section of no kind": (
        lambda: spoiled(outputSections=[{"key": "rows", "label": "Rows", "type": "pie"}]),
        "not 'pie'",
    ),
    "form": (lambda: spoiled(form=5), "form cannot be read"),
    "view": (lambda: spoiled(view=5), "view cannot be read"),
    "unknown option": (lambda: spoiled(descripton="Sell."), "'descripton' is not an option"),
    "option of no kind": (lambda: define("shop.sell", {1: "Sell."}), "1 is not an option"),
    "option given twice": (lambda: spoiled(level="read", permissionLevel="read"), "given twice"),
    "both declarations": (lambda: spoiled(input=OBJECT, paramSchema={}), "both a paramSchema and"),
    "required without params": (
        lambda: spoiled(input=OBJECT, requiredParams=["a"]),
        "belongs to a paramSchema",
    ),
    "unknown required": (
        lambda: from_params("shop.sell", answer, description="Sell.", paramSchema={}, requiredParams=["a"]),
        "requiredParams names 'a'",
    ),
    "paramSchema": (lambda: spoiled(paramSchema={"a": "string"}), "not a map of parameter"),
    "type in paramSchema": (lambda: spoiled(paramSchema={"a": {"type": "text"}}), "not usable"),
    "broken schema": (lambda: spoiled(input={"type": "object", "properties": 5}), "not usable"),
    "required that is forbidden": (
        lambda: spoiled(input={**OBJECT, "required": ["b"], "additionalProperties": False}),
        "requires 'b' and forbids it",
    ),
    "schema of a list": (lambda: spoiled(input={"type": "array"}), "does not describe an object"),
    "schema of itself": (lambda: spoiled(input={"allOf": [{"$ref": "#"}]}), "does not describe an object"),
    "no schema": (lambda: from_json_schema("shop.sell", None, answer, description="Sell."), "no JSON Schema"),
    "unknown reference": (lambda: spoiled(input={**OBJECT, "$ref": "#/$defs/none"}), "not usable"),
    "union at the top": (lambda: spoiled(input=Pet), "not an object with properties"),
    "union without a model": (lambda: spoiled(input=Cat | Dog), "neither a pydantic model nor a JSON Schema"),
    "unfinished model": (lambda: spoiled(input=Unfinished), "cannot become a schema"),
    "output": (lambda: spoiled(output={"type": "text"}), "not usable"),
    "isolation of no kind": (lambda: spoiled(isolation="thread"), "'thread' is not a isolation"),
    "isolation of a lambda": (lambda: spoiled(execute=lambda args: 1, isolation="process"), "no import path"),
    "isolation of a closure": (lambda: spoiled(execute=closure(), isolation="process"), "no import path"),
    "class without execute": (lambda: Empty.tool(), "Empty has no execute"),
    "class that wants arguments": (lambda: Demanding.tool(), "cannot be made without arguments"),
    "aliases beside an initialiser": (
        lambda: define("shop.sell", lambda init: {}, aliases=5),
        "aliases cannot be read",
    ),
    "option beside an initialiser": (
        lambda: define("shop.sell", lambda init: {}, level="read"),
        "'level' is given",
    ),
}


def by_name(price: int) -> int:
    """Sell."""
    return price


def answer_without_text(price: int) -> str:
    return "answer"


def closure() -> Callable[[Any], str]:
    def inner(args: Any) -> str:
        return "answer"

    return inner


@pytest.mark.req("TD-27", "TD-08")
@pytest.mark.parametrize("case", CASES)
def test_a_bad_definition_says_what_is_wrong_where_and_how_to_mend_it(case: str) -> None:
    define_it, problem = CASES[case]

    with pytest.raises(DefinitionError) as refused:
        define_it()

    error = refused.value
    assert problem in error.problem
    assert error.tool == "shop.sell"
    assert error.remedy
    assert error.location is not None and error.location.file == __file__
    assert 0 < error.location.line <= len(inspect.getsource(inspect.getmodule(by_name)).splitlines())  # type: ignore[arg-type]
    assert all(part in str(error) for part in ("shop.sell", str(error.location), error.remedy))


async def in_steps(item: str) -> Any:
    """Sell."""
    yield item


def one_by_one(item: str) -> Any:
    """Sell."""
    yield item


@pytest.mark.req("TD-27")
@pytest.mark.parametrize("body", [in_steps, one_by_one])
def test_a_body_that_yields_is_told_to_return(body: Any) -> None:
    for define_it in (tool("shop.sell"), lambda fn: define("shop.sell", description="Sell.", execute=fn)):
        with pytest.raises(DefinitionError, match="its body yields") as refused:
            define_it(body)
        assert "append_output" in str(refused.value.remedy)


@pytest.mark.req("TD-27", "NM-01")
@pytest.mark.parametrize(
    "name",
    ["", " ", "9lives", "a b", "a..b", ".a", "a.", "a-", "drop;", "naïve", "a/b", "x" * 129, "a\n", None, 5],
)
def test_a_bad_name_is_refused_by_every_style(name: Any) -> None:
    ways: list[Callable[[], Any]] = [
        lambda: define(name, description="Sell.", execute=answer),
        lambda: define(name, lambda init: {}),
        lambda: from_params(name, answer, description="Sell."),
        lambda: from_json_schema(name, OBJECT, answer, description="Sell."),
    ]
    for way in ways:
        with pytest.raises(DefinitionError, match="is not a name a tool can have"):
            way()


@pytest.mark.req("TD-27")
def test_a_lambda_is_no_name_for_a_tool() -> None:
    with pytest.raises(DefinitionError, match="'<lambda>' is not a name"):
        tool(lambda: 1)


@pytest.mark.req("TD-27")
def test_the_line_is_where_the_function_is_written() -> None:
    with pytest.raises(DefinitionError) as refused:
        tool("shop.sell")(unannotated)

    assert refused.value.location is not None
    assert refused.value.location.line == inspect.getsourcelines(unannotated)[1]


@pytest.mark.req("TD-27")
def test_something_else_than_a_tool_is_refused_at_registration() -> None:
    with pytest.raises(DefinitionError, match="is not a tool") as refused:
        Registry().register(by_name)  # type: ignore[arg-type]
    assert refused.value.location is not None
    assert refused.value.location.line == inspect.getsourcelines(by_name)[1]

    with pytest.raises(DefinitionError, match="5 is not a tool") as refused:
        Registry([5])
    assert refused.value.location is not None and refused.value.location.file == __file__


@pytest.mark.req("TD-27", "TD-13")
@pytest.mark.parametrize("permissions", [{"required": ["fly"]}, {"needs": ["read"]}, ["read"]])
@pytest.mark.parametrize("sell", [spoiled(), define("shop.sell", lambda init: {})], ids=["ready", "waiting"])
def test_capabilities_given_at_registration_are_checked_as_well(sell: Tool, permissions: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        Registry().register(sell, permissions=permissions)

    assert refused.value.tool == "shop.sell" and refused.value.remedy


@pytest.mark.req("TD-07", "SC-10")
@pytest.mark.parametrize(
    ("schema", "resources"),
    [
        ({"$ref": "urn:r"}, {"urn:r": {"type": "object"}}),
        ({"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}}, None),
        ({"additionalProperties": {"type": "integer"}}, None),
        ({"propertyNames": {"pattern": "^[a-z]+$"}}, None),
    ],
)
def test_a_schema_that_speaks_of_an_object_in_other_words_is_accepted(schema, resources) -> None:
    made = from_json_schema(
        "far.read", schema, lambda args: None, description="Far.", level="read", resources=resources
    )
    assert made.id == "far.read"


def test_an_option_that_is_nearly_one_is_named() -> None:
    with pytest.raises(DefinitionError) as near:
        normalise_options({"levle": "read"})
    assert near.value.remedy == "did you mean 'level'?"
    with pytest.raises(DefinitionError) as far:
        normalise_options({"zzz": 1})
    assert (far.value.remedy or "").startswith("use one of: aggregate, aliases")
