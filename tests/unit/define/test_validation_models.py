"""Arguments of tools with Python types: JSON's reading of each type, and nothing that is merely similar."""

from __future__ import annotations

import datetime as dt
import enum
import uuid
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, model_validator

from handrail import Handrail, Outcome, Tool, tool
from handrail.core.define.validation import InvalidValue


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    name: str
    made: dt.date
    parts: list[Item] = []


@dataclass
class Size:
    width: int
    height: int = 1


def taking(annotation: Any) -> Tool:
    """A tool whose one parameter `p` is of the given type."""

    def take(p):
        return None

    take.__annotations__ = {"p": annotation}
    return tool("take", level="read", description="Take a value.")(take)


def value(annotation: Any, given: Any) -> Any:
    """The typed value a body would receive."""
    validate = taking(annotation).validate
    assert validate is not None
    return validate({"p": given}).p


async def called(made: Tool, args: dict[str, Any], repair: bool = False) -> Outcome:
    async with Handrail([made], repair=repair) as hr:
        return await hr.call(made.id, args)


@pytest.mark.req("SC-02", "SC-10")
@pytest.mark.parametrize(
    ("annotation", "given", "wanted"),
    [
        (str, "text", "text"),
        (int, 3, 3),
        (float, 3, 3.0),
        (bool, True, True),
        (int | None, None, None),
        (Literal["a", "b"], "a", "a"),
        (list[int], [1, 2], [1, 2]),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (int | str, "3", "3"),
        (Any, {"a": [1, None]}, {"a": [1, None]}),
        (dt.date, "2024-02-29", dt.date(2024, 2, 29)),
        (dt.datetime, "2024-02-29T12:00:00Z", dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC)),
        (dt.timedelta, "PT90S", dt.timedelta(seconds=90)),
        (Decimal, "12.50", Decimal("12.50")),
        (Decimal, 12.5, Decimal("12.5")),
        (Decimal, 10**30, Decimal(10**30)),
        (
            uuid.UUID,
            "12345678-1234-5678-1234-567812345678",
            uuid.UUID("12345678-1234-5678-1234-567812345678"),
        ),
        (Colour, "red", Colour.RED),
        (set[int], [1, 2, 2], {1, 2}),
        (frozenset[str], ["a"], frozenset({"a"})),
        (tuple[int, str], [1, "a"], (1, "a")),
        (bytes, "abc", b"abc"),
        (Size, {"width": 2}, Size(2, 1)),
        (Item, {"name": "axe", "made": "2024-01-02"}, Item(name="axe", made=dt.date(2024, 1, 2))),
        (list[Colour], ["blue"], [Colour.BLUE]),
        (Annotated[list[dt.date], Field(min_length=1)], ["2024-01-02"], [dt.date(2024, 1, 2)]),
    ],
)
def test_a_value_is_read_as_json_means_it(annotation: Any, given: Any, wanted: Any) -> None:
    read = value(annotation, given)

    assert read == wanted
    assert type(read) is type(wanted)


@pytest.mark.req("SC-02", "SC-10")
@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (int, True),
        (int, 1.0),
        (int, "1"),
        (float, True),
        (float, "1.5"),
        (bool, 1),
        (bool, "true"),
        (str, 1),
        (str, None),
        (list[int], [True]),
        (list[int], 1),
        (list[int], "1"),
        (dict[str, int], {"a": True}),
        (dict[str, int], []),
        (int | None, False),
        (Literal["a"], "A"),
        (dt.date, "2024-02-30"),
        (dt.date, "tomorrow"),
        (dt.date, True),
        (Decimal, "NaN"),
        (Decimal, "ten"),
        (Decimal, True),
        (Colour, "RED"),
        (set[int], [True]),
        (tuple[int, str], [1]),
        (uuid.UUID, "1234"),
        (Size, {"width": "2"}),
        (Item, {"name": "axe", "made": "2024-01-02", "parts": [{"name": 1, "made": "2024-01-02"}]}),
    ],
)
def test_what_is_merely_similar_is_refused(annotation: Any, given: Any) -> None:
    with pytest.raises(InvalidValue):
        value(annotation, given)


async def test_a_refusal_says_where_what_is_wanted_and_what_came() -> None:
    wrong = {"name": "axe", "made": "2024-01-02", "parts": [{"name": 5, "made": "2024-13-01"}]}
    out = await called(taking(Item), {"p": wrong})

    assert out.code == "INVALID_PARAM"
    assert [field["path"] for field in out.result.metadata["fields"]] == ["p.parts.0.name", "p.parts.0.made"]
    assert "p.parts.0.name: should be a valid string, got 5 (int)" in (out.result.error or "")
    assert "got '2024-13-01' (text)" in (out.result.error or "")


async def test_a_refused_union_says_what_each_member_wants() -> None:
    out = await called(taking(int | list[int]), {"p": "many"})

    assert [field["path"] for field in out.result.metadata["fields"]] == ["p"]
    assert "a valid integer, got 'many' (text); or should be a valid list" in (out.result.error or "")


@pytest.mark.parametrize("annotation", [str, Item | None], ids=["plain types", "other types"])
async def test_an_unknown_argument_is_refused_with_the_nearest_name(annotation: Any) -> None:
    @tool("search", level="read")
    def search(query: str = "", limit: int = 1, other: annotation = None) -> str:
        """Search."""
        return query

    out = await called(search, {"query": "x", "limt": 3})

    assert out.code == "INVALID_PARAM"
    assert "limt: is not a parameter of this tool; did you mean 'limit'? Known: query, limit, other" in (
        out.result.error or ""
    )


@pytest.mark.parametrize("annotation", [Item, Item | None, list[Item], dict[str, Item], Size])
def test_an_unknown_name_inside_is_refused_with_the_nearest_name(annotation: Any) -> None:
    item: dict[str, Any] = {"width": 2, "heigth": 3}
    if annotation is not Size:
        item = {"name": "axe", "made": "2024-01-02", "part": []}
    given = [item] if annotation == list[Item] else {"x": item} if annotation == dict[str, Item] else item

    with pytest.raises(InvalidValue) as refused:
        value(annotation, given)

    near = "'height'" if annotation is Size else "'parts'"
    assert f"is not known here; did you mean {near}?" in str(refused.value)


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    item: Item | None = None


class Careless(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: str


def test_a_model_that_says_so_itself_takes_names_it_does_not_list() -> None:
    assert value(Open, {"name": "a", "colour": "red"}).colour == "red"
    assert value(Careless, {"name": "a", "colour": "red"}) == Careless(name="a")


def test_a_model_inside_an_open_one_is_as_strict_as_ever() -> None:
    item = {"name": "axe", "made": "2024-01-02"}

    assert value(Open, {"name": "a", "colour": "red", "item": item}).item.name == "axe"
    with pytest.raises(InvalidValue, match=r"p\.item\.colour: is not known here"):
        value(Open, {"name": "a", "shade": "dark", "item": {**item, "colour": "red"}})
    with pytest.raises(InvalidValue, match=r"p\.name: should be a valid string"):
        value(Open, {"name": 1, "shade": "dark"})


@pytest.mark.parametrize("kind", ["undecided", "forbid", "allow", "ignore"])
async def test_a_model_as_the_whole_input_decides_over_unknown_names(kind: Any) -> None:
    config = ConfigDict() if kind == "undecided" else ConfigDict(extra=kind)

    class Search(BaseModel):
        model_config = config

        query: str

    made = tool("search", level="read", input=Search, description="Search.")(lambda args: args.model_dump())
    out = await called(made, {"query": "x", "limit": 3})

    if kind in ("undecided", "forbid"):
        assert (out.code, made.input_schema["additionalProperties"]) == ("INVALID_PARAM", False)
    else:
        assert out.result.data == ({"query": "x", "limit": 3} if kind == "allow" else {"query": "x"})


async def test_a_secret_is_never_quoted_in_a_refusal() -> None:
    class Login(BaseModel):
        password: str = Field(min_length=12, json_schema_extra={"format": "password"})
        user: int

        @model_validator(mode="after")
        def agree(self) -> Login:
            raise ValueError("user and password do not agree")

    secret = taking(Login)
    short = await called(secret, {"p": {"password": "hunter2", "user": "ann"}})
    disagreeing = await called(secret, {"p": {"password": "hunter2hunter2", "user": 1}})

    assert "at least 12 characters" in (short.result.error or "") and "'ann'" in (short.result.error or "")
    assert "do not agree" in (disagreeing.result.error or "")
    assert "hunter2" not in f"{short.result} {disagreeing.result}"


@pytest.mark.req("SC-08")
@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ({"action": "add", "title": "Milk"}, "completed"),
        ({"action": "remove", "id": 1}, "completed"),
        ({"action": "add"}, "add needs a title"),
        ({"action": "remove", "title": "Milk"}, "remove needs an id"),
        ({"action": "burn"}, "should be 'add' or 'remove'"),
    ],
)
async def test_an_action_tool_is_flat_and_checks_each_action_at_run_time(
    args: dict[str, Any], wanted: str
) -> None:
    class Manage(BaseModel):
        action: Literal["add", "remove"]
        title: str | None = None
        id: int | None = None

        @model_validator(mode="after")
        def complete(self) -> Manage:
            if self.action == "add" and self.title is None:
                raise ValueError("add needs a title")
            if self.action == "remove" and self.id is None:
                raise ValueError("remove needs an id")
            return self

    made = tool("notes.manage", level="read", input=Manage, description="Manage notes.")(
        lambda args: args.action
    )
    out = await called(made, args)

    assert made.input_schema["required"] == ["action"]
    assert list(made.input_schema["properties"]) == ["action", "title", "id"]
    if wanted == "completed":
        assert out.status == "completed"
    else:
        assert out.code == "INVALID_PARAM" and wanted in (out.result.error or "")
