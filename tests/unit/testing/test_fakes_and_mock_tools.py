"""Doubles for tests: a tool that remembers, a registry that records, a clock to turn, a scripted reviewer."""

from __future__ import annotations

import datetime as dt
import os
import threading
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from handrail import BaseTool, Context, Handrail, Policy, Principal, ToolError, define, tool
from handrail.ext.errors import UsageError
from handrail.ext.guard import approve, reject, respond
from handrail.sync import Handrail as SyncHandrail
from handrail.testing import FakeClock, ScriptedApprover, capture_tool, in_turn, mock_tool_registry

AGENT = Principal(tenant="acme", user="ana", agent="ops")


@tool("stock.count", level="read")
async def count_stock(item: str, day: dt.date = dt.date(2026, 5, 1), copy: bool = False) -> int:
    """Say how many pieces of an item are in stock."""
    return 9


@tool("stock.order", level="write", aliases=["order"])
def order_stock(item: str, pieces: int, *, ctx: Context) -> str:
    """Order pieces of an item."""
    return f"{pieces} x {item} ordered in {threading.current_thread().name}"


@pytest.mark.req("RG-17", "CF-05")
async def test_a_captured_tool_remembers_arguments_and_context() -> None:
    captured = capture_tool("mail.send", "sent")

    async with Handrail([captured]) as hr:
        out = await hr.call("mail.send", {"to": "bo"}, principal=AGENT, session="s1")

    assert out.result.data == "sent"
    assert captured.last is captured.calls[0]
    assert (captured.last.tool, captured.last.args) == ("mail.send", {"to": "bo"})
    assert (captured.last.ctx.session_id, captured.last.principal) == ("s1", AGENT)


@pytest.mark.req("RG-17", "CF-05")
async def test_a_captured_tool_answers_what_it_is_told() -> None:
    captured = capture_tool(answer=lambda args: args["n"] * 2)
    told: list[Any] = []

    async with Handrail([captured]) as hr:
        for answer in (captured.answer, ToolError("busy", code="BUSY"), in_turn(1, ValueError("no"), 3)):
            captured.answer = answer
            told += [await hr.call("capture", {"n": 4}) for _ in range(3)]

    assert [out.result.data for out in told] == [8, 8, 8, None, None, None, 1, None, 3]
    assert [out.code for out in told[3:]] == ["BUSY"] * 3 + [None, "TOOL_FAILED", None]


@pytest.mark.req("RG-17")
async def test_answers_in_turn_end_and_say_so() -> None:
    captured = capture_tool(answer=in_turn("once"))
    async with Handrail([captured]) as hr:
        outcomes = [await hr.call("capture") for _ in range(2)]

    assert outcomes[0].ok
    assert "called again after all its answers were given (1)" in (outcomes[1].result.error or "")


@pytest.mark.req("RG-17")
async def test_a_captured_tool_has_the_options_of_any_tool() -> None:
    class Mail(BaseModel):
        to: str
        urgent: bool = False

    captured = capture_tool(
        "mail.send", input=Mail, level="write", requires="mail.send", output=int, answer="x"
    )
    holder = Principal(tenant="acme", user="ana", permissions=["mail.send"])
    async with Handrail([captured], policy=Policy(approval_mode="policy")) as hr:
        invalid = await hr.call("mail.send", {"to": 1, "x": 2}, principal=holder)
        refused = await hr.call("mail.send", {"to": "bo"}, principal=AGENT)
        out = await hr.call("mail.send", {"to": "bo"}, principal=holder)

    assert (invalid.code, refused.code, out.code) == ("INVALID_PARAM", "NOT_PERMITTED", "INVALID_OUTPUT")
    assert [one.args for one in captured.calls] == [{"to": "bo", "urgent": False}]


def test_a_captured_tool_that_was_not_called_says_so() -> None:
    with pytest.raises(AssertionError, match=r"mail\.send was not called"):
        capture_tool("mail.send").last


@pytest.mark.req("RG-17", "CF-05")
async def test_a_mock_registry_records_calls_and_answers_in_place_of_bodies() -> None:
    registry = mock_tool_registry([count_stock, order_stock], {"stock.count": 3})

    async with Handrail(registry=registry, policy=Policy(approval_mode="policy")) as hr:
        counted = await hr.call("stock.count", {"item": "bolt", "copy": "true"}, principal=AGENT)
        ordered = await hr.call("order", {"item": "bolt", "pieces": 2}, principal=AGENT)

    assert counted.result.data == 3
    assert ordered.result.data.startswith("2 x bolt ordered in handrail")
    assert [(one.tool, one.args) for one in registry.calls] == [
        ("stock.count", {"item": "bolt", "day": dt.date(2026, 5, 1), "copy": True}),
        ("stock.order", {"item": "bolt", "pieces": 2}),
    ]
    assert registry.calls_of("order")[0].principal == AGENT and registry.calls_of("other") == []


@pytest.mark.req("RG-17")
async def test_a_mock_registry_still_validates_and_guards() -> None:
    registry = mock_tool_registry([count_stock, order_stock], {"stock.count": "many", "order": "ordered"})

    async with Handrail(registry=registry) as hr:
        invalid = await hr.call("stock.count", {"item": "bolt", "copy": "perhaps"}, principal=AGENT)
        asked = await hr.call("stock.order", {"item": "bolt", "pieces": 2}, principal=AGENT)
        before = list(registry.calls)
        broken = await hr.call("stock.count", {"item": "bolt"}, principal=AGENT)

    assert (invalid.code, asked.code, before) == ("INVALID_PARAM", "NEEDS_APPROVAL", [])
    assert broken.code == "INVALID_OUTPUT"


@pytest.mark.req("RG-17")
async def test_an_answer_can_be_a_failure_a_function_or_change() -> None:
    registry = mock_tool_registry([count_stock])
    registry.answer("stock-count", in_turn(ToolError("busy", code="BUSY"), lambda args: len(args["item"])))

    async def later(args: Any) -> int:
        return 7

    async with Handrail(registry=registry) as hr:
        outcomes = [await hr.call("stock.count", {"item": "bolt"}) for _ in range(2)]
        registry.answer("stock.count", later)
        outcomes.append(await hr.call("stock.count", {"item": "bolt"}))

    assert [(out.code, out.result.data) for out in outcomes] == [("BUSY", None), (None, 4), (None, 7)]


@pytest.mark.req("RG-17")
def test_an_answer_for_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'stock\.cuont', but this registry has stock\.count"):
        mock_tool_registry([count_stock], {"stock.cuont": 1})


def render() -> int:
    """Render in a process of its own."""
    return os.getpid()


@pytest.mark.req("RG-17")
async def test_a_mock_registry_takes_whatever_handrail_takes() -> None:
    class Delete(BaseTool):
        """Delete a note."""

        id = "notes.delete"
        level = "read"

        def execute(self, title: str) -> str:
            return title

    late = define(
        "notes.late", lambda init: {"description": "Late.", "level": "read", "execute": lambda args: 1}
    )
    module = ModuleType("mine")
    module.render = tool("notes.render", level="read", isolation="process")(render)  # type: ignore[attr-defined]
    registry = mock_tool_registry([Delete, late, module], {"notes.late": 2})

    async with Handrail(registry=registry) as hr:
        deleted = await hr.call("notes.delete", {"title": "Milk"})
        first = await hr.call("notes.late")
        rendered = await hr.call("notes.render")

    assert (deleted.result.data, first.result.data, rendered.result.data) == ("Milk", 2, os.getpid())
    assert [one.tool for one in registry.calls] == ["notes.delete", "notes.late", "notes.render"]


@pytest.mark.req("RG-17")
def test_doubles_work_in_a_test_that_does_not_await() -> None:
    registry = mock_tool_registry([order_stock], {"order": "ordered"})
    reviewer = ScriptedApprover(True)

    with SyncHandrail(registry=registry, approver=reviewer) as hr:
        out = hr.call("stock.order", {"item": "bolt", "pieces": 2}, principal=AGENT)

    assert (out.result.data, len(registry.calls), len(reviewer.requests)) == ("ordered", 1, 1)


@pytest.mark.req("RG-17", "CF-05")
async def test_a_scripted_approver_answers_in_order_and_keeps_the_questions() -> None:
    reviewer = ScriptedApprover(
        True, False, reject("not now"), approve(edits={"item": "nut", "pieces": 1}), respond("later"), None
    )
    registry = mock_tool_registry([order_stock])
    outcomes = []
    async with Handrail(registry=registry, approver=reviewer) as hr:
        for pieces in range(6):
            args = {"item": "bolt", "pieces": pieces}
            outcomes.append(await hr.call("stock.order", args, principal=AGENT))

    assert [out.status for out in outcomes] == [
        *("completed", "refused", "refused", "completed", "completed", "pending")
    ]
    assert [request.args["pieces"] for request in reviewer.requests] == list(range(6))
    assert [one.args["item"] for one in registry.calls] == ["bolt", "nut"]
    assert reviewer.left == []


@pytest.mark.req("RG-17")
async def test_a_scripted_approver_fails_on_a_question_too_many(caplog: pytest.LogCaptureFixture) -> None:
    async with Handrail([order_stock], approver=ScriptedApprover(True)) as hr:
        args = {"item": "bolt", "pieces": 1}
        outcomes = [await hr.call("stock.order", args, principal=AGENT) for _ in range(2)]

    assert [out.code for out in outcomes] == [None, "APPROVER_FAILED"]
    assert "no answer is scripted for question 2, stock.order" in (outcomes[1].result.error or "")


@pytest.mark.req("RG-17")
async def test_a_scripted_approver_can_go_on_for_ever_raise_or_decide() -> None:
    reviewer = ScriptedApprover(OSError("away"), lambda request: request.args["pieces"] < 9, always=False)
    async with Handrail([order_stock], approver=reviewer) as hr:
        args = {"item": "bolt", "pieces": 1}
        outcomes = [await hr.call("stock.order", args, principal=AGENT) for _ in range(4)]

    assert [out.code for out in outcomes] == ["APPROVER_FAILED", None, "REJECTED", "REJECTED"]


@pytest.mark.req("CF-05", "AP-08")
async def test_time_passes_only_when_the_clock_is_turned() -> None:
    clock = FakeClock(500.0)
    async with Handrail([order_stock], clock=clock, approval_lifetime=60) as hr:
        await hr.call("stock.order", {"item": "bolt", "pieces": 1}, principal=AGENT)
        [request] = await hr.approvals.list(AGENT)
        assert clock.turn(59) == 559.0
        assert len(await hr.approvals.list(AGENT)) == 1
        clock.turn(1)
        assert await hr.approvals.list(AGENT) == []

    assert (request.created_at, request.expires_at) == (500.0, 560.0)


async def test_a_turned_clock_measures_what_it_was_turned() -> None:
    clock = FakeClock()

    @tool("wait", level="read")
    async def wait() -> float:
        """Wait."""
        return clock.turn(2.5)

    async with Handrail([wait], clock=clock) as hr:
        out = await hr.call("wait")

    assert (out.result.data, out.duration_ms) == (1002.5, 2500.0)


def test_a_clock_does_not_go_back() -> None:
    with pytest.raises(UsageError, match="only goes forward"):
        FakeClock().turn(-1)
