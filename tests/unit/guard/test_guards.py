"""Guards: each agent under its own policy, in one Handrail, whatever way a call takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Policy, Principal, Rule, define
from handrail.core.guard.guard import AgentGuards, Guard

NAMES = ("data.get", "data.set", "mail.send")
TOOLS = [define(name, {"description": f"It does {name}.", "execute": dict}, level="read") for name in NAMES]
BASE = Policy(deny=["mail.send"])
AGENTS = {
    "clerk": Policy(allow=["data.get", "mail.send"]),
    "boss": Policy(allow=["data.*"], rules=[Rule(name="ask", tool="data.set", verdict="ask", reason="r")]),
}
PERSON = Principal("acme", "ana")


def handrail(**options: Any) -> Handrail:
    return Handrail(TOOLS, policy=BASE, agents=AGENTS, **options)


@pytest.mark.req("PM-23", "BY-10")
async def test_each_caller_has_the_tools_of_their_own_policy() -> None:
    hr = handrail()
    expected = {
        None: ["data.get", "data.set"],
        "clerk": ["data.get"],
        "boss": ["data.get", "data.set"],
        "stranger": [],
    }
    for agent, names in expected.items():
        who = PERSON if agent is None else PERSON.spawn(agent)
        for _ in range(2):  # decided, and remembered
            called = [name for name in NAMES if (await hr.call(name, principal=who)).status != "refused"]
            explained = [name for name in NAMES if (await hr.explain(name, principal=who)).verdict != "deny"]
            listed = [tool.id for tool in await hr.tools(who)]
            assert called == explained == listed == names, agent
    asked = await hr.call("data.set", principal=PERSON.spawn("boss"))
    assert asked.status == "pending" and (await hr.call("data.set", principal=PERSON)).ok


@pytest.mark.req("PM-23", "BY-10")
async def test_a_sub_agent_stays_within_the_agents_above_it() -> None:
    hr = handrail()
    below = PERSON.spawn("clerk").spawn("boss")
    nameless = PERSON.spawn("clerk").spawn("helper")
    lost = PERSON.spawn("stranger").spawn("boss")
    for who, names in ((below, ["data.get"]), (nameless, ["data.get"]), (lost, [])):
        assert [tool.id for tool in await hr.tools(who)] == names


@pytest.mark.req("PM-23", "BY-10")
async def test_where_no_agent_is_written_no_agent_may_call_anything() -> None:
    hr = Handrail(TOOLS, agents={})
    assert await hr.tools(PERSON.spawn("clerk")) == [] and len(await hr.tools(PERSON)) == len(TOOLS)
    assert (await hr.call("data.get", principal=PERSON.spawn("clerk"))).status == "refused"


async def test_plan_mode_of_an_agent_holds_its_calls_and_a_plan_that_is_run_is_not_planned_again() -> None:
    hr = Handrail(TOOLS, agents={"clerk": Policy(plan=True), "boss": Policy()})
    clerk = PERSON.spawn("clerk")
    writing = define("data.put", {"description": "It puts.", "execute": dict}, level="write")
    hr.registry.register(writing)
    assert (await hr.call("data.put", principal=clerk, source="cli")).status == "queued"
    assert (await hr.call("data.put", principal=PERSON.spawn("boss"), source="cli")).status != "queued"
    [outcome] = await hr.run_plan(clerk)
    assert outcome.status != "queued"


@pytest.mark.req("BY-10")
@given(
    st.lists(st.sampled_from(["clerk", "boss", "helper"]), min_size=1, max_size=4),
    st.sampled_from(TOOLS),
)
def test_nobody_gets_more_below_than_above(line: list[str], tool: Any) -> None:
    guards, who = AgentGuards(BASE, (), AGENTS), PERSON
    order = ["deny", "queue", "ask", "allow"]
    last = order.index(Guard(BASE).decide(tool, {}, PERSON, "agent").verdict)
    for name in line:
        who = who.spawn(name)
        now = order.index(guards.decide(tool, {}, who, "agent").verdict)
        assert now <= last
        last = now
