"""Lists, permissions and capabilities: what a principal sees, and what it gets when it asks anyway."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Context, Handrail, Policy, Principal, Rule, Tool, tool
from handrail.ext.guard import Step, tool_group

ANA = Principal(tenant="acme", user="ana")


def reading(name: str, **options: Any) -> Tool:
    @tool(name, **{"level": "read", **options})
    async def act(count: int = 1) -> int:
        """Act."""
        return count

    return act


async def listed(hr: Handrail, who: Principal = ANA, **options: Any) -> list[str]:
    return [one.id for one in await hr.tools(who, **options)]


@pytest.mark.req("PM-20")
async def test_a_call_outside_the_allow_list_is_not_permitted_and_says_which_tool() -> None:
    async with Handrail([reading("a.one"), reading("a.two")], policy=Policy(allow=["a.one"])) as hr:
        out = await hr.call("a.two", principal=ANA)
        assert (await hr.call("a.one", principal=ANA)).ok

    assert (out.code, out.result.summary) == ("NOT_PERMITTED", "Tool not permitted: a.two")


@pytest.mark.req("PM-21", "PM-22")
@pytest.mark.parametrize(
    ("lists", "seen"),
    [
        ({}, ["a.one", "a.two", "b.one"]),
        ({"allow": None}, ["a.one", "a.two", "b.one"]),
        ({"allow": ["a.*"]}, ["a.one", "a.two"]),
        ({"allow": ["a.one", "b.*"]}, ["a.one", "b.one"]),
        ({"allow": []}, []),
        ({"deny": ["a.*"]}, ["b.one"]),
        ({"allow": ["a.*"], "deny": ["*.one"]}, ["a.two"]),
        ({"allow": ["a.one"], "deny": ["a.one"]}, []),
        ({"deny": ["*"]}, []),
    ],
)
async def test_everything_is_available_unless_a_list_restricts_it_and_deny_always_wins(
    lists: dict[str, Any], seen: list[str]
) -> None:
    tools = [reading("a.one"), reading("a.two"), reading("b.one")]
    async with Handrail(tools, policy=Policy(**lists)) as hr:
        assert await listed(hr) == seen
        for one in tools:
            assert (await hr.call(one.id, principal=ANA)).ok == (one.id in seen)


@pytest.mark.req("PM-14", "PM-10", "PM-18", "PM-19")
@pytest.mark.parametrize(
    "permission",
    [
        *("entities.team.read", "entities.team.create", "entities.team.update", "entities.team.delete"),
        *("entity_types.team.read", "tools.tenant.create"),
    ],
)
async def test_a_tool_with_a_permission_is_for_those_who_hold_exactly_that_one(permission: str) -> None:
    held: dict[str, list[str]] = {
        "exactly": [permission],
        "everything": ["*"],
        "nothing": [],
        "a part": [permission.rpartition(".")[0]],
        "a pattern": ["entities.*", "entities.team.*"],
        "another": ["entities.team.archive"],
    }
    async with Handrail([reading("t.act", requires=permission)]) as hr:
        for how, permissions in held.items():
            who = Principal(tenant="acme", permissions=permissions)
            may = how in ("exactly", "everything")
            assert (await listed(hr, who) == ["t.act"]) == may, how
            assert ((await hr.call("t.act", principal=who)).code == "NOT_PERMITTED") != may, how


@pytest.mark.req("PM-17")
async def test_an_export_names_nothing_that_may_not_be_used() -> None:
    tools = [
        reading("open.act"),
        reading("closed.act", requires="secret.right", description="The hidden one"),
    ]
    async with Handrail(tools) as hr:
        for how in ("openai", "anthropic", "mcp", "ai_sdk", "prompt_menu"):
            exported = repr(await hr.export(how, ANA))
            assert "open" in exported
            assert "closed" not in exported and "hidden one" not in exported


@pytest.mark.req("PM-17", "PM-26")
async def test_what_is_certainly_denied_is_not_listed() -> None:
    tools = [reading("a.act"), reading("b.act", danger=lambda args: "safe"), reading("c.act", level="write")]
    rules = [
        Rule("a.*", {"@role": {"not_in": ["clerk"]}}, "deny"),
        Rule("b.*", {"@source": "mcp"}, "deny"),
        Rule("c.*", {"@level": "write", "@source": "job"}, "deny"),
    ]
    clerk = Principal(tenant="acme", roles=["clerk"])
    async with Handrail(tools, policy=Policy(rules=rules)) as hr:
        assert await listed(hr, clerk) == ["a.act", "b.act", "c.act"]
        assert await listed(hr, ANA) == ["b.act", "c.act"]
        assert await listed(hr, clerk, source="mcp") == ["a.act", "c.act"]
        assert await listed(hr, clerk, source="job") == ["a.act", "b.act"]


@pytest.mark.req("PM-17", "PM-26")
async def test_what_might_be_allowed_is_listed() -> None:
    def sandbox(*_: Any) -> Step:
        return Step("sandbox", "deny", "not with these arguments")

    tools = [
        reading("a.act"),
        reading("b.act", level="destructive"),
        reading("c.act", danger=lambda args: "dangerous"),
        reading("d.act", policy="always_ask"),
    ]
    rules = [
        Rule("a.*", {"count": {"gt": 5}}, "deny"),
        Rule("b.*", {"count": {"exists": True}}, "deny"),
        Rule("c.*", {"@danger": "dangerous"}, "deny"),
        Rule("*", verdict="ask"),
    ]
    async with Handrail(tools, policy=Policy(rules=rules, plan="all"), safety=[sandbox]) as hr:
        assert await listed(hr) == ["a.act", "b.act", "c.act", "d.act"]


@pytest.mark.req("PM-17")
@given(
    st.sampled_from([{}, {"count": {"gt": 5}}, {"@source": "mcp"}, {"@level": "read"}, {"@danger": "safe"}]),
    st.sampled_from(["allow", "ask", "deny"]),
    st.booleans(),
    st.sampled_from(["agent", "mcp"]),
    st.integers(0, 9),
)
async def test_whatever_can_be_called_is_listed(when, verdict, dynamic, source, count) -> None:
    one = reading("a.act", **({"danger": lambda args: "safe"} if dynamic else {}))
    async with Handrail([one], policy=Policy(rules=[Rule("*", when, verdict)])) as hr:
        out = await hr.call("a.act", {"count": count}, principal=ANA, source=source)
        if out.status != "refused":
            assert await listed(hr, source=source) == ["a.act"]


@pytest.mark.req("PM-17")
async def test_a_hidden_tool_answers_in_every_way_like_one_that_does_not_exist() -> None:
    here = reading("lab.mix")
    async with Handrail([here, reading("lab.mixer", tenants=["globex"])]) as hr:
        hidden = await hr.call("lab.mixer", {"any": "thing"}, principal=ANA)
        hidden_said = await hr.explain("lab.mixer", {}, ANA)
    async with Handrail([here]) as hr_without:
        unknown = await hr_without.call("lab.mixer", {"any": "thing"}, principal=ANA)
        unknown_said = await hr_without.explain("lab.mixer", {}, ANA)

    assert hidden.result == unknown.result
    assert hidden.to_model() == unknown.to_model()
    assert (hidden.tool, hidden.decision) == (unknown.tool, unknown.decision)
    assert hidden_said == unknown_said
    told = [[event.payload() for event in one.log.read("acme")] for one in (hr, hr_without)]
    for [event] in told:
        event.pop("duration_ms")
    assert told[0] == told[1]


@pytest.mark.req("PM-17")
async def test_suggestions_come_only_from_what_may_be_seen() -> None:
    tools = [reading("mail.send", requires="mail"), reading("mail.read")]
    async with Handrail(tools) as hr:
        out = await hr.call("mail.sent", principal=ANA)

    assert "mail.read" in (out.result.error or "")
    assert "mail.send" not in (out.result.error or "")


@pytest.mark.req("PM-12")
@pytest.mark.parametrize("needed", [["read"], ["write"], ["execute"], ["network"], ["read", "network"]])
@pytest.mark.parametrize("granted", [None, [], ["read"], ["read", "network"], ["write", "execute"]])
async def test_all_required_capabilities_must_be_granted(needed: list[str], granted: Any) -> None:
    one = reading("t.act", capabilities=needed)
    async with Handrail([one], policy=Policy(capabilities=granted)) as hr:
        out = await hr.call("t.act", principal=ANA)
        may = granted is None or set(needed) <= set(granted)
        assert (await listed(hr) == ["t.act"]) == may

    assert out.ok == may
    if not may:
        missing = ", ".join(sorted(set(needed) - set(granted)))
        assert out.decision is not None and out.decision.layer == "capability"
        assert out.result.error == (
            f"Tool not permitted: t.act (it needs a capability that is not granted: {missing})"
        )


@pytest.mark.req("PM-12", "PM-13")
@pytest.mark.parametrize(("granted", "way"), [(["read"], "from the cache"), (["read", "network"], "live")])
async def test_an_optional_capability_is_not_needed_and_a_body_can_see_whether_it_has_it(
    granted: Any, way: str
) -> None:
    @tool("t.quote", level="read", permissions={"required": ["read"], "optional": ["network"]})
    async def quote(ctx: Context) -> str:
        """Quote."""
        return "live" if "network" in ctx.capabilities else "from the cache"

    async with Handrail([quote], policy=Policy(capabilities=granted)) as hr:
        assert (await hr.call("t.quote", principal=ANA)).result.data == way


@pytest.mark.req("PM-16", "PM-19")
def test_a_group_hands_out_the_tools_that_the_permissions_open() -> None:
    search = reading("searchEntities", requires="entities.team.read")
    create = reading("createEntity", requires="entities.team.create", level="write")
    about = reading("aboutEntities")
    get_entity_tools = tool_group([search, create, about])

    assert get_entity_tools(["entities.team.read"]) == [search, about]
    assert get_entity_tools(["*"]) == [search, create, about]
    assert get_entity_tools(["filters.team.read"]) == [about]


@pytest.mark.req("PM-16", "PM-19")
def test_a_group_is_empty_when_permissions_are_unknown() -> None:
    group = tool_group([reading("searchEntities", requires="entities.team.read"), reading("aboutEntities")])

    assert group() == []  # type: ignore[call-arg]
    assert group(None) == []
    assert group([]) == []
