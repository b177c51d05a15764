"""Plans wait wherever ports are kept: memory, SQLite, PostgreSQL. Each call is taken once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, Rule, tool
from handrail.core.define.call import BoundCall
from handrail.core.guard.plans import PlannedCall
from handrail.core.tell.events import ToolStarted
from handrail.store import tables
from handrail.store.plans import add_planned
from tests.contract.backends import KINDS, Backend, backend_of

ANA = Principal(tenant="acme", user="ana", roles={"boss"}, permissions={"shelf.add"})
OPS = ANA.spawn("ops")
CARD = "4711-0815-4711"
PLAN = Policy(plan=True, approval_mode="policy")
pytestmark = pytest.mark.req("EX-20")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def stored(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


def planned(call_id: str, who: Principal = ANA, session: str | None = None) -> PlannedCall:
    call = BoundCall(
        "shelf.add",
        who,
        call_id,
        source="web",
        session=session,
        turn=3,
        idempotency_key="key",
        digest="digest",
        message="m1",
    )
    raw = {"title": call_id, "card": CARD}
    return PlannedCall(call, "shelf.add", {"title": call_id}, "it writes", raw, frozenset({CARD}), 7.5)


async def test_a_planned_call_comes_back_in_another_process_as_it_was(place: Backend) -> None:
    one = planned("call_1", session="s1")
    assert await place.process().plans.add(one) == "added"
    assert await place.process().plans.queued(ANA) == [one]


@pytest.mark.parametrize("call_id", ["x" * 5_000, "nul\x00", "ä\u202e", "\ud800", ""])
async def test_any_id_is_kept_and_taken(place: Backend, call_id: str) -> None:
    plans = place.process().plans
    await plans.add(planned(call_id))
    [found] = await plans.queued(ANA, None, [call_id])
    assert found.call.id == call_id and await plans.holds(call_id, "acme")
    assert await plans.take(found) == "taken"


async def test_plans_keep_their_order_and_are_apart_by_tenant_user_and_session(place: Backend) -> None:
    plans = place.process().plans
    globex, bo = Principal(tenant="globex", user="ana"), Principal(tenant="acme", user="bo")
    for call_id, who, session in (
        ("c", ANA, "s1"),
        ("a", OPS, "s2"),
        ("z", bo, "s1"),
        ("b", ANA, "s2"),
        ("y", globex, "s1"),
    ):
        await plans.add(planned(call_id, who, session))
    assert [one.call.id for one in await plans.queued(ANA)] == ["c", "a", "b"]
    assert [one.call.id for one in await plans.queued(ANA, "s2")] == ["a", "b"]
    assert [one.call.id for one in await plans.queued(OPS)] == ["a"]
    assert [one.call.id for one in await plans.queued(ANA, None, ["b", "c", "z"])] == ["c", "b"]
    assert await plans.queued(ANA, "s2", ["c"]) == await plans.queued(ANA, None, []) == []
    assert not await plans.holds("y", "acme")
    assert await plans.discard(ANA, "s2") == 2
    assert await plans.discard(globex) == 1
    assert [one.call.id for one in (*await plans.queued(ANA), *await plans.queued(bo))] == ["c", "z"]


async def test_one_of_many_who_want_a_call_takes_it(place: Backend) -> None:
    processes = [place.process() for _ in range(3)]
    await processes[0].plans.add(planned("call_1"))
    await processes[0].settled()
    [one] = await processes[1].plans.queued(ANA)
    taken = await asyncio.gather(*(process.plans.take(one) for process in processes for _ in range(3)))
    assert (taken.count("taken"), taken.count("busy")) == (1, 8)
    winner = processes[taken.index("taken") // 3]
    assert not await processes[1].plans.queued(ANA) and not await processes[1].plans.holds("call_1", "acme")
    assert await processes[2].plans.discard(ANA) == 0, "what somebody runs is nobody's to discard"
    await winner.plans.over(one)
    await winner.settled()
    assert await processes[2].plans.take(one) == "gone"
    assert await processes[0].plans.add(one) == "added", "nothing is left of it"


async def test_calls_of_a_plan_are_taken_one_after_the_other(place: Backend) -> None:
    one, two = place.process(), place.process()
    bo = Principal(tenant="acme", user="bo")
    for call_id, who, session in (("a", ANA, "s1"), ("b", OPS, "s1"), ("c", ANA, "s2"), ("d", bo, "s1")):
        await one.plans.add(planned(call_id, who, session))
    await one.settled()
    a, b, c = await two.plans.queued(ANA)
    [d] = await two.plans.queued(bo)
    assert await one.plans.take(a) == "taken"
    for process in (one, two):
        assert await process.plans.take(b) == await process.plans.take(b, "s1") == "busy"
        assert await process.plans.take(c) == "busy"
    assert await two.plans.take(d) == "taken", "another's plan goes on beside"
    assert await two.plans.take(c, "s2") == "taken", "and so does another session by itself"
    await two.plans.over(c)
    await two.settled()
    assert await two.plans.discard(OPS) == 1, "what nobody runs yet is discarded"
    assert await one.plans.take(b) == "busy"
    await one.plans.over(a)
    await one.settled()
    assert await one.plans.take(b) == "gone"


async def test_what_a_dead_process_took_is_there_again_and_in_doubt(stored: Backend) -> None:
    first, second = stored.process(), stored.process()
    await first.plans.add(planned("call_1"))
    [one] = await first.plans.queued(ANA)
    assert await first.plans.take(one) == "taken" and not one.doubtful
    assert await second.plans.queued(ANA) == []
    stored.kill(first)
    [again] = await second.plans.queued(ANA)
    assert again.doubtful
    assert [await second.plans.take(again) for _ in range(2)] == ["taken", "busy"]


async def test_a_full_plan_takes_no_more(stored: Backend) -> None:
    process = stored.process()

    def add(call_id: str) -> Any:
        def adding(conn: Any) -> Any:
            return add_planned(conn, "acme", planned(call_id), stored.seal, most=2)

        return process.rows.write("acme", adding)

    assert [await add(name) for name in ("a", "a", "b", "c")] == ["added", "known", "added", "full"]


@pytest.mark.req("RC-05")
async def test_no_row_shows_the_exact_arguments(stored: Backend) -> None:
    process = stored.process()
    await process.plans.add(planned("call_1"))
    with process.rows.reading("acme") as conn:
        row = conn.execute(tables.calls.planned_calls.select()).one()
    assert CARD not in repr(row) and row.args == '{"title":"call_1"}'


async def test_one_that_cannot_be_opened_hides_no_other(stored: Backend) -> None:
    process = stored.process()
    await process.plans.add(planned("call_1"))
    await process.plans.add(planned("call_2"))
    with process.rows.transaction("acme") as conn:
        changed = tables.calls.planned_calls.update().where(tables.calls.planned_calls.c.call_id == "call_1")
        conn.execute(changed.values(sealed="broken"))
    assert [one.call.id for one in await process.plans.queued(ANA)] == ["call_2"]


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
async def test_a_plan_made_by_one_process_is_run_by_another_in_order_and_once(stored: Backend) -> None:
    shelf: list[str] = []

    @tool("shelf.add", level="write")
    async def add(title: str) -> str:
        """Put a book on the shelf."""
        shelf.append(f"{title} begins")
        await asyncio.sleep(0.01)
        shelf.append(f"{title} ends")
        return title

    def handrail() -> Handrail:
        return Handrail([add], database=stored.url, worker=False, policy=PLAN)

    async with handrail() as hr:
        for title in "cab":
            assert (await hr.call("shelf.add", {"title": title}, principal=ANA)).status == "queued"
    async with handrail() as one, handrail() as two:
        done = await asyncio.gather(one.run_plan(ANA), two.run_plan(ANA), one.run_plan(ANA))
        assert [out.status for outs in done for out in outs] == ["completed"] * 3
        assert await one.planned(ANA) == []
    assert shelf == [f"{title} {what}" for title in "cab" for what in ("begins", "ends")]


@pytest.mark.parametrize("stored", ["sqlite"], indirect=True)
@pytest.mark.parametrize("began", [False, True])
@pytest.mark.req("BY-12")
async def test_a_call_that_a_process_died_over_runs_only_if_it_never_began(
    stored: Backend, began: bool
) -> None:
    ran: list[str] = []

    @tool("shelf.add", level="write")
    async def add(title: str) -> str:
        """Put a book on the shelf."""
        ran.append(title)
        return title

    async with Handrail([add], database=stored.url, worker=False, policy=PLAN) as dead:
        await dead.call("shelf.add", {"title": "a"}, principal=ANA)
        plans = dead._runtime.plans
        [one] = await plans.queued(ANA)
        assert await plans.take(one) == "taken"
        if began:
            begun = (ToolStarted, one.call, "shelf.add", 1.0, "run_1", {"title": "a"}, ())
            dead._runtime.teller.tell(begun)
        else:  # somebody else used its id meanwhile, which says nothing of the call
            await dead.call("shelf.add", {"title": "b"}, principal=ANA, id=one.call.id)
    async with Handrail([add], database=stored.url, worker=False, policy=PLAN) as hr:
        [out] = await hr.run_plan(ANA)
        assert await hr.planned(ANA) == []
    assert (out.status, ran) == (("needs_review", []) if began else ("completed", ["a"]))


async def test_a_plan_runs_with_what_its_user_may_do_now(stored: Backend) -> None:
    shelf: list[tuple[str, list[str]]] = []

    @tool("shelf.add", level="write", requires="shelf.add")
    async def add(title: str, *, ctx: Context) -> None:
        """Put a book on the shelf."""
        shelf.append((title, sorted(ctx.permissions)))

    no_clerks = Rule("shelf.add", {"@role": "clerk"}, "deny")
    policy = Policy(plan=True, approval_mode="policy", rules=[no_clerks])
    more = Principal(tenant="acme", user="ana", permissions={"shelf.add", "shelf.burn"})
    less = Principal(tenant="acme", user="ana", permissions={"shelf.read"})
    clerk = Principal(tenant="acme", user="ana", roles={"clerk"}, permissions={"*"})
    async with Handrail([add], database=stored.url, worker=False, policy=policy) as hr:
        for who, title in ((ANA, "a"), (OPS, "b"), (ANA, "c"), (OPS, "d")):
            assert (await hr.call("shelf.add", {"title": title}, principal=who)).status == "queued"
        calls = [one.call.id or "" for one in await hr.planned(ANA)]
        for now, call in ((less, calls[0]), (less, calls[1]), (clerk, calls[2])):
            [refused] = await hr.run_plan(now, calls=[call])
            assert (refused.status, refused.code) == ("refused", "NOT_PERMITTED")
        assert shelf == []
        [done] = await hr.run_plan(more)
        assert done.status == "completed"
    assert shelf == [("d", ["shelf.add"])], "and with no more than it was planned with"
