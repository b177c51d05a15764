"""How often the guard is asked about a call over MCP: once, as for any other call."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult

from handrail import Handrail, Principal, tool
from handrail.core.define.decision import Step
from handrail.core.define.tool import Tool
from tests.contract.mcp.server import MODERN, met
from tests.contract.mcp.shop_tools import ANA

pytestmark = [pytest.mark.req("MC-09")]


class CountedDecisions:
    """A safety check that says what it was told to, and remembers each time that it was asked."""

    def __init__(self, verdict: Any) -> None:
        self.verdict = verdict
        self.decided: list[str] = []

    def __call__(self, tool: Tool, args: Any, principal: Principal) -> Step | None:
        self.decided.append(tool.id)
        return None if self.verdict == "allow" else Step("safety", self.verdict, "because of the test")


@tool("stock.count", level="read")
async def count(name: str) -> str:
    """Count what there is."""
    return f"counted {name}"


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
@pytest.mark.parametrize(
    ("verdict", "answer"),
    [("allow", "counted nuts"), ("ask", "It waits for a person"), ("deny", "because of the test")],
)
async def test_a_call_is_decided_exactly_once(verdict: str, answer: str, mode: str) -> None:
    check = CountedDecisions(verdict)
    async with Handrail([count], safety=[check]) as hr, met(hr, "ana-key", mode, hold=0.05) as client:
        await client.list_tools()
        check.decided.clear()
        result = await client.session.call_tool("stock__count", {"name": "nuts"}, allow_input_required=True)
        assert check.decided == ["stock.count"]
        questions = await hr.approvals.list(ANA)
    assert len(questions) == (1 if verdict == "ask" else 0)
    if isinstance(result, CallToolResult):
        assert answer in " ".join(part.text for part in result.content if part.type == "text")
    else:
        assert (verdict, mode) == ("ask", MODERN), "only today's clients are told to come back"


@pytest.mark.parametrize("mode", [MODERN, "legacy"])
async def test_a_call_that_a_person_allowed_is_decided_again_for_its_run_alone(mode: str) -> None:
    reviewer = Principal("acme", "rita", permissions={"*"}, key="person")
    check = CountedDecisions("ask")
    async with Handrail([count], safety=[check]) as hr, met(hr, "ana-key", mode, hold=0.05) as client:
        first: Any = await client.session.call_tool(
            "stock__count", {"name": "nuts"}, allow_input_required=True
        )
        (question,) = await hr.approvals.list(reviewer)
        check.decided.clear()
        await hr.approvals.approve(question.id, by=reviewer)
        await hr.wait(question.call.id, 20, principal=ANA)
        over_resume = len(check.decided)
        state = None if isinstance(first, CallToolResult) else first.request_state
        done: Any = await client.session.call_tool("stock__count", {"name": "nuts"}, request_state=state)
        assert "counted nuts" in done.content[0].text
    collected = len(check.decided) - over_resume
    assert collected == (0 if mode == MODERN else 1), "a state is held against nothing, a call is a call"
