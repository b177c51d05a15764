"""The same tool, written in every style a tool can be written in: nobody can tell them apart."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from handrail import BaseTool, Handrail, Tool, define, from_json_schema, from_params, tool

TITLE = {"type": "string", "description": "What it says on the note."}
STARS = {"type": "integer", "description": "How important it is.", "default": 1, "minimum": 1, "maximum": 5}
SCHEMA = {
    "type": "object",
    "properties": {"title": TITLE, "stars": STARS},
    "required": ["title"],
    "additionalProperties": False,
}
Title = Annotated[str, Field(description="What it says on the note.")]
Stars = Annotated[int, Field(description="How important it is.", ge=1, le=5)]


class Note(BaseModel):
    title: Title
    stars: Stars = 1


def saved(title: str, stars: int) -> dict[str, str]:
    return {"saved": f"{title} with {stars}"}


def decorated() -> Tool:
    @tool("notes.add", level="write")
    async def add(title: Title, stars: Stars = 1) -> dict[str, str]:
        """Add a note."""
        return saved(title, stars)

    return add


def described_in_the_docstring() -> Tool:
    @tool("notes.add", level="write")
    def add(title: str, stars: Annotated[int, Field(ge=1, le=5)] = 1) -> dict[str, str]:
        """Add a note.

        Args:
            title: What it says on the note.
            stars: How important it is.
        """
        return saved(title, stars)

    return add


def defined() -> Tool:
    async def execute(args: Note, ctx: Any) -> dict[str, str]:
        return saved(args.title, args.stars)

    return define(
        "notes.add",
        {"description": "Add a note.", "parameters": Note, "permissionLevel": "write", "execute": execute},
    )


def initialised_later() -> Tool:
    async def initialise(init: Any) -> dict[str, Any]:
        def execute(args: Note) -> dict[str, str]:
            return saved(args.title, args.stars)

        return {"description": "Add a note.", "parameters": Note, "level": "write", "execute": execute}

    return define("notes.add", initialise)


class AddNote(BaseTool):
    """Add a note."""

    id = "notes.add"
    level = "write"

    async def execute(self, title: Title, stars: Stars = 1) -> dict[str, str]:
        return saved(title, stars)


class AddNoteOfModel(BaseTool):
    id = "notes.add"
    description = "Add a note."
    permissionLevel = "write"
    inputSchema = Note

    def execute(self, args: Note, ctx: Any) -> dict[str, str]:
        return saved(args.title, args.stars)


def from_params_call() -> Any:
    def execute(args: Any) -> dict[str, str]:
        return saved(args["title"], args["stars"])

    return from_params(
        "notes.add",
        execute,
        description="Add a note.",
        permissionLevel="write",
        paramSchema={"title": TITLE, "stars": STARS},
        requiredParams=["title"],
    )


def from_params_literal() -> Any:
    def execute(args: Any, ctx: Any) -> dict[str, str]:
        return saved(args.title, args.stars)

    literal = {
        "name": "notes.add",
        "description": "Add a note.",
        "permissionLevel": "write",
        "paramSchema": {"title": TITLE, "stars": STARS},
        "requiredParams": ["title"],
        "execute": execute,
    }
    return from_params(literal)


def from_params_decorator() -> Any:
    @from_params("notes.add", level="write", params={"title": TITLE, "stars": STARS}, required=["title"])
    async def add(args: Any) -> dict[str, str]:
        """Add a note."""
        return saved(args.title, args.stars)

    return add


def from_raw_schema() -> Any:
    def execute(args: Any) -> dict[str, str]:
        return saved(args.title, args.stars)

    return from_json_schema("notes.add", SCHEMA, execute, description="Add a note.", level="write")


STYLES = {
    "decorated function": decorated,
    "function with a docstring": described_in_the_docstring,
    "define": defined,
    "define with an async initialiser": initialised_later,
    "class": lambda: AddNote,
    "class with a model": lambda: AddNoteOfModel(),
    "from_params, id and options": from_params_call,
    "from_params, one literal": from_params_literal,
    "from_params, decorator": from_params_decorator,
    "from_json_schema": from_raw_schema,
}
every_style = pytest.mark.parametrize("style", STYLES)


@every_style
@pytest.mark.req("TD-02", "TD-05", "TD-06", "TD-07", "TD-18", "TD-19", "TD-21", "TD-22", "TD-23")
async def test_each_style_runs_and_returns_the_same(style: str) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        out = await hr.call("notes.add", {"title": "Milk", "stars": 3}, source="web")

    assert (out.status, out.result.data) == ("completed", {"saved": "Milk with 3"})


@every_style
@pytest.mark.req("TD-06")
async def test_each_style_fills_the_default(style: str) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        out = await hr.call("notes.add", {"title": "Milk"}, source="web")

    assert out.result.data == {"saved": "Milk with 1"}


@every_style
@pytest.mark.req("TD-05")
async def test_each_style_misses_a_required_parameter(style: str) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        out = await hr.call("notes.add", {"stars": 2}, source="web")

    assert (out.status, out.code) == ("refused", "MISSING_PARAM")
    assert [field["path"] for field in out.result.metadata["fields"]] == ["title"]


@every_style
@pytest.mark.parametrize("wrong", [["three"], 9, True, 1.5])
async def test_each_style_refuses_a_wrong_value(style: str, wrong: Any) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        out = await hr.call("notes.add", {"title": "Milk", "stars": wrong}, source="web")

    assert (out.status, out.code) == ("refused", "INVALID_PARAM")
    assert [field["path"] for field in out.result.metadata["fields"]] == ["stars"]


@every_style
async def test_each_style_refuses_an_unknown_argument_and_names_the_nearest(style: str) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        out = await hr.call("notes.add", {"title": "Milk", "start": 2}, source="web")

    assert (out.status, out.code) == ("refused", "INVALID_PARAM")
    assert "start: is not a parameter of this tool; did you mean 'stars'?" in (out.result.error or "")


@every_style
async def test_each_style_has_the_same_slip_repaired(style: str) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        out = await hr.call("notes.add", {"Title": "Milk", "stars": "3"}, source="web")

    assert out.result.data == {"saved": "Milk with 3"}
    assert [repair.path for repair in out.repairs] == ["title", "stars"]


@every_style
@pytest.mark.req("TD-04")
async def test_each_style_asks_before_an_agent_writes(style: str) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        decision = await hr.explain("notes.add", {"title": "Milk"}, source="agent")
        out = await hr.call("notes.add", {"title": "Milk"}, source="agent")

    assert (decision.verdict, decision.layer) == ("ask", "level")
    assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")


@every_style
@pytest.mark.req("TD-01", "TD-06")
@pytest.mark.parametrize("how", ["openai", "anthropic", "mcp", "prompt_menu"])
async def test_each_style_looks_the_same_to_a_model(style: str, how: Any) -> None:
    async with Handrail([STYLES[style]()]) as hr, Handrail([decorated()]) as first:
        assert await hr.export(how) == await first.export(how)


@every_style
@pytest.mark.req("TD-17")
async def test_each_style_looks_the_same_in_the_library(style: str) -> None:
    async with Handrail([STYLES[style]()]) as hr:
        [shown] = await hr.tools()

    assert shown.to_meta() == decorated().to_meta()


@pytest.mark.req("TD-05")
async def test_an_empty_list_of_required_parameters_makes_every_parameter_optional() -> None:
    params = {"title": TITLE, "stars": STARS}
    add = from_params("notes.add", len, description="Count.", paramSchema=params, requiredParams=[])

    async with Handrail([add]) as hr:
        out = await hr.call("notes.add", {}, source="web")

    assert out.status == "completed"
    assert "required" not in add.input_schema
