"""A sub-agent: never more than any of those above it, at any depth."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Policy, Principal, Rule, Tool, tool
from handrail.ext.guard import decide

WORDS = ("allow", "ask", "queue", "deny")


def acting(name: str, **options: Any) -> Tool:
    @tool(name, **options)
    async def act(count: int = 1) -> int:
        """Act."""
        return count

    return act


TOOLS = [
    acting("a.read", level="read"),
    acting("a.write", level="write", requires="a.write"),
    acting("b.read", level="read", danger="moderate", capabilities=["network"]),
    acting("b.wipe", level="destructive", requires="b.wipe"),
    acting("b.run", danger=lambda args: "safe" if args.count < 5 else "dangerous"),
]

names: Any = st.sampled_from(["a.read", "a.write", "b.read", "b.wipe", "b.run", "a.*", "b.*", "*"])
rules = st.builds(
    Rule,
    tool=names,
    when=st.sampled_from(
        [
            {},
            {"count": {"gt": 5}},
            {"@source": "api"},
            {"@agent": {"exists": True}},
            {"@agent": "agent 0"},
            {"@agent": {"neq": "agent 1"}},
        ]
    ),
    verdict=st.sampled_from(WORDS),
)
policies = st.builds(
    Policy,
    approval_mode=st.sampled_from(["strict", "policy", "danger"]),
    allow=st.none() | st.lists(names, max_size=2),
    deny=st.lists(names, max_size=1),
    capabilities=st.none() | st.lists(st.sampled_from(["read", "network"])),
    rules=st.lists(rules, max_size=2),
    plan=st.sampled_from([False, True, "all"]),
    moderate=st.sampled_from(["ask", "allow"]),
)
permissions = st.none() | st.lists(st.sampled_from(["a.write", "b.wipe", "*"]), unique=True)
principals = st.builds(
    Principal,
    tenant=st.just("acme"),
    permissions=st.lists(st.sampled_from(["a.write", "b.wipe", "*"]), unique=True),
    key=st.sampled_from(["agent", "person", "service"]),
)


@pytest.mark.req("BY-10", "PM-23", "PM-24")
@given(
    st.lists(policies, min_size=2, max_size=4),
    principals,
    st.lists(permissions, min_size=3, max_size=3),
    st.sampled_from(TOOLS),
    st.sampled_from(["agent", "mcp", "api"]),
    st.sampled_from([1, 9]),
)
def test_no_decision_for_a_sub_agent_is_milder_than_for_any_of_its_ancestors(
    line, who, asked, one, source, count
) -> None:
    args = {"count": count} if one.danger_of_call is None else _Args(count)
    policy = line[0]
    ancestors = [decide(one, args, who, policy, source)]
    for depth, own in enumerate(line[1:]):
        policy, who = policy.spawn(own), who.spawn(f"agent {depth}", asked[depth])
        said = decide(one, args, who, policy, source)
        for above in ancestors:
            assert WORDS.index(said.verdict) >= WORDS.index(above.verdict)
        ancestors.append(said)


class _Args:
    """What a danger function is given."""

    def __init__(self, count: int) -> None:
        self.count = count


@pytest.mark.req("BY-10")
@given(principals, st.lists(permissions, min_size=1, max_size=4))
def test_a_sub_agent_holds_no_permission_that_one_above_it_lacks(
    who: Principal, asked: list[list[str] | None]
) -> None:
    line = [who]
    for depth, wanted in enumerate(asked):
        line.append(line[-1].spawn(f"agent {depth}", wanted))

    for above, below in pairwise(line):
        for permission in ("a.write", "b.wipe", "c.anything"):
            assert above.holds(permission) or not below.holds(permission)
        assert (below.tenant, below.roles) == (who.tenant, who.roles)


@pytest.mark.req("BY-10")
def test_a_sub_agent_holds_what_it_asks_for_within_what_is_held_above() -> None:
    boss = Principal(tenant="acme", permissions=["*"])
    clerk = Principal(tenant="acme", permissions=["a", "b"])

    assert boss.spawn("x").permissions == {"*"}
    assert boss.spawn("x", ["a"]).permissions == {"a"}
    assert clerk.spawn("x").permissions == {"a", "b"}
    assert clerk.spawn("x", ["b", "c"]).permissions == {"b"}
    assert clerk.spawn("x", ["*"]).permissions == {"a", "b"}
    assert clerk.spawn("x", []).permissions == frozenset()


@pytest.mark.req("BY-10")
def test_a_sub_agent_is_automation_though_a_persons_key_opened_the_door() -> None:
    person = Principal(tenant="acme", user="ana", key="person", permissions=["a.write"])
    write = TOOLS[1]

    assert decide(write, {}, person, Policy(), "api").verdict == "allow"
    assert decide(write, {}, person.spawn("helper"), Policy(), "api").verdict == "ask"


@pytest.mark.req("BY-10")
def test_a_rule_about_an_agent_holds_for_all_that_it_spawns() -> None:
    policy = Policy(rules=[Rule("a.*", {"@agent": "ops"}, "deny", name="not ops")])
    read = TOOLS[0]
    ops = Principal(tenant="acme").spawn("ops")

    assert decide(read, {}, Principal(tenant="acme", agent="helper"), policy).verdict == "allow"
    for who in (ops, ops.spawn("helper"), ops.spawn("helper").spawn("reader")):
        assert decide(read, {}, who, policy).rule == "not ops"


async def seen(policy: Policy) -> list[str]:
    tools = [acting("a", level="read"), acting("b", level="read"), acting("c", level="read")]
    async with Handrail(tools, policy=policy) as hr:
        return [one.id for one in await hr.tools()]


@pytest.mark.req("PM-23", "PM-24")
@pytest.mark.parametrize(
    ("parent", "target", "expected"),
    [
        (["a", "b"], ["b", "c"], ["b"]),
        (None, ["b", "c"], ["b", "c"]),
        (["a", "b"], None, ["a", "b"]),
        (None, None, ["a", "b", "c"]),
        (["a"], ["b"], []),
        (["a"], [], []),
        ([], None, []),
        (["*"], ["[ab]"], ["a", "b"]),
    ],
)
async def test_allow_lists_intersect_and_an_undeclared_one_means_all(
    parent: Any, target: Any, expected: list[str]
) -> None:
    assert await seen(Policy(allow=parent).spawn(Policy(allow=target))) == expected


@pytest.mark.req("PM-24")
async def test_an_intersection_that_came_out_empty_stays_empty_further_down() -> None:
    nothing = Policy(allow=["a"]).spawn(Policy(allow=["b"]))
    assert await seen(nothing.spawn(Policy())) == []
    assert await seen(nothing.spawn()) == []


@pytest.mark.req("PM-24")
async def test_denies_of_the_parent_carry_over() -> None:
    parent = Policy(deny=["a"])
    assert await seen(parent.spawn(Policy(allow=["a", "b"]))) == ["b"]
    assert await seen(parent.spawn(Policy(deny=["b"])).spawn(Policy(allow=["*"]))) == ["c"]


@pytest.mark.req("PM-24", "PM-21")
@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"tools": {"allow": [], "deny": []}}, ["a", "b"]),
        ({"tools": {"allow": None}}, ["a", "b"]),
        ({"tools": None}, ["a", "b"]),
        ({}, ["a", "b"]),
        ({"tools": {"allow": ["b", "c"]}}, ["b"]),
        ({"tools": {"deny": ["b"]}}, ["a"]),
    ],
)
async def test_an_empty_allow_list_in_yaml_means_undeclared(config: Any, expected: list[str]) -> None:
    target = Policy.from_agent_config(config)
    assert await seen(Policy(allow=["a", "b"]).spawn(target)) == expected


@pytest.mark.req("BY-10")
async def test_a_sub_agent_without_a_policy_of_its_own_is_judged_like_its_parent() -> None:
    parent = Policy(approval_mode="danger", moderate="allow", rules=[Rule("a.read", verdict="ask")])
    for one in TOOLS[:3]:
        who = Principal(tenant="acme", permissions=["*"])
        below, above = (decide(one, {}, who, policy) for policy in (parent.spawn(), parent))
        assert (below.verdict, below.layer, below.rule) == (above.verdict, above.layer, above.rule)


@pytest.mark.req("BY-10")
async def test_a_nested_call_has_no_more_authority_than_the_call_it_is_made_in() -> None:
    @tool("outer.act", level="read")
    async def outer(ctx: Any) -> list[str | None]:
        """Act."""
        return [(await ctx.call(name)).code for name in ("a.write", "b.wipe", "a.read")]

    who = Principal(tenant="acme", permissions=["a.write"])
    async with Handrail([outer, *TOOLS]) as hr:
        out = await hr.call("outer.act", principal=who)

    assert out.result.data == ["NEEDS_APPROVAL", "NOT_PERMITTED", None]
