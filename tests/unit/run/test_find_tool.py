"""Finding a tool: initialised once, at first use; from toolsets on demand; the same until the call ends."""

import asyncio
import threading
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, Tool, define, tool
from handrail.ext.ports import MemoryClaims
from handrail.ext.toolsets import LazyToolset, StaticToolset

WITHOUT_ASKING = Policy(approval_mode="policy")


def definition(answer: str = "read", **more: Any) -> dict[str, Any]:
    return {"description": "Read.", "level": "read", "execute": lambda args: answer, **more}


@pytest.mark.req("RG-09", "RG-10", "RG-08", "EX-16")
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_a_tool_is_initialised_at_first_use_and_once_however_many_call(is_async) -> None:
    places: list[str] = []
    go_on = asyncio.Event()

    def at_once(init):
        places.append(init.working_dir)
        return definition()

    async def later(init):
        await go_on.wait()
        return at_once(init)

    late = define("late.read", later if is_async else at_once, aliases=["late"])
    async with Handrail([late], working_dir="/srv") as hr:
        assert places == [] and not late.ready
        calls = [asyncio.create_task(hr.call(name)) for name in ["late.read", "late", "late__read"] * 10]
        await asyncio.sleep(0)
        go_on.set()
        outs = await asyncio.gather(*calls)
        assert {(out.status, out.tool, out.result.data) for out in outs} == {
            ("completed", "late.read", "read")
        }
        assert (await hr.call("late.read")).ok
        known = hr.registry.get("late.read")
        assert known is not None and known.ready
    assert places == ["/srv"]


@pytest.mark.req("RG-08")
async def test_framework_tools_are_ready_to_call_and_initialised_once() -> None:
    made: list[int] = []
    contexts: list[str] = []
    results: list[Any] = []

    async def later(init):
        made.append(1)
        return definition()

    def create_context(tool_id: str, call_id: str) -> dict[str, Any]:
        contexts.append(tool_id)
        return {}

    options: dict[str, Any] = {"create_context": create_context, "on_result": results.append}
    async with Handrail([define("late.read", later)], **options) as hr:
        first, second = await hr.export("ai_sdk"), await hr.export("ai_sdk")
        assert await first["late-read"]["execute"]({}) == "read"
        assert await second["late-read"]["execute"]({}) == "read"
    assert made == [1]
    assert contexts == ["late.read"] * 2
    assert [result.data for result in results] == ["read"] * 2


@pytest.mark.req("RG-10", "RG-08")
async def test_a_tool_of_a_toolset_is_initialised_once_too() -> None:
    made: list[int] = []

    async def later(init):
        made.append(1)
        return definition()

    async with Handrail([StaticToolset([define("late.read", later)])]) as hr:
        for _ in range(3):
            assert (await hr.call("late.read")).ok
    assert made == [1]


@pytest.mark.req("RG-10")
async def test_one_of_several_who_wait_for_an_initialiser_may_give_up_without_harm() -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def later(init):
        entered.set()
        await go_on.wait()
        return definition()

    async with Handrail([define("late.read", later)]) as hr:
        first, second = (asyncio.create_task(hr.call("late.read")) for _ in range(2))
        await entered.wait()
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        go_on.set()
        assert (await second).ok


@pytest.mark.req("RG-10")
@pytest.mark.parametrize(
    ("gives", "words"),
    [
        (OSError("the model is not there"), "could not be set up: the model is not there"),
        ({"level": "read", "execute": len}, "could not be set up: it has no description"),
        (None, "could not be set up"),
        (7, "could not be set up"),
        (tool("other.id", level="read", description="Other.")(lambda: 1), "could not be set up"),
    ],
    ids=["raises", "incomplete", "nothing", "number", "another tool"],
)
async def test_a_tool_that_cannot_be_initialised_is_unavailable_and_tried_again(gives, words) -> None:
    answers = [gives, definition()]

    async def later(init):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async with Handrail([define("late.read", later)]) as hr:
        out = await hr.call("late.read", session="s")
        assert (out.status, out.code) == ("refused", "TOOL_UNAVAILABLE")
        assert words in (out.result.error or "")
        assert __file__ not in (out.result.error or ""), "where it was written is for the developer's log"
        assert [event.kind for event in hr.log.read("local", session="s")] == ["failed"]
        assert (await hr.call("late.read")).ok


@pytest.mark.req("RG-06", "RG-10")
async def test_threads_with_loops_of_their_own_initialise_a_tool_without_harm() -> None:
    barrier = threading.Barrier(4, timeout=20)

    async def later(init):
        await asyncio.sleep(0)
        return definition()

    hr = Handrail([define("late.read", later)])

    def call() -> str:
        async def in_loop() -> str:
            barrier.wait()
            return (await hr.call("late.read")).status

        return asyncio.run(in_loop())

    statuses = await asyncio.gather(*(asyncio.to_thread(call) for _ in range(4)))
    assert set(statuses) == {"completed"}
    await hr.close()


@pytest.mark.req("RG-06")
async def test_registered_tools_come_before_those_of_toolsets_and_earlier_ones_first() -> None:
    def named(answer: str) -> Tool:
        return define("same.name", definition(answer))

    async with Handrail([StaticToolset([named("a")]), StaticToolset([named("b")])]) as hr:
        assert (await hr.call("same.name")).result.data == "a"
        hr.registry.register(named("registered"))
        assert (await hr.call("same.name")).result.data == "registered"


@pytest.mark.req("EX-02")
@pytest.mark.parametrize("gives", [OSError("offline"), "a string"], ids=["raises", "no tool"])
async def test_a_toolset_that_fails_makes_its_tools_unavailable_and_no_others(gives) -> None:
    def resolve(name: str):
        if isinstance(gives, Exception):
            raise gives
        return gives

    async with Handrail([define("near.read", definition()), LazyToolset(resolve)]) as hr:
        out = await hr.call("far.read", session="s")
        assert (out.status, out.code) == ("refused", "TOOL_UNAVAILABLE")
        assert [event.kind for event in hr.log.read("local", session="s")] == ["failed"]
        assert (await hr.call("near.read")).ok


@pytest.mark.req("EX-02")
@pytest.mark.parametrize("gives", [OSError("offline"), ["a string"]], ids=["raises", "no tools"])
async def test_a_toolset_that_cannot_list_does_not_keep_a_tool_from_being_unknown(gives) -> None:
    class Unlisted(StaticToolset):
        async def tools(self, principal: Principal, /):
            if isinstance(gives, Exception):
                raise gives
            return gives

    async with Handrail([Unlisted([])]) as hr:
        out = await hr.call("far.read")
        assert (out.status, out.code) == ("refused", "TOOL_NOT_FOUND")


@pytest.mark.req("EX-01")
async def test_a_hidden_tool_and_an_unknown_one_are_answered_alike() -> None:
    @tool("secret.read", level="read", tenants=["other"])
    async def secret() -> str:
        """Read secrets."""
        return "secret"

    async with Handrail([secret]) as hr:
        hidden = await hr.call("secret.read", session="a")
        hr.registry.unregister("secret.read")
        unknown = await hr.call("secret.read", session="b")
        assert hidden.result == unknown.result
        assert (hidden.tool, hidden.decision) == (unknown.tool, unknown.decision)
        [told], [told_too] = (list(hr.log.read("local", session=one)) for one in "ab")
        assert {**told.payload(), "duration_ms": 0} == {**told_too.payload(), "duration_ms": 0}


@pytest.mark.req("RG-06")
@pytest.mark.parametrize("change", ["unregister", "replace"])
async def test_a_call_finishes_with_the_tool_it_began_with(change) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    @tool("desk.write", level="write", aliases=["write"], writes=lambda args: ["desk"])
    async def old(*, ctx: Context) -> int:
        """Write."""
        entered.set()
        await go_on.wait()
        ctx.metadata(title="Nearly")
        return 1

    @tool("desk.write", level="destructive")
    async def new() -> str:
        """Tear up."""
        return "torn"

    claims = MemoryClaims()
    async with Handrail([old], policy=WITHOUT_ASKING, claims=claims) as hr:
        heard: list[tuple[str, str]] = []
        hr.subscribe(lambda event: heard.append((event.kind, event.tool)))
        call = asyncio.create_task(hr.call("write"))
        await entered.wait()
        if change == "unregister":
            hr.registry.unregister("desk.write")
        else:
            hr.registry.register(new, replace=True)
        go_on.set()
        out = await call
        assert (out.status, out.tool, out.result.data) == ("completed", "desk.write", 1)
        assert heard == [
            ("started", "desk.write"),
            ("progress", "desk.write"),
            ("completed", "desk.write"),
        ]
        assert len(claims) == 0
        after = await hr.call("desk.write")
        assert after.status == ("refused" if change == "unregister" else "pending")


@pytest.mark.req("RG-06")
async def test_a_call_whose_tool_changed_since_the_caller_saw_it_is_refused_as_stale() -> None:
    first = define("notes.read", definition("first"))
    second = define("notes.read", definition("second", description="Read other notes."))
    async with Handrail([first]) as hr:
        [seen] = await hr.tools()
        assert (await hr.call("notes.read", digest=seen.digest)).result.data == "first"
        hr.registry.register(second, replace=True)
        out = await hr.call("notes.read", digest=seen.digest)
        assert (out.status, out.code, out.run_id) == ("refused", "STALE_TOOL", None)
        assert out.result.metadata["digest"] == second.digest
        assert (await hr.call("notes.read", digest=second.digest)).result.data == "second"
        assert (await hr.call("notes.read")).result.data == "second"


@pytest.mark.req("RG-10", "MT-10")
async def test_a_tool_out_of_sight_that_cannot_be_set_up_answers_like_one_that_is_ready() -> None:
    def fails(init: Any) -> dict[str, Any]:
        raise RuntimeError("no such database: payroll")

    ready = define("staff.hire", definition())
    async with Handrail([define("staff.pay", fails), ready], policy=Policy(deny=["staff.*"])) as hr:
        broken, whole = await hr.call("staff.pay"), await hr.call("staff.hire")
        assert broken.code == whole.code
        assert broken.result.error == (whole.result.error or "").replace("staff.hire", "staff.pay")
