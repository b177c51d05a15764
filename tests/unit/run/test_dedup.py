"""Repeated calls of an agent's run: answered, not made again."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import ApprovalRequest, Call, Handrail, Policy, Principal, ToolError, define, tool
from handrail.ext.compat import (
    WorkerState,
    is_tool_already_executed,
    mark_tool_executed,
    new_tool_calls,
    tool_signature,
)
from handrail.ext.errors import UsageError
from handrail.ext.events import Event
from handrail.testing import FakeClock

ANA = Principal(tenant="acme", user="ana")
BEN = Principal(tenant="acme", user="ben", permissions={"approvals.decide"})
RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    RAN.clear()


@tool("notes.read", level="read", aliases=["peek"], reads=lambda args: [args.name])
async def read(name: str, deep: bool = False) -> str:
    """Read a note."""
    RAN.append(f"read {name}")
    await asyncio.sleep(0)
    if name == "broken":
        raise ToolError("It is torn.")
    return name


@tool("notes.write", level="write", writes=lambda args: [args.name])
async def write(name: str) -> str:
    """Write a note."""
    RAN.append(f"write {name}")
    return name


TOOLS = [read, write]
WITHOUT_ASKING = Policy(approval_mode="policy")


def call(tool: str, *, principal: Principal = ANA, **args: Any) -> Call:
    return Call(f"notes.{tool}", args, principal=principal, session="s")


@pytest.mark.req("DD-01", "DD-03", "DD-05", "DD-06")
async def test_the_same_call_again_is_answered_with_the_earlier_result() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup()
        (first,) = await hr.call_many([call("read", name="a", deep=True)], dedup=memory)
        assert not memory.skipped and memory.exit is None
        again, other = await hr.call_many(
            [Call("notes.read", {"deep": True, "name": "a"}, principal=ANA), call("read", name="b")],
            dedup=memory,
        )
        assert (again.status, again.code, again.result.data) == ("duplicate", "DUPLICATE", "a")
        assert again.call_id != first.call_id and again.run_id == first.run_id
        assert other.status == "completed" and memory.skipped == ("notes.read",) and memory.exit is None
    assert RAN == ["read a", "read b"]


@pytest.mark.req("DD-04", "DD-05")
async def test_when_nothing_new_was_asked_for_the_loop_ends() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup()
        asked = [call("read", name="a"), call("read", name="b")]
        await hr.call_many(asked, dedup=memory)
        await hr.call_many(asked, dedup=memory)
        assert memory.exit == {"type": "exit", "reason": "all_tools_duplicate"}
        await hr.call_many([], dedup=memory)
        assert memory.exit is None and memory.skipped == ()


@pytest.mark.req("DD-05")
async def test_two_of_a_kind_in_one_pass_are_one_run_and_the_other_names_of_a_tool_are_the_same() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup()
        outcomes = await hr.call_many(
            [
                call("read", name="a"),
                Call("peek", {"name": "a"}, ANA),
                Call("notes__read", '{"name": "a"}', ANA),
            ],
            dedup=memory,
        )
        assert [out.status for out in outcomes] == ["completed", "duplicate", "duplicate"]
        assert [out.result.data for out in outcomes] == ["a"] * 3 and len(
            {out.call_id for out in outcomes}
        ) == 3
        assert memory.skipped == ("notes.read", "notes.read")
    assert RAN == ["read a"]


@pytest.mark.req("DD-03")
async def test_nobody_is_handed_what_another_principal_was_told() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup()
        outcomes = await hr.call_many(
            [call("read", name="a"), call("read", name="a", principal=BEN)], dedup=memory
        )
        assert [out.status for out in outcomes] == ["completed", "completed"]
        hr.registry.unregister("notes.read")
        (gone,) = await hr.call_many([call("read", name="a")], dedup=memory)
        assert gone.code == "TOOL_NOT_FOUND"


@pytest.mark.req("DD-03", "BP-11")
async def test_until_change_lets_reads_be_repeated_once_something_was_written() -> None:
    async with Handrail(TOOLS, policy=WITHOUT_ASKING) as hr:
        memory = hr.dedup("until_change")
        outcomes = await hr.call_many(
            [call("read", name="a"), call("read", name="a"), call("write", name="b"), call("read", name="a")],
            dedup=memory,
        )
        assert [out.status for out in outcomes] == ["completed", "duplicate", "completed", "completed"]
        assert RAN == ["read a", "write b", "read a"] or RAN == ["read a", "read a", "write b"]
        outcomes = await hr.call_many([call("read", name="a"), call("write", name="b")], dedup=memory)
        assert [out.status for out in outcomes] == ["duplicate", "duplicate"]

        memory = hr.dedup("run")
        outcomes = await hr.call_many(
            [call("read", name="a"), call("write", name="b"), call("read", name="a")], dedup=memory
        )
        assert [out.status for out in outcomes] == ["completed", "completed", "duplicate"]


@pytest.mark.req("DD-03")
async def test_what_reads_the_written_thing_again_sees_it_written() -> None:
    async with Handrail(TOOLS, policy=WITHOUT_ASKING) as hr:
        await hr.call_many(
            [call("read", name="a"), call("write", name="a"), call("read", name="a")],
            dedup=hr.dedup("until_change"),
        )
    assert RAN == ["read a", "write a", "read a"]


@pytest.mark.req("DD-03", "DD-06")
async def test_a_failure_counts_as_made_unless_it_is_repeatable() -> None:
    async with Handrail(TOOLS) as hr:
        for failures, ran in (("marked", 1), ("repeatable", 2)):
            RAN.clear()
            memory = hr.dedup(failures=failures)  # type: ignore[arg-type]
            await hr.call_many([call("read", name="broken")], dedup=memory)
            (again,) = await hr.call_many([call("read", name="broken")], dedup=memory)
            assert len(RAN) == ran and again.result.error == "It is torn."
            assert again.status == ("duplicate" if ran == 1 else "failed")


@pytest.mark.req("DD-03", "BP-02")
async def test_when_the_first_of_two_is_cancelled_the_second_runs() -> None:
    began = asyncio.Event()

    @tool("slow.wait", level="read")
    async def wait() -> str:
        """Wait."""
        if not began.is_set():
            began.set()
            await asyncio.Event().wait()
        return "there"

    async with Handrail([wait]) as hr, asyncio.timeout(20):
        pass_ = asyncio.ensure_future(
            hr.call_many([Call("slow.wait", {}, id="one"), Call("slow.wait", {}, id="two")], dedup=hr.dedup())
        )
        await began.wait()
        await hr.cancel("one")
        first, second = await pass_
    assert (first.status, second.status, second.result.data) == ("cancelled", "completed", "there")


@pytest.mark.req("DD-03", "DD-06", "AP-01")
async def test_a_call_that_waits_for_a_person_is_not_asked_twice_and_its_answer_is_handed_on() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup("until_change")
        first, seen = await hr.call_many([call("write", name="a"), call("read", name="b")], dedup=memory)
        (again,) = await hr.call_many([call("write", name="a")], dedup=memory)
        assert first.status == again.status == "pending" and again.approval_id == first.approval_id
        assert memory.exit and len(await hr.approvals.list(ANA)) == 1 and seen.ok

        assert first.approval_id is not None
        await hr.approvals.approve(first.approval_id, by=BEN)
        await hr.wait(first.call_id)
        done, read_again = await hr.call_many([call("write", name="a"), call("read", name="b")], dedup=memory)
        assert (done.status, done.result.data) == ("duplicate", "a")
        assert read_again.status == "completed"
    assert RAN == ["read b", "write a", "read b"]


@pytest.mark.req("DD-03", "AP-03")
async def test_what_was_read_while_a_person_was_asked_may_be_read_again() -> None:
    was_read = asyncio.Event()

    async def approver(request: ApprovalRequest) -> bool:
        await was_read.wait()
        return True

    def hear(event: Event) -> None:
        if event.tool == "notes.read" and event.kind == "completed":
            was_read.set()

    async with Handrail(TOOLS, approver=approver) as hr:
        hr.subscribe(hear)
        memory = hr.dedup("until_change")
        outcomes = await hr.call_many([call("write", name="a"), call("read", name="a")], dedup=memory)
        assert RAN == ["read a", "write a"] and all(out.ok for out in outcomes)
        (again,) = await hr.call_many([call("read", name="a")], dedup=memory)
    assert again.status == "completed" and RAN == ["read a", "write a", "read a"]


@pytest.mark.req("DD-03", "AP-08")
async def test_when_nobody_answered_in_time_the_same_call_asks_again() -> None:
    clock = FakeClock()
    async with Handrail(TOOLS, clock=clock, approval_lifetime=60) as hr:
        memory = hr.dedup()
        (first,) = await hr.call_many([call("write", name="a")], dedup=memory)
        clock.turn(60)
        (again,) = await hr.call_many([call("write", name="a")], dedup=memory)
        assert (again.status, memory.skipped) == ("pending", ()) and again.approval_id != first.approval_id
        assert [one.id for one in await hr.approvals.list(ANA)] == [again.approval_id]
        told = [event.result.code for event in hr.log.read("acme", call_id=first.call_id, status="failed")]  # type: ignore[attr-defined]
        assert told == ["APPROVAL_EXPIRED"]


@pytest.mark.req("DD-04", "BP-02")
async def test_arguments_that_cannot_be_written_down_disturb_no_other_call() -> None:
    class Shy:
        def __repr__(self) -> str:
            raise RuntimeError("not here")

    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup()
        odd = [call("read", name=Shy()), call("read", name=deep), Call("notes.read", {"name": "b"}, id=["x"])]  # type: ignore[arg-type]
        for _ in range(2):
            outcomes = await hr.call_many([call("read", name="a"), *odd], dedup=memory)
            assert [out.code for out in outcomes[1:]] == ["INVALID_PARAM"] * 3 and outcomes[0].ok


@pytest.mark.req("DD-04")
async def test_who_is_refused_again_in_the_same_words_gets_nowhere() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup()
        asked = [call("read", nme="a"), call("nothing")]
        first = await hr.call_many(asked, dedup=memory)
        assert [out.status for out in first] == ["refused", "refused"] and memory.exit is None
        again = await hr.call_many(asked, dedup=memory)
        assert [out.code for out in again] == [out.code for out in first]
        assert memory.exit is not None and len(memory.skipped) == 2
        await hr.call_many([call("read", nme="b")], dedup=memory)
        assert memory.exit is None


@pytest.mark.req("DD-03")
async def test_off_skips_nothing_and_nonsense_is_said_so() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup(scope="off")
        outcomes = await hr.call_many([call("read", name="a"), call("read", name="a")], dedup=memory)
        assert [out.status for out in outcomes] == ["completed", "completed"] and len(memory) == 0
        with pytest.raises(UsageError, match="'run' or 'until_change' or 'off'"):
            hr.dedup(scope="always")  # type: ignore[arg-type]


@pytest.mark.req("DD-03", "BY-12")
async def test_a_memory_and_a_key_go_together() -> None:
    async with Handrail(TOOLS, policy=WITHOUT_ASKING) as hr:
        memory = hr.dedup()
        asked = [Call("notes.write", {"name": "a"}, ANA, idempotency_key=key) for key in ("k1", "k2", "k1")]
        outcomes = await hr.call_many(asked, dedup=memory)
        assert [out.status for out in outcomes] == ["completed", "duplicate", "duplicate"]
    assert RAN == ["write a"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.req("DD-01", "DD-05")
@given(st.dictionaries(st.text(), json_values, max_size=8), st.randoms())
def test_a_signature_does_not_depend_on_the_order_of_keys(params: dict[str, Any], random: Any) -> None:
    items = list(params.items())
    random.shuffle(items)
    signature = tool_signature("data.searchRecords", params)
    assert signature == tool_signature("data.searchRecords", dict(items))
    name, _, arguments = signature.partition("::")
    assert name == "data.searchRecords" and json.loads(arguments) == params


@pytest.mark.req("DD-02", "DD-03", "DD-04", "DD-05")
def test_a_loop_of_ones_own_asks_and_marks() -> None:
    state = WorkerState()
    assert not is_tool_already_executed(state, "a", {"x": 1, "y": 2})
    mark_tool_executed(state, "a", {"x": 1, "y": 2})
    assert is_tool_already_executed(state, "a", {"y": 2, "x": 1}) and not is_tool_already_executed(
        state, "b", {"x": 1}
    )
    assert state.executed_tool_signatures == {'a::{"x":1,"y":2}'}

    fresh, end = new_tool_calls(state, [Call("a", {"y": 2, "x": 1}), Call("b", {}), Call("b", None)])
    assert [one.tool for one in fresh] == ["b"] and state.skipped_duplicates == ["a", "b"] and end is None
    assert new_tool_calls(state, []) == ([], None) and state.skipped_duplicates == []
    fresh, end = new_tool_calls(state, [Call("a", {"x": 1, "y": 2})])
    assert fresh == [] and end == {"type": "exit", "reason": "all_tools_duplicate"}


@pytest.mark.req("DD-03", "BP-11")
async def test_a_change_that_is_still_being_set_up_counts_for_the_reads_after_it() -> None:
    ready = asyncio.Event()

    async def initialise(init: object) -> dict[str, Any]:
        await ready.wait()
        return {
            "description": "Change.",
            "level": "write",
            "writes": lambda args: ["a"],
            "execute": lambda args: None,
        }

    async with Handrail([*TOOLS, define("notes.change", initialise)], policy=WITHOUT_ASKING) as hr:
        memory = hr.dedup("until_change")
        await hr.call_many([call("read", name="a")], dedup=memory)
        asyncio.get_running_loop().call_soon(ready.set)
        changed, again = await hr.call_many([call("change"), call("read", name="a")], dedup=memory)
    assert (changed.status, again.status, RAN) == ("completed", "completed", ["read a", "read a"])


@pytest.mark.req("DD-03", "PM-03")
async def test_a_planned_call_is_not_planned_twice_unless_the_plan_was_thrown_away() -> None:
    async with Handrail(TOOLS, policy=Policy(plan=True, approval_mode="policy")) as hr:
        memory = hr.dedup()
        asked = [call("write", name="a")]
        (first,) = await hr.call_many(asked, dedup=memory)
        (again,) = await hr.call_many(asked, dedup=memory)
        assert first.status == "queued" and memory.exit and len(await hr.planned(ANA)) == 1
        await hr.discard_plan(ANA)
        (anew,) = await hr.call_many(asked, dedup=memory)
        assert anew.status == "queued" and memory.exit is None and len(await hr.planned(ANA)) == 1
        await hr.run_plan(ANA)
        (done,) = await hr.call_many(asked, dedup=memory)
        assert (done.status, done.result.data, again.status) == ("duplicate", "a", "duplicate")
    assert RAN == ["write a"]


@pytest.mark.req("DD-06", "AP-01")
async def test_answers_are_handed_on_however_many_there_were_since() -> None:
    async with Handrail(TOOLS) as hr:
        memory = hr.dedup()
        hr._resumer.outcomes._keep = 2
        asked = [call("write", name=f"n{number}") for number in range(6)]
        for out in await hr.call_many(asked, dedup=memory):
            assert out.approval_id is not None
            await hr.approvals.approve(out.approval_id, by=BEN)
            await hr.wait(out.call_id)
        again = await hr.call_many(asked, dedup=memory)
        assert [(out.status, out.result.data) for out in again] == [("duplicate", f"n{n}") for n in range(6)]
