"""A standing approval: one tool, one principal, one session, ordinary writes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, Registry, Rule, Tool, tool
from handrail.ext.guard import approve
from handrail.testing import ScriptedApprover

AGENT = Principal(tenant="acme", user="ana", agent="ops")


def acting(name: str = "t.act", text: str = "Act.", **options: Any) -> Tool:
    @tool(name, **{"level": "write", "description": text, **options})
    async def act(count: int = 1) -> int:
        return count

    return act


def agreeing() -> ScriptedApprover:
    """Approves everything for the session."""
    return ScriptedApprover(always=approve(for_session=True))


async def times_asked(*calls: dict[str, Any], tools: Any = None, **options: Any) -> int:
    """How often the reviewer is asked when these calls are made one after another."""
    reviewer = agreeing()
    async with Handrail(tools or [acting()], approver=reviewer, **options) as hr:
        for call in calls:
            out = await hr.call(**{"tool": "t.act", "principal": AGENT, "session": "s1", **call})
            assert out.status == "completed"
    return len(reviewer.requests)


@pytest.mark.req("AP-10")
async def test_an_ordinary_write_that_was_approved_for_the_session_is_not_asked_again() -> None:
    assert await times_asked({}, {"args": {"count": 2}}, {"args": {"count": 3}}) == 1


@pytest.mark.req("AP-10", "BY-07")
async def test_the_decision_says_that_a_standing_approval_covers_it() -> None:
    async with Handrail([acting()], approver=agreeing()) as hr:
        await hr.call("t.act", principal=AGENT, session="s1")
        out = await hr.call("t.act", principal=AGENT, session="s1")

    assert out.decision is not None
    assert (out.decision.verdict, out.decision.layer) == ("allow", "standing")
    assert [step.verdict for step in out.decision.trace if step.layer == "level"] == ["ask"]
    assert [event.type for event in hr.log.read("acme", call_id=out.call_id)] == [
        "tool.started",
        "tool.completed",
    ]


@pytest.mark.req("AP-10")
@pytest.mark.parametrize(
    "other",
    [
        {"session": "s2"},
        {"session": None},
        {"principal": replace(AGENT, user="bo")},
        {"principal": replace(AGENT, agent="other")},
        {"principal": replace(AGENT, tenant="globex")},
        {"principal": replace(AGENT, permissions=frozenset({"more"}))},
        {"principal": AGENT.spawn("ops")},
        {"tool": "t.other"},
    ],
    ids=str,
)
async def test_it_covers_no_other_session_principal_or_tool(other: dict[str, Any]) -> None:
    assert await times_asked({}, other, tools=[acting(), acting("t.other")]) == 2


@pytest.mark.req("AP-10")
async def test_an_approval_without_a_session_stands_for_nothing() -> None:
    assert await times_asked({"session": None}, {"session": None}) == 2


@pytest.mark.req("AP-10")
async def test_a_plain_approval_does_not_stand() -> None:
    asked: list[Any] = []

    async def once(request):
        asked.append(request)
        return approve()

    async with Handrail([acting()], approver=once) as hr:
        for _ in range(2):
            assert (await hr.call("t.act", principal=AGENT, session="s1")).ok

    assert len(asked) == 2


@pytest.mark.req("AP-10", "PM-04", "PM-11")
@pytest.mark.parametrize(
    "options",
    [
        {"level": "destructive"},
        {"level": "destructive", "danger": "safe"},
        {"danger": "dangerous"},
        {"policy": "always_ask"},
        {"level": "read", "policy": "always_ask"},
    ],
    ids=str,
)
async def test_it_never_covers_what_is_destructive_dangerous_or_always_asks(options: dict[str, Any]) -> None:
    assert await times_asked({}, {}, tools=[acting(**options)]) == 2


@pytest.mark.req("AP-10")
async def test_it_covers_the_write_level_only() -> None:
    policy = Policy(approval_mode="danger")
    assert await times_asked({}, {}, tools=[acting(danger="moderate")], policy=policy) == 1
    assert await times_asked({}, {}, tools=[acting(level="read", danger="moderate")], policy=policy) == 2


@pytest.mark.req("AP-10", "PM-26")
async def test_it_never_covers_what_a_rule_asks_for() -> None:
    rules = [Rule("t.*", {"count": {"gt": 5}}, "ask")]
    small, large = {"args": {"count": 1}}, {"args": {"count": 9}}

    assert await times_asked(small, large, large, policy=Policy(rules=rules)) == 3


@pytest.mark.req("AP-10")
async def test_approving_something_grave_for_the_session_does_not_cover_ordinary_writes() -> None:
    tools = [acting(danger=lambda args: "dangerous" if args.count > 5 else "moderate")]
    small, large = {"args": {"count": 1}}, {"args": {"count": 9}}

    assert await times_asked(large, small, small, large, tools=tools) == 3


@pytest.mark.req("AP-10", "PM-26")
async def test_approving_what_a_rule_asked_for_does_not_cover_other_calls() -> None:
    rules = [Rule("t.*", {"count": {"gt": 5}}, "ask")]
    small, large = {"args": {"count": 1}}, {"args": {"count": 9}}

    assert await times_asked(large, small, policy=Policy(rules=rules)) == 2


@pytest.mark.req("AP-10", "AP-09")
async def test_it_ends_when_the_definition_changes() -> None:
    reviewer, registry = agreeing(), Registry([acting()])
    async with Handrail(registry=registry, approver=reviewer) as hr:
        await hr.call("t.act", principal=AGENT, session="s1")
        registry.register(acting(text="Act on everything."), replace=True)
        await hr.call("t.act", principal=AGENT, session="s1")

    assert len(reviewer.requests) == 2


@pytest.mark.req("AP-10", "PM-22")
async def test_it_takes_no_refusal_away() -> None:
    rules = [Rule("t.*", {"count": {"gt": 5}}, "deny")]
    async with Handrail([acting()], approver=agreeing(), policy=Policy(rules=rules)) as hr:
        assert (await hr.call("t.act", principal=AGENT, session="s1")).ok
        out = await hr.call("t.act", {"count": 9}, principal=AGENT, session="s1")

    assert out.code == "NOT_PERMITTED"


@pytest.mark.req("AP-10", "AP-08")
async def test_it_can_be_given_from_the_inbox() -> None:
    bo = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
    async with Handrail([acting()]) as hr:
        out = await hr.call("t.act", principal=AGENT, session="s1")
        await hr.approvals.approve(out.approval_id or "", by=bo, for_session=True)
        await hr.wait(out.call_id, 10)

        assert (await hr.call("t.act", principal=AGENT, session="s1")).status == "completed"
        assert (await hr.call("t.act", principal=AGENT, session="s2")).status == "pending"
