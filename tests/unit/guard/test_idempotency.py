"""Effects at most once: what an idempotency key stands for."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from handrail import Handrail, Outcome, Policy, Principal, Result, Tool, tool
from handrail.core.guard.idempotency import KeyEntry, KeyId, key_id
from handrail.ext.ports import MemoryIdempotencyKeys

ANA = Principal(tenant="acme", user="ana")
BO = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
pytestmark = pytest.mark.req("BY-12")


def paying(paid: list[int], **options: Any) -> Tool:
    @tool("pay.send", **{"level": "draft", **options})
    async def send(amount: int) -> int:
        """Send money."""
        paid.append(amount)
        return amount

    return send


async def pay(hr: Handrail, amount: Any = 5, key: str = "k1", who: Principal = ANA, **more: Any) -> Any:
    return await hr.call("pay.send", {"amount": amount}, principal=who, idempotency_key=key, **more)


async def test_the_same_call_again_gives_the_earlier_result_and_has_no_second_effect() -> None:
    paid: list[int] = []
    async with Handrail([paying(paid)]) as hr:
        first = await pay(hr)
        again = await pay(hr)

    assert (again.status, again.code, again.result.data, paid) == ("duplicate", "DUPLICATE", 5, [5])
    assert (again.run_id, again.result.metadata["duplicate_of"]) == (first.run_id, first.call_id)
    assert again.call_id != first.call_id
    assert not list(hr.log.read("acme", call_id=again.call_id))


async def test_a_hundred_at_once_make_one_run() -> None:
    paid: list[int] = []
    begin = asyncio.Event()

    @tool("pay.send", level="draft")
    async def send(amount: int) -> int:
        """Send money."""
        await begin.wait()
        paid.append(amount)
        return amount

    async with Handrail([send]) as hr:
        calls = [asyncio.create_task(pay(hr)) for _ in range(100)]
        begin.set()
        outs = await asyncio.gather(*calls)

    assert sorted(out.status for out in outs) == ["completed", *["duplicate"] * 99]
    assert {out.result.data for out in outs} == {5} and paid == [5]


async def test_one_who_stops_waiting_does_not_disturb_the_others() -> None:
    paid: list[int] = []
    began, go = asyncio.Event(), asyncio.Event()

    @tool("pay.send", level="write")
    async def send(amount: int) -> int:
        """Send money."""
        began.set()
        await go.wait()
        paid.append(amount)
        return amount

    async with Handrail([send], policy=Policy(approval_mode="policy")) as hr:
        runner = asyncio.create_task(pay(hr))
        await began.wait()
        waiters = [asyncio.create_task(pay(hr, id=f"w{number}")) for number in range(3)]
        await asyncio.sleep(0)
        assert await hr.cancel("w0")
        go.set()
        outs = await asyncio.gather(runner, *waiters)

    assert [out.status for out in outs] == ["completed", "cancelled", "duplicate", "duplicate"]
    assert paid == [5]


@pytest.mark.parametrize("other", [{"amount": 6}, {"amount": "6"}])
async def test_another_body_under_the_same_key_is_refused(other: dict[str, Any]) -> None:
    paid: list[int] = []
    async with Handrail([paying(paid)]) as hr:
        await pay(hr)
        out = await pay(hr, **other)

    assert (out.status, out.code, paid) == ("refused", "KEY_REUSED", [5])


async def test_another_tool_under_the_same_key_is_refused() -> None:
    @tool("pay.refund", level="draft")
    async def refund(amount: int) -> int:
        """Refund money."""
        return amount

    async with Handrail([paying([]), refund]) as hr:
        await pay(hr)
        out = await hr.call("pay.refund", {"amount": 5}, principal=ANA, idempotency_key="k1")

    assert (out.status, out.code) == ("refused", "KEY_REUSED")


async def test_arguments_that_are_repaired_into_the_same_ones_are_the_same_call() -> None:
    paid: list[int] = []
    async with Handrail([paying(paid)]) as hr:
        await pay(hr, 5)
        assert (await pay(hr, "5")).status == "duplicate"

    assert paid == [5]


@pytest.mark.parametrize(
    "who", [replace(ANA, user="cy"), replace(ANA, tenant="globex"), replace(ANA, agent="ops")], ids=str
)
async def test_the_same_key_of_somebody_else_is_another_key(who: Principal) -> None:
    paid: list[int] = []
    async with Handrail([paying(paid)]) as hr:
        await pay(hr, 5)
        assert (await pay(hr, 7, who=who)).status == "completed"

    assert paid == [5, 7]


async def test_a_call_that_failed_is_not_run_again_under_its_key() -> None:
    tried: list[int] = []

    @tool("pay.send", level="draft")
    async def send(amount: int) -> int:
        """Send money."""
        tried.append(amount)
        raise RuntimeError("the bank hung up")

    async with Handrail([send]) as hr:
        first, again = await pay(hr), await pay(hr)

    assert (first.status, again.status) == ("failed", "duplicate")
    assert (again.code, again.result.error, tried) == ("TOOL_FAILED", first.result.error, [5])


@pytest.mark.parametrize(
    "refused",
    [{"requires": "pay"}, {"danger": lambda args: 1 / 0}, {"writes": lambda args: 1 / 0}],
    ids=["not permitted", "policy failed", "claim failed"],
)
async def test_a_call_that_was_refused_leaves_its_key_free(
    refused: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    paid: list[int] = []
    keys = MemoryIdempotencyKeys()
    async with Handrail([paying(paid, **refused)], keys=keys) as hr:
        out = await pay(hr)
    assert (out.status, len(keys)) == ("refused", 0)

    async with Handrail([paying(paid)], keys=keys) as hr:
        assert (await pay(hr)).status == "completed"


async def test_a_planned_call_leaves_its_key_to_the_run_of_the_plan() -> None:
    paid: list[int] = []
    async with Handrail([paying(paid)], policy=Policy(plan=True)) as hr:
        assert (await pay(hr)).status == "queued"
        [done] = await hr.run_plan(ANA)
        assert done.status == "completed"
        assert (await pay(hr)).status == "duplicate"

    assert paid == [5]


@pytest.mark.parametrize("level", ["read", "write"])
async def test_pending_then_approved_then_asked_again_gives_the_result_of_the_one_run(level: str) -> None:
    paid: list[int] = []
    async with Handrail([paying(paid, level=level, policy="always_ask")]) as hr:
        first = await pay(hr)
        assert (await pay(hr)).approval_id == first.approval_id
        await hr.approvals.approve(first.approval_id, by=BO)
        done = await hr.wait(first.call_id, 10)
        again = await pay(hr)

    assert (done.status, again.status, again.result.data, paid) == ("completed", "duplicate", 5, [5])
    assert again.run_id == done.run_id


async def test_pending_then_rejected_then_asked_again_is_rejected_without_asking_a_person_twice() -> None:
    paid: list[int] = []
    async with Handrail([paying(paid, level="write")]) as hr:
        first = await pay(hr)
        await hr.approvals.reject(first.approval_id, by=BO, reason="too much")
        await hr.wait(first.call_id, 10)
        again = await pay(hr)
        assert await hr.approvals.list(BO) == []

    assert (again.status, again.code, again.approval_id) == ("refused", "REJECTED", first.approval_id)
    assert again.result.error == "A person rejected pay.send: too much"
    assert not paid and not list(hr.log.read("acme", call_id=again.call_id))


async def test_who_asks_again_while_the_approved_call_runs_waits_for_its_end() -> None:
    paid: list[int] = []
    began, go = asyncio.Event(), asyncio.Event()

    @tool("pay.send", level="write")
    async def send(amount: int) -> int:
        """Send money."""
        began.set()
        await go.wait()
        paid.append(amount)
        return amount

    async with Handrail([send]) as hr:
        first = await pay(hr)
        await hr.approvals.approve(first.approval_id, by=BO)
        await began.wait()
        again = asyncio.create_task(pay(hr))
        await asyncio.sleep(0)
        assert not again.done()
        go.set()
        out = await again

    assert (out.status, out.result.data, paid) == ("duplicate", 5, [5])


class AfterACrash(MemoryIdempotencyKeys):
    """A store that a dead process has left a key in: dispatched, and nobody works on it any more."""

    def __init__(self, key: KeyId, fingerprint: str | None = None) -> None:
        super().__init__()
        self.lost = key
        self.found = False
        self.fingerprint = fingerprint

    async def begin(self, key: KeyId, fingerprint: str, call_id: str, /) -> tuple[KeyEntry, bool]:
        entry, made = await super().begin(key, self.fingerprint or fingerprint, call_id)
        if not made or key != self.lost or self.found:
            return entry, made
        self.found = True
        entry.state = "dispatched"
        entry.ended.set_result(None)
        return entry, False


async def test_an_effect_of_a_process_that_is_gone_is_not_repeated_but_reviewed() -> None:
    paid: list[int] = []
    async with Handrail([paying(paid)], keys=AfterACrash(key_id(ANA, "k1"))) as hr:
        outs = [await pay(hr) for _ in range(2)]
        assert (await pay(hr, key="k2")).status == "completed"

    for out in outs:
        assert (out.status, out.code) == ("needs_review", "UNKNOWN_OUTCOME")
        assert "pay.send" in (out.result.error or "") and "k1" in (out.result.error or "")
        assert [event.type for event in hr.log.read("acme", call_id=out.call_id)] == ["tool.failed"]
    assert paid == [5]


async def test_a_tool_that_is_declared_idempotent_runs_again_after_a_crash() -> None:
    paid: list[int] = []
    async with Handrail([paying(paid, idempotent=True)], keys=AfterACrash(key_id(ANA, "k1"))) as hr:
        assert (await pay(hr)).status == "completed"
        assert (await pay(hr)).status == "duplicate"

    assert paid == [5]


async def test_a_lost_key_with_another_body_is_refused_like_any_other() -> None:
    keys = AfterACrash(key_id(ANA, "k1"), fingerprint="of another body")
    async with Handrail([paying([], idempotent=True)], keys=keys) as hr:
        assert (await pay(hr)).code == "KEY_REUSED"


async def test_the_key_is_written_before_the_body_runs_and_reaches_it() -> None:
    seen: list[Any] = []
    keys = MemoryIdempotencyKeys()

    @tool("pay.send", level="write")
    async def send(amount: int, ctx: Any) -> int:
        """Send money."""
        entry, _ = await keys.begin(key_id(ANA, "k1"), "", "c")
        seen.append((entry.state, ctx.idempotency_key))
        return amount

    async with Handrail([send], keys=keys, policy=Policy(approval_mode="policy")) as hr:
        await pay(hr)

    assert seen == [("dispatched", "k1")]


def outcome(status: Any = "completed") -> Outcome:
    return Outcome(status, Result(), "c", "pay.send")


async def test_the_memory_of_keys_is_bounded_and_forgets_only_what_is_done() -> None:
    keys = MemoryIdempotencyKeys(keep=2)
    for name in ("a", "b", "c"):
        await keys.begin(key_id(ANA, name), name, "c")
    assert len(keys) == 3

    keys.finish(key_id(ANA, "a"), outcome())
    keys.finish(key_id(ANA, "c"), outcome("pending"))
    await keys.begin(key_id(ANA, "d"), "d", "c")
    assert len(keys) == 3
    made = {name: (await keys.begin(key_id(ANA, name), name, "c"))[1] for name in ("b", "c", "a")}
    assert made == {"b": False, "c": False, "a": True}


async def test_no_tenant_pushes_out_the_keys_of_another_until_there_are_too_many_tenants() -> None:
    keys = MemoryIdempotencyKeys(keep=2, tenants=3)

    async def pay_once(tenant: str, name: str, done: bool = True) -> bool:
        key = key_id(Principal(tenant=tenant), name)
        made = (await keys.begin(key, name, "c"))[1]
        if done:
            keys.finish(key, outcome())
        return made

    assert await pay_once("busy", "k", done=False) and await pay_once("acme", "k")
    for number in range(10):
        assert await pay_once("loud", str(number))
    assert not await pay_once("acme", "k") and len(keys) == 4

    assert await pay_once("fourth", "k"), "of those with nothing under way, the one idle for longest goes"
    assert not await pay_once("busy", "k", done=False) and not await pay_once("loud", "9")
    assert await pay_once("acme", "k")


async def test_a_tenant_without_keys_is_not_remembered() -> None:
    keys = MemoryIdempotencyKeys()
    await keys.begin(key_id(ANA, "a"), "a", "c")
    keys.release(key_id(ANA, "a"))
    keys.release(key_id(ANA, "a"))
    assert not keys._slots and not keys._idle


async def test_callers_without_a_name_that_hold_other_things_have_keys_of_their_own() -> None:
    paid: list[int] = []
    one = Principal("acme", permissions={"a.read"}, key="service")
    async with Handrail([paying(paid)]) as hr:
        for who in (one, Principal("acme", permissions={"b.read"}, key="service")):
            assert (await pay(hr, who=who)).status == "completed"
            assert (await pay(hr, who=who)).status == "duplicate"
    assert paid == [5, 5]
