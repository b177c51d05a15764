"""A call over a bridge is the library's call: the same verdict, code, events and words."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_ai import DeferredToolRequests

from handrail import Handrail, Outcome, Policy, Principal, Result, tool
from tests.harness.bridge_calls import BRIDGES, answer_text

AGENT = Principal("acme", "ana", agent="ops")


@tool("data.find", level="read")
async def find(query: str, limit: int = 10) -> dict[str, Any]:
    """Find records."""
    return {"query": query, "limit": limit}


@tool("data.break", level="read")
async def fail() -> Result:
    """Fail."""
    return Result.fail("The disk is gone", code="TOOL_FAILED", data={"disk": 1})


@tool("data.wipe", level="destructive")
async def wipe(what: str) -> str:
    """Wipe something."""
    return f"{what} is gone"


@tool("data.long", level="read")
async def long() -> str:
    """Say much."""
    return "x" * 100_000


@tool("data.odd", level="read")
async def odd(config: str, callbacks: str, run_manager: str, input: str) -> list[str]:
    """Take parameters whose names are those of frameworks."""
    return [config, callbacks, run_manager, input]


@tool("data.secret", level="read", tenants=["globex"])
async def hidden() -> str:
    """Never seen."""
    return "hidden"


@tool("data.forbidden", level="read")
async def forbidden() -> str:
    """Never run."""
    return "forbidden"


TOOLS = [find, fail, wipe, long, odd, hidden, forbidden]
CALLS: list[tuple[str, Any]] = [
    ("data__find", {"query": "x"}),
    ("data__find", {"query": "x", "limit": "7"}),
    ("data__find", {}),
    ("data__find", {"query": "x", "limt": 3}),
    ("data__find", {"query": ["no"], "limit": {}}),
    ("data__break", {}),
    ("data__long", {}),
    ("data__wipe", {"what": "all"}),
    ("data__odd", {"config": "a", "callbacks": "b", "run_manager": "c", "input": "d"}),
]
UNKNOWN: list[tuple[str, Any]] = [("data__none", {"a": 1}), ("data__secret", {}), ("", {})]
MALFORMED: list[tuple[str, Any]] = [
    ("data__find", '{"query": "x"'),
    ("data__find", "[1, 2]"),
    ("data__find", '{"query": NaN}'),
    ("data__find", "[" * 2_000),
]


def handrail() -> Handrail:
    return Handrail(TOOLS, policy=Policy(deny=["data.forbidden"]))


def facts(outcome: Outcome, hr: Handrail) -> tuple[Any, ...]:
    """What must be the same, without the ids of calls and approvals."""
    error = outcome.result.error
    if outcome.approval_id is not None:
        assert error is not None
        error = error.replace(outcome.approval_id, "ID")
    events = [
        (one.kind, one.tool, getattr(one, "args", None), getattr(one, "repairs", None))
        for one in hr.log.read("acme")
    ]
    decided = outcome.decision and (outcome.decision.verdict, outcome.decision.layer)
    told = (outcome.status, outcome.code, outcome.tool, outcome.result.data, error, outcome.repairs)
    return *told, decided, events


async def in_the_library(name: str, args: Any) -> tuple[tuple[Any, ...], Outcome]:
    async with handrail() as hr:
        outcome = await hr.call(name, args, principal=AGENT)
        return facts(outcome, hr), outcome


@pytest.mark.req("BY-01", "AB-09")
@pytest.mark.parametrize("bridge", BRIDGES)
@pytest.mark.parametrize(("name", "args"), CALLS, ids=str)
async def test_a_call_ends_as_in_the_library_and_the_model_reads_the_same(
    bridge: str, name: str, args: Any
) -> None:
    expected, plain = await in_the_library(name, args)
    async with handrail() as hr:
        outcome, answer = await BRIDGES[bridge](hr, AGENT, name, args)
        assert facts(outcome, hr) == expected
        if isinstance(answer, DeferredToolRequests):
            assert plain.status == "pending"
            assert answer.metadata["call_1"]["approval_id"] == outcome.approval_id
        else:
            same = plain.to_model().replace(plain.call_id, outcome.call_id)
            if plain.approval_id is not None:
                same = same.replace(plain.approval_id, str(outcome.approval_id))
            assert answer_text(answer) == same


@pytest.mark.req("BY-01", "AB-06", "AB-09")
@pytest.mark.parametrize("bridge", [one for one in BRIDGES if one != "pydantic-ai"])
@pytest.mark.parametrize(("name", "args"), UNKNOWN, ids=str)
async def test_what_is_unknown_and_what_is_hidden_is_not_found(bridge: str, name: str, args: Any) -> None:
    expected, _ = await in_the_library(name, args)
    async with handrail() as hr:
        outcome, answer = await BRIDGES[bridge](hr, AGENT, name, args)
        assert facts(outcome, hr) == expected
        assert outcome.code == "TOOL_NOT_FOUND" and "TOOL_NOT_FOUND" in answer_text(answer)


@pytest.mark.req("BY-01", "AB-06")
@pytest.mark.parametrize("bridge", [one for one in BRIDGES if one != "pydantic-ai"])
async def test_what_a_list_forbids_is_not_permitted(bridge: str) -> None:
    expected, _ = await in_the_library("data__forbidden", {})
    async with handrail() as hr:
        outcome, answer = await BRIDGES[bridge](hr, AGENT, "data__forbidden", {})
        assert facts(outcome, hr) == expected
        assert outcome.code == "NOT_PERMITTED" and "NOT_PERMITTED" in answer_text(answer)


@pytest.mark.req("BY-01", "AB-09")
@pytest.mark.parametrize("bridge", BRIDGES)
@pytest.mark.parametrize(("name", "args"), MALFORMED, ids=lambda one: str(one)[:20])
async def test_arguments_that_are_no_object_go_to_the_guard_as_they_are(
    bridge: str, name: str, args: Any
) -> None:
    expected, _ = await in_the_library(name, args)
    async with handrail() as hr:
        outcome, answer = await BRIDGES[bridge](hr, AGENT, name, args)
        assert facts(outcome, hr) == expected
        assert outcome.code == "INVALID_PARAM" and "INVALID_PARAM" in answer_text(answer)
