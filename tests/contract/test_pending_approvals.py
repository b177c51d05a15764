"""Calls that wait for a person outlive the process that made them, with all that belongs to them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Outcome, Policy, Principal, Tool, ToolError, tool
from handrail.ext.guard import Conflict
from handrail.testing import FakeClock

AGENT = Principal("acme", "ana", agent="ops")
BO = Principal("acme", "bo", permissions={"approvals.decide"})
EVE = Principal("globex", "eve", permissions={"*"})
DAY = 86_400.0


@pytest.fixture
def url(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    return database_url


def publishing(ran: list[str], **options: Any) -> Tool:
    @tool("posts.publish", **{"level": "write", **options})
    async def publish(title: str) -> str:
        """Publish a post."""
        ran.append(title)
        return f"{title} is out."

    return publish


async def ask(hr: Handrail, title: str = "spring", **options: Any) -> Outcome:
    return await hr.call("posts.publish", {"title": title}, principal=AGENT, session="s1", **options)


async def types(hr: Handrail, call_id: str) -> list[str]:
    events = await asyncio.to_thread(lambda: list(hr.log.read("acme", call_id=call_id)))
    return [event.type for event in events]


@pytest.mark.req("AP-04")
@pytest.mark.fault("F30")
@pytest.mark.parametrize(
    "session", ["a\0b", "\x1b[2J", "\ud800", "s" * 9_000], ids=["nul", "esc", "half", "long"]
)
async def test_a_question_of_a_session_of_any_name_is_answered(url: str, session: str) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)], database=url) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT, session=session)
        await hr.approvals.approve(str(out.approval_id), by=BO)
        assert (await hr.wait(out.call_id, 20)).ok and ran == ["spring"]


@pytest.mark.req("AP-04", "AP-08", "BY-02")
@pytest.mark.fault("F03")
async def test_a_question_is_answered_after_restarts_and_seven_days(url: str) -> None:
    ran: list[str] = []
    clock = FakeClock()
    async with Handrail([publishing(ran)], database=url, clock=clock) as hr:
        out = await ask(hr, idempotency_key="k1")
        assert out.status == "pending" and out.approval_id is not None
    for _ in range(2):
        clock.turn(3.5 * DAY)
        async with Handrail([publishing(ran)], database=url, clock=clock) as hr:
            assert [one.id for one in await hr.approvals.list(BO)] == [out.approval_id]
            assert await hr.approvals.list(EVE) == []
            with pytest.raises(Conflict, match="There is no approval"):
                await hr.approvals.approve(out.approval_id, by=EVE)
    async with Handrail([publishing(ran)], database=url, clock=clock) as hr:
        await hr.approvals.approve(out.approval_id, by=BO, edits={"title": "Spring"})
        done = await hr.wait(out.call_id, 30)
        with pytest.raises(Conflict, match="it is approved"):
            await hr.approvals.reject(out.approval_id, by=BO)
        again = await ask(hr, idempotency_key="k1")
        assert await types(hr, out.call_id) == [
            *("tool.needs_approval", "tool.approved", "tool.started", "tool.completed"),
        ]
    assert (done.status, done.result.data, ran) == ("completed", "Spring is out.", ["Spring"])
    assert (again.status, again.result.data) == ("duplicate", "Spring is out.")


@pytest.mark.req("BY-05", "AP-08")
@pytest.mark.fault("F03")
async def test_a_question_that_nobody_answers_in_time_expires_once(url: str) -> None:
    ran: list[str] = []
    clock = FakeClock()
    options: dict[str, Any] = {"database": url, "clock": clock, "approval_lifetime": 7 * DAY}
    async with Handrail([publishing(ran)], **options) as hr:
        out = await ask(hr, idempotency_key="k1")
    clock.turn(7 * DAY - 1)
    async with Handrail([publishing(ran)], **options) as hr:
        assert [one.id for one in await hr.approvals.list(BO)] == [out.approval_id]
        clock.turn(1)
        assert await hr.approvals.list(BO) == []
        for _ in range(2):
            with pytest.raises(Conflict, match="it is expired"):
                await hr.approvals.approve(out.approval_id or "", by=BO)
        done = await hr.wait(out.call_id, 30)
        again = await ask(hr, idempotency_key="k1")
    async with Handrail([publishing(ran)], **options) as hr:
        assert await types(hr, out.call_id) == ["tool.needs_approval", "tool.failed"]
    assert (done.status, done.code, ran) == ("refused", "APPROVAL_EXPIRED", [])
    assert (again.status, again.code) == ("refused", "APPROVAL_EXPIRED")


@pytest.mark.req("BY-05")
@pytest.mark.fault("F03")
async def test_a_worker_ends_what_is_due_though_nobody_asks(url: str) -> None:
    clock = FakeClock()
    async with Handrail([publishing([])], database=url, clock=clock, approval_lifetime=60) as hr:
        outs = [await ask(hr, title) for title in "abc"]
        clock.turn(60)
        ended = [await hr.wait(out.call_id, 30) for out in outs]
        assert [out.code for out in ended] == ["APPROVAL_EXPIRED"] * 3
        for out in outs:
            assert await types(hr, out.call_id) == ["tool.needs_approval", "tool.failed"]


@pytest.mark.req("AP-08", "BY-03")
async def test_a_question_of_a_killed_process_is_answered_by_another(url: str) -> None:
    code = (
        "import asyncio, sys; from handrail import Handrail\n"
        "from tests.contract.test_pending_approvals import ask, publishing\n"
        "async def main():\n"
        "    hr = Handrail([publishing([])], database=sys.argv[1], worker=False)\n"
        "    print((await ask(hr)).approval_id, flush=True)\n"
        "    await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    approval_id = await asyncio.to_thread(_first_word_of_killed, code, url)
    ran: list[str] = []
    async with Handrail([publishing(ran)], database=url) as hr:
        [request] = await hr.approvals.list(BO)
        assert request.id == approval_id
        await hr.approvals.approve(approval_id, by=BO)
        assert (await hr.wait(request.call.id or "", 30)).status == "completed"
    assert ran == ["spring"]


@pytest.mark.req("BY-05")
async def test_votes_outlive_the_process(url: str) -> None:
    ran: list[str] = []
    tools = [publishing(ran, approvals=2, four_eyes=True)]
    async with Handrail(tools, database=url) as hr:
        out = await ask(hr)
        assert (await hr.approvals.approve(out.approval_id or "", by=BO)).status == "pending"
    async with Handrail(tools, database=url) as hr:
        ana = Principal("acme", "ana", permissions={"*"})
        for who, why in ((BO, "already"), (ana, "four eyes")):
            with pytest.raises(Conflict, match=why):
                await hr.approvals.approve(out.approval_id or "", by=who)
        cy = Principal("acme", "cy", permissions={"approvals.decide"})
        await hr.approvals.approve(out.approval_id or "", by=cy)
        assert (await hr.wait(out.call_id, 30)).ok
    assert ran == ["spring"]


@pytest.mark.req("AP-10")
async def test_a_yes_for_the_session_outlives_the_process(url: str) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)], database=url) as hr:
        out = await ask(hr)
        await hr.approvals.approve(out.approval_id or "", by=BO, for_session=True)
        await hr.wait(out.call_id, 30)
    async with Handrail([publishing(ran)], database=url) as hr:
        assert (await ask(hr, "summer")).status == "completed"
        other = await hr.call("posts.publish", {"title": "x"}, principal=AGENT, session="s2")
        assert other.status == "pending"
    assert ran == ["spring", "summer"]


@pytest.mark.req("RT-02", "RT-03", "RT-04", "RT-06")
async def test_a_dead_letter_is_replayed_after_a_restart_and_keeps_its_lineage(url: str) -> None:
    broken, sent = [True], []

    @tool("mail.send", level="write")
    async def send(to: str) -> str:
        """Send a mail."""
        if broken[0]:
            raise ToolError("the post office is closed")
        sent.append(to)
        return f"sent to {to}"

    policy = Policy(approval_mode="policy")
    ana = Principal("acme", "ana")
    async with Handrail([send], database=url, policy=policy) as hr:
        out = await hr.call("mail.send", {"to": "bo"}, principal=ana, session="s1", idempotency_key="k1")
        assert out.status == "failed"
    async with Handrail([send], database=url, policy=policy) as hr:
        [letter] = await hr.dead_letters.list(ana)
        assert (letter.error, letter.args, letter.call.id) == (
            *("the post office is closed", {"to": "bo"}),
            out.call_id,
        )
        assert (await hr.dead_letters.replay(letter.id, by=ana)).status == "failed"
    broken[0] = False
    async with Handrail([send], database=url, policy=policy) as hr:
        first, second = await hr.dead_letters.list(ana)
        assert second.replay_of == first.id == letter.id and second.call.parent == out.call_id
        done = await hr.dead_letters.replay(second.id, by=ana)
        assert (done.status, done.result.data, sent) == ("completed", "sent to bo", ["bo"])
        assert [one.status for one in await hr.dead_letters.list(ana)] == ["replayed", "replayed"]
        with pytest.raises(Conflict, match="replayed already"):
            await hr.dead_letters.replay(first.id, by=ana)
        again = await hr.call("mail.send", {"to": "bo"}, principal=ana, session="s1", idempotency_key="k1")
        assert (again.status, sent) == ("duplicate", ["bo"])
        assert await hr.dead_letters.purge(by=ana) == 2


@pytest.mark.req("BY-19", "RT-06")
async def test_the_exact_arguments_are_not_kept_once_the_call_is_over(url: str) -> None:
    async with Handrail([publishing([])], database=url) as hr:
        out = await ask(hr, "s3cret-title")
        await hr.approvals.approve(out.approval_id or "", by=BO)
        await hr.wait(out.call_id, 30)
    async with Handrail([publishing([])], database=url, worker=False) as hr:
        found = await hr.approvals.get(out.approval_id or "", BO)
    assert found is not None and (found.status, found.raw, found.args) == (
        *("approved", None),
        {"title": "s3cret-title"},
    )


def _first_word_of_killed(code: str, url: str) -> str:
    """What a process says first; then it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, url], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    try:
        assert process.stdout is not None
        return process.stdout.readline().strip()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
