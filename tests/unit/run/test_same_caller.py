"""Whose an earlier call is: one definition of "the same caller", for results, undo, replays and keys."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, tool
from handrail.core.errors import ToolError
from handrail.core.guard.idempotency import key_id

FREE = Policy(approval_mode="danger")
SERVICE = Principal("acme", permissions={"*"}, key="service", key_id="key_1")
OTHER_SERVICE = Principal("acme", permissions={"*"}, key="service", key_id="key_2")
SAME = [
    (SERVICE, Principal("acme", permissions={"a"}, key="service", key_id="key_1"), "the same key"),
    (Principal("acme", "ana"), Principal("acme", "ana", roles={"admin"}, key_id="key_3"), "the same person"),
    (Principal("acme", agent="ops"), Principal("acme", agent="ops", permissions={"a"}), "the same agent"),
]
OTHERS = [
    (SERVICE, OTHER_SERVICE, "another key"),
    (SERVICE, Principal("other", permissions={"*"}, key="service", key_id="key_1"), "another tenant"),
    (Principal("acme", "ana"), Principal("acme", "ana", agent="ops"), "an agent of hers"),
    (Principal("acme", "ana"), Principal("acme", "bo"), "another person"),
    (
        Principal("acme", permissions={"a"}),
        Principal("acme", permissions={"b"}),
        "nameless, with other rights",
    ),
    (Principal("acme", "ana"), Principal("acme", "ana", workspace="w"), "another workspace"),
]


@tool(
    "note.write", level="write", danger="safe", undo=lambda args, data: ("note.remove", {"text": args.text})
)
async def write(text: str) -> str:
    """Write a note."""
    return f"secret of {text}"


@tool("note.remove", level="write", danger="safe")
async def remove(text: str) -> str:
    """Remove a note."""
    return "gone"


@pytest.mark.parametrize(("one", "other", "why"), SAME)
def test_one_caller_stays_the_same_whatever_it_may_do(one: Principal, other: Principal, why: str) -> None:
    assert one.caller == other.caller, why
    assert key_id(one, "k") == key_id(other, "k"), why


@pytest.mark.parametrize(("one", "other", "why"), OTHERS)
def test_callers_are_told_apart(one: Principal, other: Principal, why: str) -> None:
    assert one.caller != other.caller, why


@pytest.mark.req("BY-12")
@pytest.mark.parametrize(("one", "other", "why"), OTHERS[:4])
def test_idempotency_keys_of_two_callers_never_meet(one: Principal, other: Principal, why: str) -> None:
    assert key_id(one, "k") != key_id(other, "k"), why


async def test_one_nameless_key_neither_reads_nor_undoes_the_call_of_another() -> None:
    async with Handrail([write, remove], policy=FREE) as hr:
        out = await hr.call("note.write", {"text": "a"}, principal=SERVICE)
        attempts: list[Any] = [
            hr.read_result(out.call_id, OTHER_SERVICE),
            hr.undo(out.call_id, principal=OTHER_SERVICE),
        ]
        for attempt in attempts:
            with pytest.raises(ToolError, match="There is no"):
                await attempt
        assert "secret of a" in await hr.read_result(out.call_id, SERVICE)
        undone = await hr.undo(out.call_id, principal=SERVICE)
        assert undone.outcome is not None and undone.outcome.ok
