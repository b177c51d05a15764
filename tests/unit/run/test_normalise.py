"""Whatever a body returns becomes one Result, and every audience can read it."""

import dataclasses
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, model_serializer
from typing_extensions import TypedDict

from handrail import Attachment, Handrail, Outcome, Result, Tool, ToolError, define
from handrail.ext.compat import ToolResponse


class Person(BaseModel):
    name: str
    born: date | None = Field(default=None, serialization_alias="birthday")


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Row(TypedDict):
    id: int


class Color(Enum):
    RED = "red"


class Word(StrEnum):
    YES = "yes"


class Unwritable:
    """Nothing that JSON knows."""


def giving(value: Any, output: Any = None) -> Tool:
    async def execute(args: Any) -> Any:
        return value

    given: dict[str, Any] = {"description": "Give it.", "level": "read", "output": output, "execute": execute}
    return define("t.give", given)


def raising(error: BaseException) -> Tool:
    async def execute(args: Any) -> Any:
        raise error

    return define("t.give", {"description": "Give it.", "level": "read", "execute": execute})


async def called(tool: Tool) -> Outcome:
    async with Handrail([tool]) as hr:
        outcome = await hr.call("t.give", session="s1")
        events = [event.to_dict() for event in hr.log.read("local", session="s1")]
    json.dumps(
        [events, outcome.to_mcp(), outcome.result.to_dict(), outcome.result.to_worker()], allow_nan=False
    )
    assert [event["type"] for event in events] == [
        "tool.started",
        "tool.completed" if outcome.ok else "tool.failed",
    ]
    return outcome


DATA: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (3, 3),
    (2.5, 2.5),
    ([1, "a", None], [1, "a", None]),
    ((1, 2), [1, 2]),
    ({1}, [1]),
    (frozenset(), []),
    ({"a": {"b": 1}}, {"a": {"b": 1}}),
    ({1: "one"}, {"1": "one"}),
    (Person(name="Ada", born=date(1815, 12, 10)), {"name": "Ada", "birthday": "1815-12-10"}),
    (Point(1, 2), {"x": 1, "y": 2}),
    (Row(id=7), {"id": 7}),
    ([Point(1, 2), Person(name="Bo")], [{"x": 1, "y": 2}, {"name": "Bo", "birthday": None}]),
    (datetime(2026, 1, 2, 3, 4, tzinfo=UTC), "2026-01-02T03:04:00Z"),
    (Decimal("1.50"), "1.50"),
    (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    (Color.RED, "red"),
    (b"bytes that are text", "bytes that are text"),
    ({"error": None}, {"error": None}),
    ({"error": ""}, {"error": ""}),
    ({"success": True, "rows": [1]}, {"success": True, "rows": [1]}),
    ({"output": "no title, so no envelope"}, {"output": "no title, so no envelope"}),
]


@pytest.mark.req("TR-01", "TR-02", "TR-09", "TR-10", "TR-11", "TR-14")
@pytest.mark.parametrize(("value", "data"), DATA)
async def test_a_bare_value_is_a_success_that_every_audience_reads(value: Any, data: Any) -> None:
    outcome = await called(giving(value))
    assert outcome.status == "completed" and outcome.result.success is True and outcome.code is None
    assert outcome.result.data == data
    assert json.loads(outcome.to_model()) == data
    assert outcome.to_mcp().get("structuredContent") == data and outcome.to_mcp()["isError"] is False
    content, artifact = outcome.to_langchain()
    assert content == outcome.to_model() and artifact["data"] == data
    assert outcome.result.to_worker().get("data") == data and outcome.result.to_worker()["success"] is True
    legacy = outcome.to_legacy_run()
    assert set(legacy) == {"output", "error", "durationMs", "runId"}
    assert (legacy["output"], legacy["error"], legacy["runId"]) == (data, None, outcome.run_id)
    assert outcome.result.to_response() == ToolResponse(True, data)


@pytest.mark.req("TR-09", "TR-10")
@pytest.mark.parametrize("output", [None, str])
@pytest.mark.parametrize("text", ["plain", "", '"quoted"', "ünï 🙂", "a\nb", Word.YES])
async def test_text_reaches_the_model_unchanged(text: str, output: Any) -> None:
    outcome = await called(giving(text, output))
    assert outcome.to_model() == text.__str__()
    assert outcome.result.data == text and outcome.to_legacy_run()["output"] == text


FAILURES = [
    (giving({"error": "boom"}), "boom", "TOOL_FAILED"),
    (giving({"error": "boom", "code": "NO_ROOM"}), "boom", "NO_ROOM"),
    (giving({"success": False, "error": "boom"}), "boom", "TOOL_FAILED"),
    (giving({"success": False, "summary": "It went wrong"}), "Unknown error", "TOOL_FAILED"),
    (giving({"success": False, "error": {"why": 1}}), '{"why":1}', "TOOL_FAILED"),
    (giving(MappingProxyType({"error": "boom"})), "boom", "TOOL_FAILED"),
    (giving({"error": "boom"}, dict[str, Any]), "boom", "TOOL_FAILED"),
    (giving({"error": "boom"}, Person), "boom", "TOOL_FAILED"),
    (giving(Result.fail("boom")), "boom", "TOOL_FAILED"),
    (giving(Result(success=False)), "Unknown error", "TOOL_FAILED"),
    (giving(ToolResponse(False, error="boom")), "boom", "TOOL_FAILED"),
    (raising(ValueError("boom")), "boom", "TOOL_FAILED"),
    (raising(ToolError("boom", code="NO_ROOM")), "boom", "NO_ROOM"),
    (raising(ValueError()), "Unknown error", "TOOL_FAILED"),
]


@pytest.mark.req("TR-06", "TR-11", "TR-12", "TR-13", "TR-18")
@pytest.mark.parametrize(("tool", "error", "code"), FAILURES)
async def test_a_failure_is_told_to_every_audience(tool: Tool, error: str, code: str) -> None:
    outcome = await called(tool)
    assert outcome.status == "failed" and outcome.result.success is False
    assert (outcome.result.error, outcome.code) == (error, code)
    assert json.loads(outcome.to_model()) == {"error": error, "code": code}
    mcp = outcome.to_mcp()
    assert mcp["isError"] is True and "structuredContent" not in mcp
    assert outcome.to_langchain()[1]["error"] == error
    assert outcome.result.to_worker()["error"] == (error if code == "TOOL_FAILED" else code)
    assert outcome.to_legacy_run()["error"] == error and outcome.to_legacy_run()["output"] is None
    assert outcome.result.to_response() == ToolResponse(False, None, error)


@pytest.mark.req("TR-13")
async def test_what_is_said_beside_an_error_reaches_the_model_too() -> None:
    outcome = await called(giving({"error": "no such city", "known": ["Basel", "Bern"]}))
    assert outcome.result.data == {"known": ["Basel", "Bern"]}
    assert json.loads(outcome.to_model())["data"] == {"known": ["Basel", "Bern"]}
    outcome = await called(giving({"success": False, "summary": "No city", "known": []}))
    assert (outcome.status, outcome.result.data) == ("failed", {"known": []})


@pytest.mark.req("TR-11")
async def test_a_typed_error_counts_like_one_in_a_dict() -> None:
    class Found(BaseModel):
        rows: list[int] = []
        error: str | None = None

    for output in (None, Found):
        outcome = await called(giving(Found(error="the database is down"), output))
        assert (outcome.status, outcome.result.error) == ("failed", "the database is down")
        outcome = await called(giving(Found(rows=[1]), output))
        assert (outcome.status, outcome.result.data) == ("completed", {"rows": [1], "error": None})


@pytest.mark.req("TR-11")
async def test_an_error_beside_an_explicit_success_is_no_failure() -> None:
    outcome = await called(giving({"success": True, "summary": "Looked", "error": "one line was skipped"}))
    assert outcome.status == "completed" and outcome.result.error == "one line was skipped"


@pytest.mark.req("TR-01", "TR-03", "TR-04", "TR-05")
@pytest.mark.parametrize("output", [None, dict, dict[str, Any]])
async def test_the_workers_envelope_is_taken_as_it_is(output: Any) -> None:
    value = {"success": True, "summary": "2 found", "data": [1, 2], "markdown": "| 1 | 2 |"}
    outcome = await called(giving(value, output))
    assert outcome.result.to_worker() == value
    assert outcome.to_model() == "| 1 | 2 |\n[1,2]"
    assert outcome.result.to_ui() == "2 found"


@pytest.mark.req("TR-08", "TR-20")
async def test_title_metadata_output_and_attachments_are_taken_as_they_are() -> None:
    value = {
        "title": "Read 2 files",
        "metadata": {"count": 2, "when": date(2026, 1, 2)},
        "output": "one\ntwo",
        "attachments": [
            {"type": "file", "mime": "image/png", "filename": "a.png", "data": "AQI="},
            {"mimeType": "text/plain", "name": "b.txt", "url": "https://example.org/b.txt"},
            Attachment("audio/wav", "c.wav", b"\x03"),
        ],
    }
    outcome = await called(giving(value))
    result = outcome.result
    assert (result.to_ui(), outcome.to_model()) == ("Read 2 files", "one\ntwo")
    assert result.metadata == {"count": 2, "when": "2026-01-02"}
    assert result.attachments == (
        Attachment("image/png", "a.png", b"\x01\x02"),
        Attachment("text/plain", "b.txt", ref="https://example.org/b.txt"),
        Attachment("audio/wav", "c.wav", b"\x03"),
    )


@pytest.mark.req("TR-01", "TR-15")
async def test_a_schema_that_claims_the_words_of_an_envelope_keeps_them_as_data() -> None:
    class Check(BaseModel):
        success: bool
        summary: str

    for output in (Check, Check | Point):
        outcome = await called(giving({"success": True, "summary": "fine"}, output))
        assert outcome.result.data == {"success": True, "summary": "fine"}


@pytest.mark.req("TR-01")
@pytest.mark.parametrize(
    "value",
    [
        {"success": True, "summary": 5, "metadata": None, "attachments": None},
        {"title": None, "output": {"rows": [1]}, "metadata": {"a": float("nan")}},
        Result(output="\ud800", metadata={"set": {1}}),
    ],
)
async def test_a_sloppy_envelope_is_put_in_order(value: Any) -> None:
    outcome = await called(giving(value))
    assert outcome.status == "completed"
    assert all(isinstance(text, str) for text in (outcome.to_model(), outcome.result.to_ui()))


class Broken(BaseModel):
    @model_serializer
    def dump(self) -> Mapping[str, Any]:
        raise KeyError("nobody expects this")


endless: list[Any] = []
endless.append(endless)
deep: list[Any] = []
for _ in range(100_000):
    deep = [deep]


def numbers() -> Any:
    yield 1


async def later() -> Any:
    yield 1


@pytest.mark.req("TR-12", "TR-19")
@pytest.mark.parametrize(
    ("value", "clue"),
    [
        (Unwritable(), "Unwritable"),
        ([{"a": Unwritable()}], "Unwritable"),
        (b"\xff\xfe", "utf-8"),
        (endless, "Circular"),
        (deep, "depth"),
        (numbers(), "generator"),
        (map(str, [1]), "generator"),
        (later(), "generator"),
        (Broken(), "nobody expects this"),
        (Result(data=Unwritable()), "Unwritable"),
        (Result(metadata={"a": Unwritable()}), "Unwritable"),
        ({"error": "boom", "more": Unwritable()}, "Unwritable"),
        ({"title": "t", "output": "o", "attachments": [7]}, "attachment"),
        ({"title": "t", "output": "o", "attachments": [{"name": "a", "data": "no base64!"}]}, "base64"),
        ({"title": "t", "output": "o", "metadata": 5}, "int"),
    ],
)
async def test_what_json_cannot_carry_is_rejected_with_a_clear_marker(value: Any, clue: str) -> None:
    outcome = await called(giving(value))
    assert (outcome.status, outcome.code) == ("failed", "INVALID_OUTPUT")
    assert outcome.result.error is not None and clue.lower() in outcome.result.error.lower()
    assert "t.give" in outcome.to_model() and "tell its author" in outcome.to_model()
    assert outcome.result.data is None


@pytest.mark.req("TR-09", "TR-19")
@pytest.mark.parametrize("output", [None, int])
async def test_a_model_can_read_a_number_of_any_size(output: Any) -> None:
    outcome = await called(giving(10**4000, output))
    assert outcome.to_model() == f"1{'0' * 4000}"
    assert Result(data={"n": 10**5000}).to_model() == f'{{"n":1{"0" * 5000}}}'


@pytest.mark.req("TR-19")
async def test_numbers_that_are_none_become_null_where_nothing_else_was_promised() -> None:
    assert (await called(giving(float("nan")))).result.data is None
    assert (await called(giving({"a": [float("inf")]}))).result.data == {"a": [None]}
    assert (await called(giving({"error": "x", "data": float("nan")}))).result.data is None


@pytest.mark.req("TR-19")
@pytest.mark.parametrize("output", [None, dict[str, str]])
async def test_half_a_character_is_marked_and_breaks_nothing(output: Any) -> None:
    outcome = await called(giving({"name": "caf\udce9.txt", "face": "\ud83d\ude42"}, output))
    assert outcome.result.data == {"name": "caf\ufffd.txt", "face": "🙂"}
    assert (await called(giving({"\ud800": [1]}))).result.data == {"\ufffd": [1]}
    assert (await called(giving("\udce9", output and str))).to_model() == "\ufffd"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.req("TR-10", "TR-15")
@given(json_values)
async def test_any_json_value_comes_out_as_it_went_in(value: Any) -> None:
    outcome = await called(giving(value))
    if outcome.ok:
        assert outcome.to_mcp().get("structuredContent") == value
        assert isinstance(value, str) or json.loads(outcome.to_model()) == value
    else:
        assert isinstance(value, dict) and value["error"]
