"""Replays: a dead letter is called once more, through the full guard, with the same key."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, Rule, Tool, tool
from handrail.ext.guard import Conflict, Step
from handrail.ext.ports import Clock, MemoryDeadLetters
from tests.unit.run.mail_server import ANA, BO, OPS, MailServer


@pytest.mark.req("RT-06")
async def test_a_replay_is_the_same_call_once_more() -> None:
    mail = MailServer()
    async with Handrail([mail.tool()]) as hr:
        failed = await hr.call("post", {"to": "bo"}, principal=OPS, session="s1", source="job")
        [letter] = await hr.dead_letters.list(ANA)
        mail.down = False
        out = await hr.dead_letters.replay(letter.id, by=OPS)
        [started, completed] = hr.log.read("acme", call_id=out.call_id)
        [letter] = await hr.dead_letters.list(ANA)

    assert (out.status, mail.sent) == ("completed", ["bo"])
    assert out.call_id != failed.call_id
    assert started.call.parent == completed.call.parent == failed.call_id and started.call.depth == 0
    assert mail.contexts == [(OPS, "s1", "job", failed.call_id), (OPS, "s1", "job", out.call_id)]
    assert (letter.status, letter.replays) == ("replayed", (out.call_id,))


@pytest.mark.req("RT-06", "BY-12")
@pytest.mark.parametrize("key", [None, "order-17"])
async def test_outside_systems_see_the_same_key_in_every_replay(key: str | None) -> None:
    mail = MailServer()
    async with Handrail([mail.tool()]) as hr:
        failed = await hr.call("mail.send", {"to": "bo"}, principal=ANA, idempotency_key=key)
        [first] = await hr.dead_letters.list(ANA)
        assert (await hr.dead_letters.replay(first.id, by=ANA)).status == "failed"
        [_, second] = await hr.dead_letters.list(ANA)
        mail.down = False
        assert (await hr.dead_letters.replay(second.id, by=ANA)).status == "completed"
    assert mail.keys == [key or failed.call_id] * 3


@pytest.mark.req("RT-06")
async def test_a_replay_that_fails_leaves_a_letter_of_its_own_and_a_success_ends_them_all() -> None:
    mail = MailServer()
    async with Handrail([mail.tool()]) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ANA)
        [first] = await hr.dead_letters.list(ANA)
        out = await hr.dead_letters.replay(first.id, by=ANA)
        [first, second] = await hr.dead_letters.list(ANA)
        assert (first.status, first.replays) == ("open", (out.call_id,))
        assert (second.replay_of, second.call.id, second.session) == (first.id, out.call_id, first.session)

        mail.down = False
        await hr.dead_letters.replay(second.id, by=ANA)
        assert [one.status for one in await hr.dead_letters.list(ANA)] == ["replayed", "replayed"]
        for letter in (first, second):
            with pytest.raises(Conflict, match="was replayed already"):
                await hr.dead_letters.replay(letter.id, by=ANA)
    assert mail.sent == ["bo"]


@pytest.mark.req("RT-06")
@pytest.mark.parametrize("at", range(4))
async def test_the_success_of_any_letter_ends_its_whole_chain(at: int) -> None:
    mail = MailServer()
    async with Handrail([mail.tool()]) as hr:
        for _ in range(2):
            await hr.call("mail.send", {"to": "bo"}, principal=ANA, session="s1")
        [first, _] = await hr.dead_letters.list(ANA)
        for number in (0, 2, 0):
            letters = await hr.dead_letters.list(ANA)
            await hr.dead_letters.replay(letters[number].id, by=ANA)
        first, other, *newer = await hr.dead_letters.list(ANA)
        assert [one.replay_of for one in newer] == [first.id, newer[0].id, first.id]
        mail.down = False
        assert (await hr.dead_letters.replay([first, *newer][at].id, by=ANA)).ok
        assert [one.id for one in await hr.dead_letters.list(ANA, status="open")] == [other.id]


@pytest.mark.req("RT-06", "BY-12")
async def test_what_succeeded_meanwhile_under_the_same_key_is_not_run_again() -> None:
    mail = MailServer()
    async with Handrail([mail.tool()]) as hr:
        for _ in range(2):
            hr._runtime.keys.reopen(("acme", "ana", None, "k"))
            await hr.call("mail.send", {"to": "bo"}, principal=ANA, idempotency_key="k")
        mail.down = False
        [first, second] = await hr.dead_letters.list(ANA)
        assert (await hr.dead_letters.replay(first.id, by=ANA)).status == "completed"
        again = await hr.dead_letters.replay(second.id, by=ANA)
        assert (again.status, mail.sent) == ("duplicate", ["bo"])
        assert [one.status for one in await hr.dead_letters.list(ANA)] == ["replayed", "replayed"]


@pytest.mark.req("RT-06")
async def test_two_replays_at_once_run_it_once() -> None:
    mail = MailServer()
    go = asyncio.Event()

    @tool("mail.slow", level="draft")
    async def slow() -> str:
        """Send slowly."""
        if mail.down:
            raise OSError("down")
        await go.wait()
        mail.sent.append("bo")
        return "sent"

    async with Handrail([slow]) as hr:
        await hr.call("mail.slow", principal=ANA)
        [letter] = await hr.dead_letters.list(ANA)
        mail.down = False
        tasks = [asyncio.create_task(hr.dead_letters.replay(letter.id, by=ANA)) for _ in range(20)]
        _, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        go.set()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    conflicts = [one for one in ended if isinstance(one, Conflict)]
    assert waiting and len(conflicts) == 19 and mail.sent == ["bo"]
    assert all("is being replayed" in str(one) for one in conflicts)


async def test_a_replay_that_was_cancelled_leaves_the_letter_open() -> None:
    mail = MailServer()
    began = asyncio.Event()

    @tool("mail.slow", level="draft")
    async def slow() -> None:
        """Send slowly."""
        if mail.down:
            raise OSError("down")
        began.set()
        await asyncio.Event().wait()

    async with Handrail([slow]) as hr:
        await hr.call("mail.slow", principal=ANA)
        [letter] = await hr.dead_letters.list(ANA)
        mail.down = False
        task = asyncio.create_task(hr.dead_letters.replay(letter.id, by=ANA))
        await began.wait()
        task.cancel()
        await asyncio.wait({task})
        [letter] = await hr.dead_letters.list(ANA)
    assert task.cancelled() and (letter.status, len(letter.replays)) == ("open", 1)


@pytest.mark.req("RT-06")
async def test_a_replay_goes_through_the_full_guard() -> None:
    mail = MailServer()
    denied: list[str] = []

    def guarded(tool: Tool, args: Any, principal: Principal) -> Step | None:
        return Step("safety", "deny", "not any more") if principal.user in denied else None

    async with Handrail([mail.tool()], safety=[guarded]) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ANA)
        [letter] = await hr.dead_letters.list(ANA)
        denied.append("ana")
        out = await hr.dead_letters.replay(letter.id, by=BO)
        assert (out.status, out.code, len(mail.keys)) == ("refused", "NOT_PERMITTED", 1)
        [letter] = await hr.dead_letters.list(BO)
        assert letter.status == "open"

        @tool("mail.send", level="draft")
        async def other(recipient: str) -> str:
            """Send a mail."""
            return recipient

        hr.registry.register(other, replace=True)
        denied.clear()
        out = await hr.dead_letters.replay(letter.id, by=BO)
        assert (out.status, out.code) == ("refused", "MISSING_PARAM")


@pytest.mark.req("RT-06")
@pytest.mark.parametrize(
    ("rules", "by", "said"),
    [
        ([Rule("mail.*", {"@user": "bo"}, "deny")], BO, "not permitted"),
        ([Rule("mail.*", {"@user": "bo"}, "ask")], BO, "not yours to replay"),
        ([], OPS, "changes real data"),
        ([], Principal(tenant="acme", user="bot", key="service"), None),
        ([], BO, None),
    ],
    ids=["denied", "would be asked", "an agent for a person", "a service", "another person"],
)
async def test_nobody_gains_authority_by_a_replay(rules: Any, by: Principal, said: str | None) -> None:
    mail = MailServer()
    async with Handrail([mail.tool(level="write")], policy=Policy(rules=rules)) as hr:
        assert (await hr.call("mail.send", {"to": "bo"}, principal=ANA, source="web")).status == "failed"
        [letter] = await hr.dead_letters.list(by)
        mail.down = False
        if said is None:
            assert (await hr.dead_letters.replay(letter.id, by=by)).ok
            return
        with pytest.raises(Conflict, match=said):
            await hr.dead_letters.replay(letter.id, by=by)
        with pytest.raises(Conflict, match=said):
            await hr.dead_letters.replay_session(letter.session, by=by)
        assert mail.sent == []


@pytest.mark.req("RT-06")
async def test_a_replay_that_waits_for_a_person_is_noted_and_ends_its_letter_when_it_ends() -> None:
    mail = MailServer()
    async with Handrail([mail.tool(level="write")]) as hr:
        waiting = await hr.call("mail.send", {"to": "bo"}, principal=OPS)
        await hr.approvals.approve(waiting.approval_id or "", by=ANA)
        assert (await hr.wait(waiting.call_id)).status == "failed"
        [letter] = await hr.dead_letters.list(ANA)

        out = await hr.dead_letters.replay(letter.id, by=ANA)
        again = await hr.dead_letters.replay(letter.id, by=ANA)
        assert out.status == again.status == "pending" and out.approval_id == again.approval_id
        [letter] = await hr.dead_letters.list(ANA)
        assert again.call_id == out.call_id, "the replay that waits is the first one"
        assert (letter.status, letter.replays[0], len(letter.replays)) == ("open", out.call_id, 2)

        await hr.approvals.approve(out.approval_id or "", by=ANA)
        assert (await hr.wait(out.call_id)).status == "failed", "the server is still down"
        [letter, second] = await hr.dead_letters.list(ANA)
        assert (letter.status, second.replay_of) == ("open", letter.id)

        mail.down = False
        out = await hr.dead_letters.replay(second.id, by=ANA)
        await hr.approvals.approve(out.approval_id or "", by=ANA)
        assert (await hr.wait(out.call_id)).status == "completed"
        assert [one.status for one in await hr.dead_letters.list(ANA)] == ["replayed", "replayed"]
    assert mail.sent == ["bo"]


async def test_a_no_stands_and_a_question_that_expired_is_put_again() -> None:
    mail = MailServer()
    now = [0.0]
    clock = Clock(now=lambda: now[0])
    async with Handrail([mail.tool(level="write")], clock=clock, approval_lifetime=60) as hr:
        waiting = await hr.call("mail.send", {"to": "bo"}, principal=OPS)
        await hr.approvals.approve(waiting.approval_id or "", by=ANA)
        await hr.wait(waiting.call_id)
        [letter] = await hr.dead_letters.list(ANA)

        first = await hr.dead_letters.replay(letter.id, by=ANA)
        now[0] += 61
        assert (await hr.dead_letters.replay(letter.id, by=ANA)).code == "APPROVAL_EXPIRED"
        second = await hr.dead_letters.replay(letter.id, by=ANA)
        assert second.status == "pending" and second.approval_id != first.approval_id

        await hr.approvals.reject(second.approval_id or "", by=ANA)
        await hr.wait(second.call_id)
        assert (await hr.dead_letters.replay(letter.id, by=ANA)).code == "REJECTED"


async def test_a_replay_repeats_what_a_reviewer_made_of_the_call() -> None:
    mail = MailServer()
    async with Handrail([mail.tool(level="write")]) as hr:
        waiting = await hr.call("mail.send", {"to": "everybody"}, principal=OPS)
        await hr.approvals.approve(waiting.approval_id or "", by=ANA, edits={"to": "bo"})
        await hr.wait(waiting.call_id)
        [letter] = await hr.dead_letters.list(ANA)
        mail.down = False
        out = await hr.dead_letters.replay(letter.id, by=ANA)
        await hr.approvals.approve(out.approval_id or "", by=ANA)
        await hr.wait(out.call_id)
    assert mail.sent == ["bo"]


async def test_a_replay_that_plan_mode_holds_back_ends_its_letter_when_the_plan_runs() -> None:
    mail = MailServer()
    plan = [Rule("mail.send", {"@source": "job"}, "queue")]
    letters = MemoryDeadLetters()
    async with Handrail([mail.tool()], dead_letters=letters) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ANA, source="job")
    mail.down = False
    async with Handrail([mail.tool()], dead_letters=letters, policy=Policy(rules=plan)) as hr:
        [letter] = await hr.dead_letters.list(ANA)
        assert (await hr.dead_letters.replay(letter.id, by=ANA)).status == "queued"
        assert [one.status for one in await hr.run_plan(ANA)] == ["completed"]
        assert [one.status for one in await hr.dead_letters.list(ANA)] == ["replayed"]


@pytest.mark.req("RT-03")
async def test_a_session_is_replayed_step_by_step_in_order() -> None:
    mail = MailServer()
    async with Handrail([mail.tool()]) as hr:
        for to in ("a", "b", "c"):
            await hr.call("mail.send", {"to": to}, principal=ANA, session="s1")
        await hr.call("mail.send", {"to": "elsewhere"}, principal=ANA, session="s2")
        outs = await hr.dead_letters.replay_session("s1", by=ANA)
        assert [out.status for out in outs] == ["failed"] * 3

        mail.down = False
        tries = len(mail.keys)
        outs = await hr.dead_letters.replay_session("s1", by=ANA)
        assert [out.status for out in outs] == ["completed"] * 3
        assert mail.sent == ["a", "b", "c"] and len(mail.keys) == tries + 3
        assert await hr.dead_letters.replay_session("s1", by=ANA) == []
        assert [one.args["to"] for one in await hr.dead_letters.list(ANA, status="open")] == ["elsewhere"]
