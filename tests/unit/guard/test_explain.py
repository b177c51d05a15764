"""explain says what a call would meet; a refusal says who refused, why, and names the tool."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Policy, Principal, Rule, tool
from handrail.ext.guard import Step
from handrail.testing import ScriptedApprover
from tests.unit.guard.oracle import CODES

STATUS = {"allow": "completed", "ask": "pending", "queue": "queued", "deny": "refused"}

AGENT = Principal(tenant="acme", user="ana", agent="ops", roles=["clerk"])


@tool("pay.send", level="write", requires="pay", capabilities=["network"], tenants=["acme"])
async def send(amount: int, to: str = "bo") -> int:
    """Send money."""
    return amount


rules = st.builds(
    Rule,
    tool=st.sampled_from(["pay.*", "pay.send", "*", "mail.*"]),
    when=st.sampled_from([{}, {"amount": {"gt": 5}}, {"@source": "mcp"}, {"@role": "clerk"}, {"to": "cy"}]),
    verdict=st.sampled_from(["allow", "ask", "queue", "deny"]),
    name=st.sampled_from([None, "first", "second"]),
)
policies = st.builds(
    Policy,
    approval_mode=st.sampled_from(["strict", "policy", "danger"]),
    allow=st.sampled_from([None, ["pay.*"], ["mail.*"]]),
    deny=st.sampled_from([[], ["pay.send"]]),
    capabilities=st.sampled_from([None, ["network"], ["read"]]),
    rules=st.lists(rules, max_size=3),
    plan=st.sampled_from([False, True]),
)
principals = st.builds(
    Principal,
    tenant=st.sampled_from(["acme", "globex"]),
    user=st.just("ana"),
    roles=st.sampled_from([[], ["clerk"]]),
    permissions=st.sampled_from([["pay"], ["mail"], ["*"]]),
)
arguments = st.sampled_from([{"amount": 1}, {"amount": 9, "to": "cy"}, {"amount": "7"}, {}, {"amount": "x"}])
sources: Any = st.sampled_from(["agent", "mcp", "web"])


@pytest.mark.req("BY-07", "PM-25")
@given(policies, principals, arguments, sources, st.sampled_from(["pay.send", "pay.nothing"]))
async def test_explain_says_beforehand_what_a_call_then_does(policy, who, args, source, name) -> None:
    async with Handrail([send], policy=policy) as hr:
        said = await hr.explain(name, args, who, source=source)
        assert not list(hr.log.read(who.tenant)), "nothing is told"
        out = await hr.call(name, args, principal=who, source=source)

    assert out.status == STATUS[said.verdict]
    assert out.code == said.code
    assert out.decision == (None if said.layer in ("find", "validate") else said)
    if out.status == "refused":
        [failed] = hr.log.read(who.tenant)
        assert (failed.payload()["layer"], failed.payload()["rule"]) == (said.layer, said.rule)
        assert out.result.error == said.reason


@pytest.mark.req("BY-07", "PM-25", "PM-20")
@given(policies, principals, sources)
async def test_every_refusal_of_policy_has_a_layer_a_code_and_a_sentence_with_the_tools_name(
    policy, who, source
) -> None:
    async with Handrail([send], policy=policy) as hr:
        out = await hr.call("pay.send", {"amount": 9, "to": "cy"}, principal=who, source=source)

    if out.status != "refused":
        return
    [failed] = hr.log.read(who.tenant)
    told = failed.payload()
    assert told["layer"] in ("find", "allow/deny", "permission", "capability", "rules")
    assert (told["rule"] is not None) == (told["layer"] in ("allow/deny", "rules"))
    assert told["code"] in ("NOT_PERMITTED", "TOOL_NOT_FOUND")
    assert "pay.send" in told["error"]
    if told["code"] == "NOT_PERMITTED":
        assert out.result.summary == "Tool not permitted: pay.send"
        assert out.decision is not None and out.decision.verdict == "deny"


@pytest.mark.req("BY-07")
async def test_the_trace_names_every_rule_that_was_consulted_also_those_that_do_not_hold() -> None:
    policy = Policy(
        rules=[
            Rule("pay.*", {"amount": {"gt": 100}}, "deny", name="large"),
            Rule("pay.*", {"to": "bo"}, "ask", "bo is new here", name="new payee"),
            Rule("mail.*", name="another tool's"),
            Rule("pay.send", verdict="allow", name="known"),
        ]
    )
    who = Principal(tenant="acme", permissions=["pay"])
    async with Handrail([send], policy=policy) as hr:
        decision = await hr.explain("pay.send", {"amount": 7}, who)

    consulted = [(step.rule, step.verdict) for step in decision.trace if step.layer == "rules"]
    assert consulted == [("large", "allow"), ("new payee", "ask"), ("known", "allow")]
    assert (decision.verdict, decision.layer, decision.rule) == ("ask", "rules", "new payee")
    assert decision.explain().splitlines()[6] == "  > rules [new payee]: ask, bo is new here"


@pytest.mark.req("BY-07", "PM-21")
async def test_the_layers_stand_in_the_trace_in_their_order() -> None:
    def sandbox(tool, args, principal):
        return Step("safety", "allow", "inside the sandbox")

    @tool("t.act", level="write", policy="always_ask")
    async def act() -> None:
        """Act."""

    policy = Policy(plan=True, rules=[Rule("t.*", verdict="allow")])
    async with Handrail([act], policy=policy, safety=[sandbox]) as hr:
        decision = await hr.explain("t.act", {}, AGENT)

    order = ["visibility", "allow/deny", "permission", "capability"]
    order += ["plan", "rules", "safety", "danger", "level", "policy"]
    assert [step.layer for step in decision.trace] == order


@pytest.mark.req("BY-07")
async def test_the_decision_of_a_call_that_ran_says_who_approved_it() -> None:
    @tool("t.act", level="write")
    async def act() -> None:
        """Act."""

    async with Handrail([act], approver=ScriptedApprover("approve")) as hr:
        out = await hr.call("t.act", principal=AGENT)

    assert out.decision is not None and out.decision.allowed
    assert (out.decision.layer, out.decision.reason) == ("approval", "approved by a person")
    assert [step.verdict for step in out.decision.trace if step.layer == "level"] == ["ask"]


@pytest.mark.req("PM-25")
async def test_refusals_are_logged_and_can_be_counted_by_layer() -> None:
    policy = Policy(deny=["t.b"], rules=[Rule("t.c", verdict="deny", name="closed")])

    def acting(name: str, **options: Any) -> Any:
        @tool(name, level="read", **options)
        async def act() -> None:
            """Act."""

        return act

    tools = [acting("t.a", requires="right"), acting("t.b"), acting("t.c"), acting("t.d")]
    async with Handrail(tools, policy=policy) as hr:
        for name in ("t.a", "t.b", "t.b", "t.c", "t.d", "t.e"):
            await hr.call(name, principal=AGENT, session="s1")

    refusals = [event.payload() for event in hr.log.read("acme", session="s1", status="failed")]
    counted = [(one["layer"], one["rule"], one["code"]) for one in refusals]
    assert counted == [
        ("permission", None, CODES["deny"]),
        ("allow/deny", "deny", CODES["deny"]),
        ("allow/deny", "deny", CODES["deny"]),
        ("rules", "closed", CODES["deny"]),
        ("find", None, "TOOL_NOT_FOUND"),
    ]
