"""A question that nobody answered in time runs nothing any more, whoever asks and however."""

from __future__ import annotations

from typing import Any

import pytest

from handrail import Handrail, Principal, tool
from handrail.ext.guard import Conflict, reject
from handrail.testing import FakeClock

AGENT = Principal(tenant="acme", user="ana", agent="ops")
BO = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})


class Waiting:
    """One call that waits for an approval of sixty seconds, and a clock to turn."""

    def __init__(self, **options: Any) -> None:
        self.clock = FakeClock(1000.0)
        self.ran: list[str] = []

        @tool("posts.publish", level="write")
        async def publish(title: str = "spring") -> str:
            """Publish a post."""
            self.ran.append(title)
            return f"{title} is out."

        self.hr = Handrail([publish], clock=self.clock, approval_lifetime=60, **options)

    async def ask(self, key: str | None = "k1", **args: Any) -> Any:
        return await self.hr.call("posts.publish", args, principal=AGENT, session="s1", idempotency_key=key)

    def types(self, call_id: str) -> list[str]:
        return [event.type for event in self.hr.log.read("acme", call_id=call_id)]


@pytest.mark.req("AP-08")
async def test_a_question_carries_its_expiry_and_can_be_answered_until_then() -> None:
    waiting = Waiting()
    out = await waiting.ask()
    [request] = await waiting.hr.approvals.list(BO)
    assert (request.created_at, request.expires_at) == (1000.0, 1060.0)

    waiting.clock.turn(59.9)
    await waiting.hr.approvals.approve(out.approval_id, by=BO)
    assert (await waiting.hr.wait(out.call_id, 10)).status == "completed"


@pytest.mark.req("AP-08")
async def test_an_expired_question_is_no_longer_listed_and_says_that_it_expired() -> None:
    waiting = Waiting()
    out = await waiting.ask()
    waiting.clock.turn(60)

    assert await waiting.hr.approvals.list(BO) == []
    request = await waiting.hr.approvals.get(out.approval_id, BO)
    assert request is not None and request.status == "expired"


@pytest.mark.req("AP-08", "BY-03")
@pytest.mark.parametrize("answer", ["approve", "reject", "respond"])
async def test_an_answer_that_comes_too_late_is_refused_and_ends_the_call_as_expired(answer: str) -> None:
    waiting = Waiting()
    out = await waiting.ask()
    waiting.clock.turn(60)
    more = {"result": "never mind"} if answer == "respond" else {}

    with pytest.raises(Conflict, match="it is expired"):
        await getattr(waiting.hr.approvals, answer)(out.approval_id, by=BO, **more)
    done = await waiting.hr.wait(out.call_id, 10)

    assert (done.status, done.code, waiting.ran) == ("refused", "APPROVAL_EXPIRED", [])
    assert "posts.publish" in (done.result.error or "")
    assert waiting.types(out.call_id) == ["tool.needs_approval", "tool.failed"]
    assert done.decision is not None and (done.decision.verdict, done.decision.layer) == ("deny", "approval")


@pytest.mark.req("AP-08", "BY-03")
async def test_that_a_call_expired_is_told_once() -> None:
    waiting = Waiting()
    out = await waiting.ask()
    waiting.clock.turn(60)
    for _ in range(3):
        with pytest.raises(Conflict, match="it is expired"):
            await waiting.hr.approvals.approve(out.approval_id, by=BO)
    await waiting.hr.wait(out.call_id, 10)
    await waiting.ask()
    await waiting.hr.close()

    assert waiting.types(out.call_id) == ["tool.needs_approval", "tool.failed"]


@pytest.mark.req("AP-08", "BY-12")
async def test_the_same_call_asked_again_while_it_waits_is_pending_still() -> None:
    waiting = Waiting()
    first = await waiting.ask()
    again = await waiting.ask()

    assert (again.status, again.code, again.approval_id) == (
        *("pending", "NEEDS_APPROVAL"),
        first.approval_id,
    )
    assert len(await waiting.hr.approvals.list(BO)) == 1
    assert again.call_id == first.call_id, "it is the first call that somebody can wait for"
    assert waiting.types(again.call_id) == ["tool.needs_approval"]


@pytest.mark.req("AP-08", "BY-12")
async def test_the_same_call_asked_again_after_the_expiry_is_told_so_and_ends_the_first() -> None:
    waiting = Waiting()
    first = await waiting.ask()
    waiting.clock.turn(60)
    again = [await waiting.ask() for _ in range(2)]

    for out in again:
        assert (out.status, out.code) == ("refused", "APPROVAL_EXPIRED")
        assert out.approval_id == first.approval_id
        assert waiting.types(out.call_id) == []
    assert waiting.types(first.call_id) == ["tool.needs_approval", "tool.failed"]
    with pytest.raises(Conflict, match="it is expired"):
        await waiting.hr.approvals.approve(first.approval_id, by=BO)
    assert waiting.ran == []


@pytest.mark.req("AP-08")
async def test_a_new_key_or_none_asks_a_person_anew() -> None:
    waiting = Waiting()
    await waiting.ask()
    waiting.clock.turn(60)

    for key in ("k2", None):
        out = await waiting.ask(key)
        assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")
    assert len(await waiting.hr.approvals.list(BO)) == 2


@pytest.mark.req("AP-08", "BY-03")
async def test_an_approver_who_thinks_too_long_approves_nothing() -> None:
    async def slow(request):
        waiting.clock.turn(60)
        return True

    waiting = Waiting(approver=slow)
    out = await waiting.ask()

    assert (out.status, out.code, waiting.ran) == ("refused", "APPROVAL_EXPIRED", [])
    assert waiting.types(out.call_id) == ["tool.needs_approval", "tool.failed"]


@pytest.mark.req("AP-07", "AP-08")
async def test_a_no_is_a_no_however_late() -> None:
    async def slow(request):
        waiting.clock.turn(60)
        return reject("too risky")

    waiting = Waiting(approver=slow)
    out = await waiting.ask()

    assert (out.status, out.code, waiting.ran) == ("refused", "REJECTED", [])
