"""Level, danger and safety: how grave a call is, and what that makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, Rule, Tool, tool
from handrail.core.guard.decide import caller_kind
from handrail.core.guard.risk import level_and_danger
from handrail.ext.errors import DefinitionError
from handrail.ext.guard import Step
from handrail.testing import ScriptedApprover

ANA = Principal(tenant="acme", user="ana")


def acting(**options: Any) -> Tool:
    @tool("t.act", **options)
    async def act(command: str = "ls") -> str:
        """Act."""
        return command

    return act


@pytest.mark.req("PM-01", "PM-06")
@pytest.mark.parametrize(
    ("options", "level", "danger"),
    [
        ({}, "write", "moderate"),
        ({"level": "read"}, "read", "safe"),
        ({"level": "draft"}, "draft", "safe"),
        ({"level": "write"}, "write", "moderate"),
        ({"level": "destructive"}, "destructive", "dangerous"),
        ({"danger": "safe"}, "read", "safe"),
        ({"danger": "moderate"}, "write", "moderate"),
        ({"danger": "dangerous"}, "destructive", "dangerous"),
        ({"level": "read", "danger": "dangerous"}, "read", "dangerous"),
        ({"level": "destructive", "danger": "safe"}, "destructive", "safe"),
        ({"capabilities": ["read"]}, "read", "safe"),
        ({"capabilities": ["network"]}, "read", "safe"),
        ({"capabilities": ["write"]}, "write", "moderate"),
        ({"capabilities": ["execute", "read"]}, "write", "moderate"),
        ({"capabilities": ["write"], "level": "read"}, "read", "safe"),
    ],
)
def test_a_missing_axis_follows_from_the_others(options: Any, level: str, danger: str) -> None:
    assert level_and_danger(acting(**options), None) == (level, danger)


@pytest.mark.req("PM-01")
@pytest.mark.parametrize("axis", [{"level": "admin"}, {"danger": "mild"}, {"policy": "never_ask"}])
def test_there_are_four_levels_three_dangers_and_two_policies(axis: dict[str, Any]) -> None:
    with pytest.raises(DefinitionError):
        Handrail([acting(**axis)])


@pytest.mark.req("PM-06")
@pytest.mark.parametrize(
    ("command", "status"), [("ls", "completed"), ("touch x", "pending"), ("rm -rf /", "pending")]
)
async def test_the_danger_of_the_call_decides_its_level(command: str, status: str) -> None:
    dangers = {"ls": "safe", "touch x": "moderate", "rm -rf /": "dangerous"}
    levels = {"ls": "read", "touch x": "write", "rm -rf /": "destructive"}
    one = acting(danger=lambda args: dangers[args.command])

    async with Handrail([one], policy=Policy(plan=False)) as hr:
        out = await hr.call("t.act", {"command": command}, principal=ANA)
        requests = await hr.approvals.list(ANA)

    assert out.status == status
    for request in requests:
        assert (request.level, request.danger) == (levels[command], dangers[command])


@pytest.mark.req("PM-06")
async def test_a_safe_call_of_a_tool_with_a_danger_function_runs_even_in_plan_mode() -> None:
    one = acting(danger=lambda args: "safe" if args.command == "ls" else "moderate")
    async with Handrail([one], policy=Policy(plan=True)) as hr:
        assert (await hr.call("t.act", {"command": "ls"}, principal=ANA)).status == "completed"
        assert (await hr.call("t.act", {"command": "rm"}, principal=ANA)).status == "queued"


@pytest.mark.req("PM-06")
def test_a_level_function_brings_its_danger_unless_the_tool_declares_another() -> None:
    def by_command(args: Any) -> str:
        return "read" if args["command"] == "ls" else "destructive"

    derived = acting(level=by_command)
    declared = acting(level=by_command, danger="moderate")

    assert level_and_danger(derived, {"command": "ls"}) == ("read", "safe")
    assert level_and_danger(derived, {"command": "rm"}) == ("destructive", "dangerous")
    assert level_and_danger(declared, {"command": "ls"}) == ("read", "moderate")


@pytest.mark.req("PM-06")
def test_level_and_danger_functions_together_each_decide_their_own() -> None:
    one = acting(level=lambda args: "write", danger=lambda args: "safe")
    assert level_and_danger(one, {}) == ("write", "safe")


@pytest.mark.req("PM-05", "AP-11")
@pytest.mark.parametrize(
    ("source", "key", "kind"),
    [
        ("agent", "person", "automation"),
        ("mcp", "person", "automation"),
        ("job", "person", "automation"),
        ("web", "agent", "person"),
        ("cli", "agent", "person"),
        ("api", "agent", "automation"),
        ("api", "person", "person"),
        ("api", "service", "service"),
    ],
)
def test_who_acts_follows_from_the_source_and_for_the_api_from_the_key(
    source: Any, key: Any, kind: str
) -> None:
    assert caller_kind(source, Principal(tenant="acme", key=key)) == kind


@pytest.mark.req("PM-05")
async def test_the_librarys_default_source_is_an_agent_and_its_default_mode_asks_for_writes() -> None:
    async with Handrail([acting()]) as hr:
        out = await hr.call("t.act", principal=ANA)

    assert out.status == "pending"
    assert out.decision is not None and out.decision.by == "reviewer"


@pytest.mark.req("PM-11", "AP-11")
async def test_always_ask_asks_an_agent_each_time_and_a_person_never() -> None:
    reviewer = ScriptedApprover(always=True)
    async with Handrail([acting(level="read", policy="always_ask")], approver=reviewer) as hr:
        for source in ("agent", "agent", "mcp", "job", "web", "cli"):
            assert (await hr.call("t.act", principal=ANA, source=source, session="s")).ok

    assert [request.call.source for request in reviewer.requests] == ["agent", "agent", "mcp", "job"]


@pytest.mark.req("PM-06", "PM-07")
@pytest.mark.parametrize(
    ("step", "status", "code"),
    [
        (None, "completed", None),
        (Step("sandbox", "allow", "inside the workspace"), "completed", None),
        (Step("sandbox", "ask", "outside the workspace"), "pending", "NEEDS_APPROVAL"),
        (Step("sandbox", "queue", "later"), "queued", "PLANNED"),
        (Step("sandbox", "deny", "there is no sandbox"), "refused", "NOT_PERMITTED"),
        (Step("sandbox", "deny", "no sandbox for t.act", code="NO_SANDBOX"), "refused", "NO_SANDBOX"),
    ],
)
async def test_a_safety_check_can_add_a_word_of_any_strictness(step: Any, status: str, code: Any) -> None:
    def check(tool: Tool, args: Any, principal: Principal) -> Any:
        assert (tool.id, args.command, principal) == ("t.act", "pwd", ANA)
        return step

    async with Handrail([acting(level="read")], safety=[check]) as hr:
        out = await hr.call("t.act", {"command": "pwd"}, principal=ANA, source="web")

    assert (out.status, out.code) == (status, code)
    assert out.decision is not None and (out.decision.code, out.decision.verdict) == (
        code,
        step.verdict if step else "allow",
    )
    if status == "refused":
        assert (out.decision.layer, "t.act" in (out.result.error or "")) == ("sandbox", True)
    if status == "pending":
        assert out.decision.by == "reviewer"


@pytest.mark.req("PM-07")
async def test_a_safety_check_takes_no_gate_away() -> None:
    def fine(*_: Any) -> Step:
        return Step("sandbox", "allow", "inside the sandbox")

    async with Handrail([acting(level="destructive")], safety=[fine]) as hr:
        assert (await hr.call("t.act", principal=ANA)).status == "pending"


@pytest.mark.req("PM-08", "EX-07", "EX-08")
async def test_rules_are_consulted_before_safety_and_win_among_equals() -> None:
    def no(*_: Any) -> Step:
        return Step("sandbox", "deny", "not in this sandbox")

    policy = Policy(rules=[Rule("t.*", verdict="deny", name="closed")])
    async with Handrail([acting(level="read")], policy=policy, safety=[no]) as hr:
        decision = await hr.explain("t.act", {}, ANA)

    layers = [step.layer for step in decision.trace]
    assert layers.index("rules") < layers.index("sandbox") < layers.index("danger")
    assert (decision.layer, decision.rule) == ("rules", "closed")


@pytest.mark.req("PM-07")
async def test_every_safety_check_is_heard_and_the_strictest_wins() -> None:
    def says(verdict: Any) -> Any:
        return lambda *_: Step(f"check {verdict}", verdict, "because")

    checks = [says("allow"), says("deny"), says("ask")]
    async with Handrail([acting(level="read")], safety=checks) as hr:
        decision = await hr.explain("t.act", {}, ANA)

    assert decision.layer == "check deny"
    assert [step.layer for step in decision.trace][4:7] == ["check allow", "check deny", "check ask"]


@pytest.mark.req("PM-09", "AP-05", "EX-09")
async def test_approval_is_asked_for_after_validation_and_before_anything_begins() -> None:
    heard: list[str] = []

    async def approver(request):
        heard.append("asked")
        return True

    async with Handrail([acting(level="write")], approver=approver) as hr:
        hr.subscribe(lambda event: heard.append(event.type))
        malformed = await hr.call("t.act", {"command": []}, principal=ANA)
        assert malformed.code == "INVALID_PARAM" and heard == ["tool.failed"]
        heard.clear()
        await hr.call("t.act", principal=ANA)

    assert heard == ["tool.needs_approval", "asked", "tool.approved", "tool.started", "tool.completed"]
