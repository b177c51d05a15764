"""Plan mode: calls are queued, reviewed, and run in order through the full guard, or discarded."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, Registry, Rule, Tool, tool
from handrail.core.define.call import BoundCall
from handrail.core.guard.plans import MemoryPlans, PlannedCall, may_reach

ANA = Principal(tenant="acme", user="ana")
OPS = Principal(tenant="acme", user="ana", agent="ops")
PLAN = Policy(plan=True, approval_mode="policy")
pytestmark = pytest.mark.req("EX-06", "EX-20")


def adding(shelf: list[str], **options: Any) -> Tool:
    @tool("shelf.add", **{"level": "write", **options})
    async def add(title: str, copies: int = 1) -> str:
        """Put a book on the shelf."""
        shelf.append(title)
        return title

    return add


async def add(hr: Handrail, title: str, who: Principal = ANA, **more: Any) -> Any:
    return await hr.call("shelf.add", {"title": title}, principal=who, **more)


async def test_a_planned_call_is_queued_and_nothing_runs_or_is_told() -> None:
    shelf: list[str] = []
    async with Handrail([adding(shelf)], policy=PLAN) as hr:
        out = await add(hr, "Emma")

    assert (out.status, out.code, out.run_id, shelf) == ("queued", "PLANNED", None, [])
    assert not list(hr.log.read("acme"))
    assert "is planned, not run" in out.to_model()


async def test_the_plan_shows_what_would_run_in_order_and_as_it_would_run() -> None:
    async with Handrail([adding([])], policy=PLAN) as hr:
        await add(hr, "Emma")
        await hr.call("shelf.add", {"title": "Ulysses", "copies": "2"}, principal=ANA)
        planned = await hr.planned(ANA)

    assert [(one.tool, one.args) for one in planned] == [
        ("shelf.add", {"title": "Emma"}),
        ("shelf.add", {"title": "Ulysses", "copies": 2}),
    ]
    assert planned[0].reason == "plan mode queues it for review"


async def test_the_plan_runs_in_order_and_each_call_keeps_its_id() -> None:
    shelf: list[str] = []
    async with Handrail([adding(shelf)], policy=PLAN) as hr:
        queued = [await add(hr, title) for title in ("c", "a", "b")]
        done = await hr.run_plan(ANA)
        assert await hr.planned(ANA) == [] and await hr.run_plan(ANA) == []

    assert shelf == ["c", "a", "b"]
    assert [out.status for out in done] == ["completed"] * 3
    assert [out.call_id for out in done] == [out.call_id for out in queued]
    assert [event.type for event in hr.log.read("acme")] == ["tool.started", "tool.completed"] * 3


async def test_a_discarded_plan_never_runs() -> None:
    shelf: list[str] = []
    async with Handrail([adding(shelf)], policy=PLAN) as hr:
        await add(hr, "Emma")
        await add(hr, "Ulysses")
        assert await hr.discard_plan(ANA) == 2
        assert await hr.discard_plan(ANA) == 0
        assert await hr.run_plan(ANA) == []

    assert shelf == []


@pytest.mark.req("BY-04")
async def test_each_call_of_a_plan_passes_the_full_guard_as_it_is_then() -> None:
    shelf: list[str] = []
    registry = Registry([adding(shelf)])
    rules = [Rule("shelf.*", {"title": {"contains": "!"}}, "deny", name="no shouting")]
    async with Handrail(registry=registry, policy=Policy(plan=True, rules=rules)) as hr:
        refused = await add(hr, "Emma!")
        assert (refused.status, refused.code) == ("refused", "NOT_PERMITTED")
        await add(hr, "Emma")
        await hr.call("shelf.add", {"title": "Ulysses"}, principal=ANA, digest=adding([]).digest)
        registry.register(adding(shelf, requires="shelf", description="Add."), replace=True)
        done = await hr.run_plan(ANA)

    assert [out.code for out in done] == ["NOT_PERMITTED", "NOT_PERMITTED"]
    assert shelf == []


async def test_running_a_plan_approves_nothing() -> None:
    shelf: list[str] = []
    async with Handrail([adding(shelf)], policy=Policy(plan=True, approval_mode="strict")) as hr:
        await add(hr, "Emma", OPS)
        [out] = await hr.run_plan(OPS)

    assert (out.status, out.code, shelf) == ("pending", "NEEDS_APPROVAL", [])


async def test_what_a_rule_queues_runs_with_the_plan() -> None:
    shelf: list[str] = []
    policy = Policy(approval_mode="policy", rules=[Rule("shelf.*", verdict="queue")])
    async with Handrail([adding(shelf)], policy=policy) as hr:
        assert (await add(hr, "Emma")).status == "queued"
        [out] = await hr.run_plan(ANA)

    assert (out.status, shelf) == ("completed", ["Emma"])


async def test_what_is_refused_is_not_planned() -> None:
    tools = [adding([], requires="shelf")]
    async with Handrail(tools, policy=PLAN) as hr:
        assert (await add(hr, "Emma")).code == "NOT_PERMITTED"
        assert await hr.planned(ANA) == []


@pytest.mark.parametrize(
    ("plan", "level", "status"),
    [
        (True, "read", "completed"),
        (True, "draft", "queued"),
        (True, "write", "queued"),
        (True, "destructive", "queued"),
        ("all", "read", "queued"),
        ("all", "destructive", "queued"),
        (False, "draft", "completed"),
    ],
)
async def test_reads_run_so_that_a_plan_can_be_made_unless_all_is_planned(
    plan: Any, level: str, status: str
) -> None:
    async with Handrail([adding([], level=level)], policy=Policy(plan=plan)) as hr:
        assert (await add(hr, "Emma")).status == status


async def test_a_person_in_plan_mode_is_planned_too() -> None:
    async with Handrail([adding([])], policy=PLAN) as hr:
        assert (await add(hr, "Emma", source="web")).status == "queued"


async def test_plans_are_kept_apart_by_tenant_user_and_session() -> None:
    shelf: list[str] = []
    bo, eve = Principal(tenant="acme", user="bo"), Principal(tenant="globex", user="ana")
    async with Handrail([adding(shelf)], policy=PLAN) as hr:
        await add(hr, "ana 1", session="s1")
        await add(hr, "ana 2", session="s2")
        await add(hr, "her agent", OPS, session="s2")
        await add(hr, "bo", bo, session="s1")
        await add(hr, "eve", eve, session="s1")

        assert [one.args["title"] for one in await hr.planned(ANA, "s1")] == ["ana 1"]
        assert len(await hr.planned(ANA)) == 3
        await hr.run_plan(ANA, "s2")
        assert await hr.discard_plan(eve) == 1
        assert len(await hr.planned(bo)) == 1

    assert shelf == ["ana 2", "her agent"]


async def test_arguments_changed_by_their_sender_after_the_review_do_not_run() -> None:
    shelf: list[str] = []
    sent = {"title": "Emma"}
    async with Handrail([adding(shelf)], policy=PLAN) as hr:
        await hr.call("shelf.add", sent, principal=ANA)
        sent["title"] = "Ulysses"
        [planned] = await hr.planned(ANA)
        planned.args["title"] = "Dracula"
        await hr.run_plan(ANA)

    assert shelf == ["Emma"]


async def test_a_full_plan_takes_no_more_of_this_principal_and_leaves_room_for_others() -> None:
    plans, bo = MemoryPlans(keep=2), Principal(tenant="acme", user="bo")
    taken = [await plans.add(PlannedCall(BoundCall("t", ANA, f"c{at}"), "t", {}, "")) for at in range(3)]
    other = await plans.add(PlannedCall(BoundCall("t", bo, "c4"), "t", {}, ""))

    assert (taken, other) == (["added", "added", "full"], "added")


@pytest.mark.parametrize(
    ("who", "owner", "within"),
    [
        (ANA, ANA, True),
        (ANA, OPS, True),
        (OPS, OPS, True),
        (OPS, ANA, False),
        (OPS, Principal(tenant="acme", user="ana", agent="sales"), False),
        (Principal(tenant="acme", user="bo"), ANA, False),
        (Principal(tenant="globex", user="ana"), ANA, False),
        (Principal(tenant="acme", user="ana", ceiling="read"), ANA, False),
        (Principal(tenant="acme", user="ana", scope=("t.*",)), ANA, False),
        (Principal(tenant="acme", key="service"), Principal(tenant="acme", key="service"), True),
        (
            Principal(tenant="acme", key="service"),
            Principal(tenant="acme", key="service", permissions={"a"}),
            False,
        ),
        (Principal(tenant="acme"), ANA, False),
    ],
)
def test_nobody_reaches_what_was_planned_with_more_authority(
    who: Principal, owner: Principal, within: bool
) -> None:
    assert may_reach(who, PlannedCall(BoundCall("t", owner, "c"), "t", {}, "")) is within


async def test_an_id_that_is_planned_is_in_use() -> None:
    shelf: list[str] = []
    async with Handrail([adding(shelf)], policy=PLAN) as hr:
        await add(hr, "Emma", id="one")
        again = await add(hr, "Ulysses", id="one")
        assert (again.status, again.code) == ("refused", "CALL_ID_IN_USE")
        await hr.run_plan(ANA)
        await add(hr, "Emma", id="one")
        assert [out.status for out in await hr.run_plan(ANA)] == ["completed"], "and free when it has run"

    assert shelf == ["Emma", "Emma"]


async def test_a_call_that_fails_keeps_the_rest_from_nothing_unless_it_is_to_stop_there() -> None:
    shelf: list[str] = []

    @tool("shelf.fail", level="write")
    async def fail() -> str:
        """Fail."""
        raise RuntimeError("the shelf is broken")

    async with Handrail([adding(shelf), fail], policy=PLAN) as hr:
        for stop, left in ((False, []), (True, ["c"])):
            shelf.clear()
            await add(hr, "a")
            await hr.call("shelf.fail", principal=ANA)
            await add(hr, "c")
            done = await hr.run_plan(ANA, stop_on_failure=stop)
            assert [out.status for out in done] == ["completed", "failed", "completed"][: len(done)]
            assert [one.args["title"] for one in await hr.planned(ANA)] == left
            assert shelf == (["a"] if stop else ["a", "c"])


async def test_some_calls_of_a_plan_may_be_run_and_the_others_stay() -> None:
    shelf: list[str] = []
    async with Handrail([adding(shelf)], policy=PLAN) as hr:
        outs = [await add(hr, title) for title in "abc"]
        await hr.run_plan(ANA, calls={outs[1].call_id, "another"})
        assert [one.args["title"] for one in await hr.planned(ANA)] == ["a", "c"]

    assert shelf == ["b"]


async def test_a_call_for_a_full_plan_is_refused_and_says_what_to_do() -> None:
    async with Handrail([adding([])], policy=PLAN) as hr:
        for _ in range(1_000):
            await add(hr, "Emma")
        out = await add(hr, "Emma")

    assert (out.status, out.code) == ("refused", "PLAN_FULL")
    assert "shelf.add" in (out.result.error or "")
