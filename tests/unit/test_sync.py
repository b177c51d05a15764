"""The blocking façade: the same Handrail, from any thread."""

import asyncio
import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from handrail import Call, Context, Policy, Principal, tool
from handrail.core.run.approvals.inbox import Approvals
from handrail.core.run.jobs.schedules import Scheduler
from handrail.core.tell.log import open_runs
from handrail.engine.admin import JobAdmin, SecretAdmin
from handrail.engine.dead_letters import DeadLetterAdmin
from handrail.engine.handrail import Handrail as AsyncHandrail
from handrail.ext.compat import get_tenant_id_for_tool, tool_context
from handrail.ext.errors import UsageError
from handrail.sync import (
    Handrail,
    SyncApprovals,
    SyncDeadLetters,
    SyncJobs,
    SyncSchedules,
    SyncSecrets,
)

ANA = Principal(tenant="acme", user="ana")
BO = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})


@tool("sum.add", level="read")
async def add(a: int, b: int = 1) -> int:
    """Add."""
    await asyncio.sleep(0)
    return a + b


@tool("sum.slow", level="read")
def slow(a: int, *, ctx: Context) -> int:
    """Add in a thread."""
    ctx.append_output(f"{a} ")
    return a + 1


@tool("sum.wait", level="read")
async def wait(*, ctx: Context) -> None:
    """Wait for ever."""
    ctx.append_output("waiting")
    await asyncio.Event().wait()


@tool("sum.send", level="write")
async def send() -> str:
    """Send."""
    return "sent"


@tool("sum.tenant", level="read")
async def tenant(*, ctx: Context) -> list[Any]:
    """Say for whom this runs."""
    return [get_tenant_id_for_tool(), ctx.user_id]


TOOLS = [add, slow, wait, send, tenant]


def names(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.mark.req("EX-01")
def test_it_has_every_public_name_of_the_async_one() -> None:
    with Handrail() as hr:
        assert names(hr) == names(hr.inner) | {"inner", "begin", "block_on"}
        # told by `cancel` and by doors
        assert names(hr.approvals) == names(hr.inner.approvals) - {"withdraw", "collected", "lapse"}
        assert names(hr.jobs) == names(hr.inner.jobs)
        assert names(hr.secrets) == names(hr.inner.secrets)
        assert names(hr.dead_letters) == names(hr.inner.dead_letters) - {"ended"}  # told by the engine


@pytest.mark.req("AP-02")
def test_questions_are_listed_and_answered() -> None:
    with Handrail(TOOLS) as hr:
        outs = [hr.call("sum.send", principal=ANA) for _ in range(3)]
        ids = [out.approval_id or "" for out in outs]
        assert [one.id for one in hr.approvals.list(BO)] == ids
        hr.approvals.approve(ids[0], by=BO, edits={})
        hr.approvals.reject(ids[1], by=BO, reason="no")
        hr.approvals.respond(ids[2], by=BO, result="as good as sent")
        done = [hr.wait(out.call_id, 10) for out in outs]
        found = hr.approvals.get(ids[1], BO)

    assert [out.result.data for out in done] == ["sent", None, "as good as sent"]
    assert found is not None and found.status == "rejected"


@pytest.mark.req("EX-06")
def test_a_plan_is_listed_run_and_discarded() -> None:
    with Handrail(TOOLS, policy=Policy(approval_mode="policy", plan=True)) as hr:
        assert hr.policy.plan is True
        hr.call("sum.send", principal=ANA, session="s")
        assert [one.tool for one in hr.planned(ANA, "s")] == ["sum.send"]
        assert [out.result.data for out in hr.run_plan(ANA)] == ["sent"]
        hr.call("sum.send", principal=ANA)
        assert (hr.discard_plan(ANA), hr.planned(ANA)) == (1, [])


@pytest.mark.req("EX-01")
def test_results_events_and_tools_are_there_as_well() -> None:
    heard: list[str] = []
    with Handrail(TOOLS) as hr:
        stops = (
            hr.subscribe(lambda event: heard.append(event.kind)),
            hr.subscribe_registry(lambda event: heard.append(event.type)),
        )
        out = hr.call("sum.add", {"a": 1}, principal=ANA)
        assert hr.read_result(out.call_id, ANA) == "2"
        assert hr.last_result("sum.add", ANA) == out.result
        for stop in stops:
            stop()
        hr.call("sum.add", {"a": 1}, principal=ANA)
        assert len(list(hr.log.read("acme", tool="sum.add"))) == 4
        assert hr.registry.get("sum.add") is add
    assert heard == ["started", "completed", "execute"]


@pytest.mark.req("EX-01")
def test_it_calls_runs_explains_lists_and_exports() -> None:
    with Handrail(TOOLS) as hr:
        assert hr.call("sum.add", {"a": 1}, principal=ANA).result.data == 2
        assert hr.call("sum.slow", {"a": 1}, principal=ANA).result.data == 2
        assert hr.run(Call("sum.add", {"a": 2}, ANA)).result.data == 3
        assert hr.explain("sum.send", {}, ANA).verdict == "ask"
        assert [one.id for one in hr.tools(ANA)] == sorted(one.id for one in TOOLS)
        assert hr.export("anthropic", ANA)[0]["name"] == "sum__add"
        assert hr.call("sum.none", principal=ANA).code == "TOOL_NOT_FOUND"


@pytest.mark.req("EV-16")
def test_many_threads_call_at_once() -> None:
    with Handrail(TOOLS) as hr, ThreadPoolExecutor(16) as threads:

        def call(n: int) -> int:
            name = ("sum.add", "sum.slow")[n % 2]
            return int(hr.call(name, {"a": n}, principal=ANA, session=f"s{n % 4}").result.data)

        assert list(threads.map(call, range(200))) == [n + 1 for n in range(200)]
        for session in range(4):
            events = list(hr.log.read("acme", session=f"s{session}"))
            assert [event.seq for event in events] == list(range(1, len(events) + 1))


@pytest.mark.req("ST-05")
def test_it_streams_events_as_they_happen() -> None:
    with Handrail(TOOLS) as hr:
        events = hr.stream("sum.slow", {"a": 1}, principal=ANA)
        assert [event.kind for event in events] == ["started", "chunk", "completed"]
        assert [event.kind for event in hr.stream("sum.none", principal=ANA)] == ["failed"]


@pytest.mark.req("ST-05", "CX-07")
def test_leaving_a_stream_early_cancels_the_call() -> None:
    with Handrail(TOOLS) as hr:
        for event in hr.stream("sum.wait", principal=ANA, session="s1"):
            if event.kind == "chunk":
                break
        del event
        kinds = [event.kind for event in hr.log.read("acme", session="s1")]
        assert kinds == ["started", "chunk", "cancelled"]


@pytest.mark.req("ST-05")
def test_two_threads_stream_without_mixing() -> None:
    with Handrail(TOOLS) as hr, ThreadPoolExecutor(2) as threads:

        def chunks(n: int) -> set[str]:
            events = [list(hr.stream("sum.slow", {"a": n}, principal=ANA)) for _ in range(20)]
            return {event.payload()["chunk"] for one in events for event in one if event.kind == "chunk"}

        assert list(threads.map(chunks, [1, 2])) == [{"1 "}, {"2 "}]


@pytest.mark.req("CX-07")
def test_another_thread_cancels_a_call() -> None:
    with Handrail(TOOLS) as hr, ThreadPoolExecutor(1) as threads:
        begun = threading.Event()
        hr.inner.subscribe(lambda event: begun.set() if event.kind == "chunk" else None)
        waiting = threads.submit(hr.call, "sum.wait", principal=ANA, id="c1")
        assert begun.wait(5) and hr.cancel("c1", "enough")
        assert waiting.result(5).result.error == "Cancelled: enough."
        assert not hr.cancel("c1")


@pytest.mark.req("EV-08")
def test_an_approval_is_answered_and_its_call_goes_on() -> None:
    with Handrail(TOOLS) as hr:
        asked = hr.call("sum.send", principal=ANA)
        assert asked.status == "pending" and asked.approval_id is not None
        hr.block_on(hr.inner.approvals.approve(asked.approval_id, by=BO))
        assert hr.wait(asked.call_id, 5).result.data == "sent"


@pytest.mark.req("BJ-04")
def test_a_tenants_scope_follows_into_every_method() -> None:
    with Handrail(TOOLS) as hr:
        with tool_context("acme"):
            assert hr.call("sum.tenant").result.data == ["acme", None]
            assert hr.run(Call("sum.tenant")).result.data == ["acme", None]
            assert {event.tenant for event in hr.stream("sum.tenant")} == {"acme"}
        assert hr.call("sum.tenant").result.data == ["local", "local"]


@pytest.mark.req("BJ-04")
def test_a_sync_body_calls_through_the_same_facade_for_its_caller() -> None:
    with Handrail(TOOLS) as hr:

        @tool("sum.outer", level="read")
        def outer() -> Any:
            """Call another tool, blocking."""
            return hr.call("sum.tenant").result.data

        hr.inner.registry.register(outer)
        assert hr.call("sum.outer", principal=ANA).result.data == ["acme", "ana"]


@pytest.mark.req("EX-01")
async def test_it_works_inside_a_running_loop() -> None:
    with Handrail(TOOLS) as hr:
        assert hr.call("sum.add", {"a": 1}).result.data == 2
        assert [event.kind for event in hr.stream("sum.add", {"a": 1})] == ["started", "completed"]


@pytest.mark.req("EX-01")
def test_an_async_body_cannot_block_on_its_own_loop_and_is_told_what_to_do() -> None:
    with Handrail(TOOLS) as hr:

        @tool("sum.stuck", level="read")
        async def stuck() -> Any:
            """Block its own loop."""
            return hr.call("sum.add", {"a": 1}).result.data

        hr.inner.registry.register(stuck)
        outcome = hr.call("sum.stuck")
    assert outcome.status == "failed" and "await ctx.call(...)" in (outcome.result.error or "")


@pytest.mark.req("EX-01")
def test_after_close_it_says_so_and_closing_twice_is_fine() -> None:
    hr = Handrail(TOOLS)
    stream = hr.stream("sum.wait")
    next(stream)
    hr.close()
    hr.close()
    for use in (lambda: hr.call("sum.add", {"a": 1}), lambda: hr.tools(), lambda: next(stream)):
        with pytest.raises(UsageError, match="closed"):
            use()
    assert not any(thread.name == "handrail-sync" for thread in threading.enumerate())
    assert open_runs(hr.log.read("local")) == set()
    assert hr.inner._runtime.running == {} and hr.inner._runtime.teller.listeners.all == ()


@pytest.mark.req("CX-08")
def test_closing_ends_the_calls_that_other_threads_wait_for() -> None:
    hr = Handrail(TOOLS)
    begun = threading.Event()
    hr.inner.subscribe(lambda event: begun.set() if event.kind == "chunk" else None)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(hr.call, "sum.wait", principal=ANA)
        assert begun.wait(5)
        hr.close()
        with pytest.raises(UsageError, match="closed while the call was on its way"):
            waiting.result(5)
    assert [event.kind for event in hr.log.read("acme")][-1] == "cancelled"


@pytest.mark.req("EV-08")
def test_closing_finishes_what_was_approved() -> None:
    hr = Handrail(TOOLS, policy=Policy())
    asked = hr.call("sum.send", principal=ANA)
    assert asked.approval_id is not None
    hr.block_on(hr.inner.approvals.approve(asked.approval_id, by=BO))
    hr.close()
    assert [event.kind for event in hr.log.read("acme")][-1] == "completed"


@pytest.mark.req("EX-19", "BY-18")
@pytest.mark.parametrize("how", ["facade", "context"])
def test_as_many_bodies_as_there_are_threads_may_all_wait_for_another_body(how: str) -> None:
    @tool("odd.inner", level="read")
    def inner() -> str:
        """Answer."""
        return "inner"

    @tool("odd.outer", level="read")
    def outer(*, ctx: Context) -> str:
        """Ask another, once all are here."""
        everybody.wait(20)
        return str((hr.call("odd.inner") if how == "facade" else ctx.call_and_wait("odd.inner")).result.data)

    everybody = threading.Barrier(64)
    with Handrail([inner, outer]) as hr:
        outcomes = hr.call_many([Call("odd.outer", {}) for _ in range(64)])
    assert {out.result.data for out in outcomes} == {"inner"}


PARTS = (
    (Handrail, AsyncHandrail),
    (SyncApprovals, Approvals),
    (SyncDeadLetters, DeadLetterAdmin),
    (SyncSecrets, SecretAdmin),
    (SyncJobs, JobAdmin),
    (SyncSchedules, Scheduler),
)
DERIVED = [
    (sync, inner, name)
    for sync, inner in PARTS
    for name in sorted(names(sync) - {"open", "close"})
    if callable(getattr(inner, name, None))
]


@pytest.mark.req("EX-01")
@pytest.mark.parametrize(
    ("sync", "inner", "name"), DERIVED, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_method_takes_what_the_async_one_takes_and_says_the_same_of_itself(
    sync: type, inner: type, name: str
) -> None:
    derived, method = getattr(sync, name), getattr(inner, name)
    assert inspect.signature(derived).parameters == inspect.signature(method).parameters
    assert derived.__doc__ == method.__doc__
    assert "Coroutine" not in inspect.signature(derived).return_annotation


@pytest.mark.req("EX-01")
def test_a_signature_names_what_comes_back_without_await() -> None:
    returns = {
        name: inspect.signature(getattr(Handrail, name)).return_annotation
        for name in ("call", "stream", "runs")
    }
    assert returns == {"call": "Outcome", "stream": "Iterator[Event]", "runs": "list[Run]"}
    assert inspect.signature(Handrail) == inspect.signature(AsyncHandrail)
