"""Descriptions that are short, and say what a tool does."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Tool
from tests.unit.conformance.conformant_tool import LIMIT, findings, good, schema

RANGES = ("description-length", "description-limit")
FIRST = "Not for single ones. Use data.search first."


def described(count: int, **options: Any) -> Tool:
    """A tool whose description has so many tokens."""
    return good(description=" ".join(["word"] * (count - 1)) + ".", guidance=FIRST, **options)


def with_parameters(count: int) -> dict[str, Any]:
    return schema(**{f"p{number}": LIMIT for number in range(count)})


@pytest.mark.req("DS-01", "DS-05")
@pytest.mark.parametrize(
    ("options", "least", "most"),
    [
        ({"level": "read"}, 10, 20),
        ({"level": "draft"}, 10, 20),
        ({"level": "read", "input": with_parameters(3)}, 10, 20),
        ({"level": "read", "input": with_parameters(4)}, 10, 40),
        ({"level": "read", "danger": "moderate"}, 10, 40),
        ({"level": "write"}, 10, 40),
        ({"level": "read", "input": with_parameters(8)}, 10, 40),
        ({"level": "read", "input": with_parameters(9)}, 25, 40),
        ({"level": "read", "input": schema(part=with_parameters(8) | {"description": "A part."})}, 25, 40),
        ({"level": "destructive"}, 25, 40),
        ({"level": "read", "danger": "dangerous"}, 25, 40),
        ({"level": None, "danger": lambda args: "safe"}, 25, 40),
    ],
)
def test_a_description_is_as_long_as_the_tool_deserves(
    options: dict[str, Any], least: int, most: int
) -> None:
    fitting = [count for count in range(2, 45) if not findings(described(count, **options), *RANGES)]

    assert fitting == list(range(least, most + 1))


@pytest.mark.req("DS-01")
def test_more_than_forty_tokens_are_an_error_and_told_once() -> None:
    for options in ({"level": "read"}, {"level": "write"}, {"level": "destructive"}):
        [finding] = findings(described(41, **options), *RANGES)
        assert (finding.rule, finding.level) == ("description-limit", "error")
        assert finding.message == "its description has 41 tokens; lists and menus hold 40"


@pytest.mark.req("DS-01")
@pytest.mark.parametrize(
    ("level", "text", "is_found"),
    [
        ("read", "Search the records of a region, newest first.", False),
        ("read", "Search the records of a region. The newest come first.", True),
        ("write", "Change the status of a record. It must be active beforehand.", False),
        ("write", "Change the status of a record. It must be active. Nobody is told of it.", True),
    ],
)
def test_a_simple_tool_is_told_in_one_sentence_and_another_in_two(
    level: str, text: str, is_found: bool
) -> None:
    told = findings(good(level=level, description=text, guidance=FIRST))

    assert [(one.rule, one.level) for one in told] == [("description-sentence", "warning")] * is_found


@pytest.mark.req("DS-02", "DS-05")
@pytest.mark.parametrize(
    "text",
    [
        "Search records of a region, as in search(region='north').",
        "Search records ```search()``` of a region, newest of them first.",
        'Search the records of a region, such as {"region": "north"}.',
        "Search the records of a region >>> with all their parts.",
        "Map records (row => cell) of a region, newest of all first.",
        "Search records of a region in <b>bold</b> for all of us.",
    ],
)
def test_code_in_a_description_is_found(text: str) -> None:
    assert [(one.rule, one.level) for one in findings(good(description=text))] == [
        ("description-code", "warning")
    ]


@pytest.mark.req("DS-02", "DS-05")
@pytest.mark.parametrize(
    "text",
    [
        "Search records and return a JSON object for each of them.",
        "Search records of a region; returns an array of hits.",
        "Search records; returns a dict with id, name and status.",
        "Search records; the response: name, status, score of each one.",
        "Search records and return the fields that were asked for by somebody.",
    ],
)
def test_the_layout_of_a_response_in_a_description_is_found(text: str) -> None:
    assert [(one.rule, one.level) for one in findings(good(description=text))] == [
        ("description-layout", "warning")
    ]


@pytest.mark.req("DS-02", "DS-05")
@pytest.mark.parametrize(
    "text",
    [
        "Search the records of a region. limit: how many at most.",
        "Search the records of a region, `limit` of them, newest first.",
        "Search the records of a region; limit (integer) is how many.",
        "Search the records of a region, with limit=10 for ten.",
        "Search the records of a region, at most pageSize of them.",
        "Search the records of a region. Parameters: the most to give.",
        "Search the records of a region; the limit parameter bounds them.",
    ],
)
def test_the_documentation_of_a_parameter_in_a_description_is_found(text: str) -> None:
    made = good(description=text, input=schema(limit=LIMIT, pageSize=LIMIT))

    told = findings(made, "description-parameters")

    assert [(one.rule, one.level) for one in told] == [("description-parameters", "warning")]


@pytest.mark.req("DS-02")
@pytest.mark.parametrize(
    "text",
    [
        "Search records (active or pending) of a region, up to a limit.",
        "Return the JSON document(s) of a region, newest of them first.",
        "List the keys of an object that was stored by the user.",
        "Say what an order returned by the customer was worth, in EUR.",
        "Give the output of a build, newest lines of it first.",
        "Check that the limit of a region is not yet reached.",
        "Run the unit tests (all of them) and say what failed.",
        "Ask a person a question and give back what they say.",
        "Extract fields from a document with the template of the region.",
    ],
)
def test_plain_words_are_neither_code_nor_layout_nor_detail(text: str) -> None:
    assert findings(good(description=text)) == []


@pytest.mark.req("DS-04", "DS-05")
@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("description", "A powerful way to search the records of a region."),
        ("description", "Search the records of a region, seamlessly and lightning fast."),
        ("guidance", "Our state-of-the-art search. Use it when you need records."),
        ("guidance", "Empowers agents."),
    ],
)
def test_praise_is_found(where: str, text: str) -> None:
    assert [(one.rule, one.level) for one in findings(good(**{where: text}))] == [("marketing", "warning")]
