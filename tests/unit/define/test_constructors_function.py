"""A function becomes a tool: its parameters are the input, its docstring the description."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Annotated, Any, Optional

import pytest
from pydantic import BaseModel, Field

from handrail import Context, Handrail, Tool, tool
from handrail.ext.errors import DefinitionError

Thing = Annotated[int, {"any": "thing"}]


async def data_of(made: Tool, args: dict[str, Any] | None = None) -> Any:
    async with Handrail([made]) as hr:
        out = await hr.call(made.id, args, source="web")
    assert out.status == "completed", out.result.error
    return out.result.data


@pytest.mark.req("TD-02")
def test_a_bare_decorator_takes_name_description_and_schema_from_the_function() -> None:
    @tool
    def read_file(path: str) -> str:
        """Read a file."""
        return path

    assert (read_file.id, read_file.description) == ("read_file", "Read a file.")
    assert read_file.input_schema["required"] == ["path"]


@pytest.mark.req("TD-22")
async def test_a_body_without_a_context_is_called_without_one() -> None:
    @tool("double", level="read")
    async def double(number: int) -> int:
        """Double a number."""
        return number * 2

    assert await data_of(double, {"number": 4}) == 8


@pytest.mark.req("TD-22")
async def test_a_body_gets_the_context_by_its_type_whatever_the_parameter_is_called() -> None:
    @tool("who", level="read")
    async def who(greeting: str, caller: Context) -> str:
        """Say who calls."""
        return f"{greeting} {caller.tenant_id}"

    assert await data_of(who, {"greeting": "Hello"}) == "Hello local"
    assert list(who.input_schema["properties"]) == ["greeting"]


@pytest.mark.req("TD-22")
async def test_a_context_may_be_optional_or_unannotated() -> None:
    @tool("optional", level="read")
    def optional(ctx: Optional[Context] = None) -> bool:  # noqa: UP045
        """Say whether there is a context."""
        return ctx is not None

    @tool("unannotated", level="read")
    def unannotated(*, context) -> bool:
        """Say whether there is a context."""
        return context is not None

    assert await data_of(optional) is True
    assert await data_of(unannotated) is True


@pytest.mark.req("TD-22")
async def test_a_parameter_called_context_that_has_another_type_is_a_parameter() -> None:
    @tool("quote", level="read")
    def quote(context: str) -> str:
        """Quote a text."""
        return context

    assert await data_of(quote, {"context": "so it was"}) == "so it was"


@pytest.mark.req("TD-22")
@pytest.mark.parametrize(
    "execute",
    [
        lambda: "called",
        lambda args: "called",
        lambda args, ctx: "called" if ctx.tenant_id else "",
        lambda args, *, ctx: "called" if ctx.tenant_id else "",
        lambda args, _ctx=None: "called" if _ctx.tenant_id else "",
        lambda args, retries=3: "called" if retries == 3 else "",
        lambda *given: "called" if len(given) == 2 else "",
    ],
    ids=[
        "()",
        "(args)",
        "(args, ctx)",
        "(args, *, ctx)",
        "(args, _ctx=None)",
        "(args, retries=3)",
        "(*given)",
    ],
)
async def test_execute_may_be_declared_with_or_without_a_context(execute: Any) -> None:
    class Nothing(BaseModel):
        pass

    made = tool("call", input=Nothing, description="Call.", level="read")(execute)

    assert await data_of(made) == "called"


@pytest.mark.req("TD-06")
async def test_parameters_that_pydantic_keeps_for_itself_keep_their_names() -> None:
    @tool("awkward", level="read", writes=lambda args: [args["schema"], args["_x"], args["copy_"]])
    def awkward(
        schema: str,
        json: int,
        _x: str,
        from_: str,
        model_config: str,
        copy: int = 0,
        copy_: str = "c",
        x_: int = 7,
    ) -> list[Any]:
        """Give everything back."""
        return [schema, json, _x, from_, model_config, copy, copy_, x_]

    given = {"schema": "s", "json": 1, "_x": "x", "from_": "f", "model_config": "m", "copy": 2}

    assert list(awkward.input_schema["properties"]) == [*given, "copy_", "x_"]
    assert await data_of(awkward, given) == ["s", 1, "x", "f", "m", 2, "c", 7]


@pytest.mark.req("TD-06")
async def test_a_kept_name_with_a_field_of_its_own_keeps_name_and_description() -> None:
    @tool("validate", level="read")
    def validate(schema: str = Field("none", description="Which schema.")) -> str:
        """Validate."""
        return schema

    assert validate.input_schema["properties"] == {
        "schema": {"type": "string", "default": "none", "description": "Which schema."}
    }
    assert await data_of(validate, {"schema": "s"}) == "s"


@pytest.mark.req("TD-06")
def test_what_the_author_writes_in_a_field_stands_above_the_docstring() -> None:
    @tool("search", level="read")
    def search(
        query: Annotated[str, Field(description="From the field.")] = "x",
        limit: Annotated[int, Field(ge=1)] = 3,
        offset: int = 0,
    ) -> str:
        """Search.

        Args:
            query: From the docstring.
            limit (int, optional): How many
                at most. Note: never more than 100.

            offset:
                Where to begin.

        Returns:
            limit: not a parameter.
        """
        return query

    told = {name: part["description"] for name, part in search.input_schema["properties"].items()}
    assert told == {
        "query": "From the field.",
        "limit": "How many at most. Note: never more than 100.",
        "offset": "Where to begin.",
    }
    assert (search.description, search.guidance) == ("Search.", "")


def test_annotations_may_carry_whatever_their_author_likes() -> None:
    @tool("take", level="read")
    def take(many: list[Thing], one: Thing) -> Thing:
        """Take values."""
        return one

    assert take.validate is not None
    assert take.validate({"many": [1], "one": 2}).many == [1]


async def test_local_types_are_understood_although_annotations_are_text() -> None:
    class Item(BaseModel):
        name: str

    class Found(BaseModel):
        items: list[Item]

    @tool("find", level="read")
    def find(item: Item) -> Found:
        """Find an item."""
        return Found(items=[item])

    assert await data_of(find, {"item": {"name": "axe"}}) == {"items": [{"name": "axe"}]}
    assert find.output_schema is not None and list(find.output_schema["properties"]) == ["items"]


async def test_a_local_return_type_is_understood_beside_a_declared_input() -> None:
    class Question(BaseModel):
        text: str

    class Answer(BaseModel):
        text: str

    @tool("ask", level="read", input=Question)
    def ask(args: Question) -> Answer:
        """Ask."""
        return Answer(text=args.text)

    assert ask.output_schema is not None and list(ask.output_schema["properties"]) == ["text"]
    assert await data_of(ask, {"text": "why"}) == {"text": "why"}


class Adder:
    """Add to a fixed number."""

    base: int

    def __init__(self, base: int) -> None:
        self.base = base

    def __call__(self, number: int) -> int:
        return self.base + number


class AsyncAdder(Adder):
    """Add to a fixed number, later."""

    async def __call__(self, number: int) -> int:  # type: ignore[override]
        return self.base + number


@pytest.mark.req("TD-23")
@pytest.mark.parametrize("kind", [Adder, AsyncAdder])
async def test_a_callable_object_is_a_tool(kind: type[Adder]) -> None:
    add = tool("add", level="read")(kind(40))

    assert await data_of(add, {"number": 2}) == 42
    assert add.description.startswith("Add to a fixed number")
    assert list(add.input_schema["properties"]) == ["number"]


async def test_what_a_partial_fixes_is_not_offered_to_the_model() -> None:
    def send(to: str, text: str, key: str = "none") -> str:
        """Send a text."""
        return f"{text} to {to} with {key}"

    made = tool("send", level="read")(functools.partial(send, key="k-123"))

    assert list(made.input_schema["properties"]) == ["to", "text"]
    assert "k-123" not in str(made.input_schema)
    assert made.description == "Send a text."
    assert await data_of(made, {"to": "Ann", "text": "hi"}) == "hi to Ann with k-123"


async def test_a_bound_method_is_a_tool() -> None:
    class Shop:
        name = "corner"

        def open_at(self, hour: int) -> str:
            """Say when it opens."""
            return f"{self.name} opens at {hour}"

    made = tool("shop.open_at", level="read")(Shop().open_at)

    assert await data_of(made, {"hour": 8}) == "corner opens at 8"


async def test_a_builtin_serves_where_the_input_is_declared() -> None:
    made = tool("count", params={"a": {"type": "string"}}, description="Count.", level="read")(len)

    assert await data_of(made, {"a": "x"}) == 1


@pytest.mark.parametrize("builtin", [len, dict, print], ids=["len", "dict", "print"])
def test_a_builtin_whose_parameters_are_unknown_is_refused_with_a_remedy(builtin: Any) -> None:
    with pytest.raises(DefinitionError) as refused:
        tool("builtin")(builtin)

    assert refused.value.remedy
    assert refused.value.location is not None and refused.value.location.file == __file__


@pytest.mark.req("TD-23")
async def test_a_sync_body_that_returns_an_awaitable_is_awaited() -> None:
    async def later(number: int) -> int:
        return number + 1

    @tool("next", level="read")
    def following(number: int) -> Any:
        """The next number."""
        return later(number)

    assert await data_of(following, {"number": 1}) == 2


@pytest.mark.req("TD-23")
async def test_sync_bodies_run_beside_each_other() -> None:
    meeting = threading.Barrier(2)

    @tool("meet", level="read")
    def meet() -> bool:
        """Wait until the other one is here."""
        return meeting.wait(timeout=30) >= 0

    async with Handrail([meet]) as hr:
        both = await asyncio.gather(hr.call("meet"), hr.call("meet"))

    assert [out.status for out in both] == ["completed", "completed"]


async def test_a_mutable_default_is_fresh_for_each_call() -> None:
    @tool("collect", level="read")
    def collect(item: str, into: list[str] = []) -> list[str]:  # noqa: B006
        """Collect items."""
        into.append(item)
        return into

    assert await data_of(collect, {"item": "a"}) == ["a"]
    assert await data_of(collect, {"item": "b"}) == ["b"]


def test_a_default_that_is_not_json_stays_out_of_the_schema_without_a_warning() -> None:
    missing = object()

    @tool("get", level="read")
    def get(key: str, default: str = missing) -> str:  # type: ignore[assignment]
        """Get a value."""
        return key

    assert get.input_schema["properties"]["default"] == {"type": "string"}
    assert get.input_schema["required"] == ["key"]
