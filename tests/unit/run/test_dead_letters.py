"""Dead letters: which calls leave one, who sees it, and what a replay does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from handrail import Context, Handrail, Policy, Principal, Result, Retry, Rule, Tool, tool
from handrail.ext import Clock, Conflict, MemoryDeadLetters, MemoryLog, Step, ToolError
from handrail.sync import Handrail as SyncHandrail

WITHOUT_ASKING = Policy(approval_mode="policy")
ANA = Principal(tenant="acme", user="ana")
BO = Principal(tenant="acme", user="bo")
OPS = Principal(tenant="acme", user="ana", agent="ops")
OTHER = Principal(tenant="other", user="cy")


class Mail:
    """A mail server that is down until somebody repairs it, and a tool that uses it."""

    def __init__(self) -> None:
        self.down = True
        self.sent: list[str] = []
        self.keys: list[str] = []
        self.contexts: list[tuple[Any, ...]] = []

    def tool(self, **options: Any) -> Tool:
        @tool("mail.send", **{"level": "draft", "aliases": ["post"], **options})
        async def send(to: str, *, ctx: Context) -> str:
            """Send a mail."""
            self.keys.append(ctx.idempotency_key)
            self.contexts.append((ctx.principal, ctx.session_id, ctx.source, ctx.call_id))
            if self.down:
                raise ConnectionError("the server is down")
            self.sent.append(to)
            return f"sent to {to}"

        return send


@pytest.mark.req("RT-02", "RT-06")
async def test_a_failed_call_leaves_a_letter_with_all_there_is_to_know() -> None:
    mail = Mail()
    async with Handrail([mail.tool(retry=Retry(first=0))], clock=Clock(now=lambda: 17.0)) as hr:
        out = await hr.call("post", {"to": "bo"}, principal=OPS, session="s1", source="job")
        [letter] = await hr.dead_letters.list(ANA)

    assert letter.call.id == out.call_id and letter.call.tool == "post"
    told = letter.to_dict()
    assert told.pop("id").startswith("letter_") and told.pop("call_id") == out.call_id
    assert told == {
        "status": "open",
        "tool": "mail.send",
        "args": {"to": "bo"},
        "error": "the server is down",
        "code": "TOOL_FAILED",
        "attempts": 3,
        "earlier_errors": ["the server is down"] * 2,
        "at": 17.0,
        "tenant": "acme",
        "session": "s1",
        "user": "ana",
        "agent": "ops",
        "source": "job",
        "replay_of": None,
        "replays": [],
    }


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.req("RT-02")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (lambda: _raise(ValueError("x")), "TOOL_FAILED"),
        (lambda: _raise(ToolError("x", code="BUSY")), "BUSY"),
        (lambda: Result.fail("x", code="BUSY"), "BUSY"),
        (lambda: {"error": "x"}, "TOOL_FAILED"),
        (lambda: "not a number", "INVALID_OUTPUT"),
    ],
    ids=["raised", "tool error", "result", "envelope", "output"],
)
async def test_however_a_body_fails_a_letter_is_left_at_once(body: Callable[[], Any], code: str) -> None:
    @tool("x.y", level="read")
    async def fail() -> int | Result:
        """Fail."""
        return body()  # type: ignore[no-any-return]

    async with Handrail([fail]) as hr:
        out = await hr.call("x.y")
        [letter] = await hr.dead_letters.list(Principal.local())
    assert (out.status, letter.code, letter.error, letter.attempts) == ("failed", code, out.result.error, 1)


@pytest.mark.req("RT-02")
async def test_a_timeout_leaves_a_letter_and_a_cancellation_none() -> None:
    @tool("x.wait", level="read", timeout=0.01)
    async def wait() -> None:
        """Wait."""
        await asyncio.Event().wait()

    async with Handrail([wait]) as hr:
        await hr.call("x.wait")
        task = asyncio.create_task(hr.call("x.wait", id="c"))
        await asyncio.sleep(0)
        await hr.cancel("c")
        assert (await task).status == "cancelled"
        assert [letter.code for letter in await hr.dead_letters.list(Principal.local())] == ["TIMEOUT"]


@pytest.mark.req("RT-02")
async def test_what_did_not_run_leaves_no_letter() -> None:
    mail = Mail()

    def guarded(tool: Tool, args: Any, principal: Principal) -> Step | None:
        verdict = {"deny": "deny", "ask": "ask"}.get(args.to)
        return None if verdict is None else Step("safety", verdict, "as told")  # type: ignore[arg-type]

    async with Handrail([mail.tool()], safety=[guarded]) as hr:
        statuses = [(await hr.call("mail.send", {"to": to}, principal=ANA)).status for to in ("deny", "ask")]
        statuses += [(await hr.call("mail.send", {"too": "bo"}, principal=ANA)).status]
        statuses += [(await hr.call("mail.sent", principal=ANA)).status]
        assert statuses == ["refused", "pending", "refused", "refused"]
        [request] = await hr.approvals.list(ANA)
        await hr.approvals.respond(request.id, by=ANA, result=Result.fail("Not today."))
        assert (await hr.wait(request.call.id or "")).status == "failed"
        assert await hr.dead_letters.list(ANA) == []


@pytest.mark.req("RT-02")
async def test_a_nested_failure_is_the_outer_calls_affair() -> None:
    mail = Mail()

    @tool("mail.cope", level="draft")
    async def cope(hard: bool, *, ctx: Context) -> Any:
        """Send, and cope."""
        out = await ctx.call("mail.send", {"to": "bo"})
        return out.result if hard else "coped"

    async with Handrail([mail.tool(), cope]) as hr:
        assert (await hr.call("mail.cope", {"hard": False}, principal=ANA)).ok
        assert await hr.dead_letters.list(ANA) == []
        assert (await hr.call("mail.cope", {"hard": True}, principal=ANA)).status == "failed"
        assert [letter.tool for letter in await hr.dead_letters.list(ANA)] == ["mail.cope"]


async def test_a_port_that_fails_is_logged_and_disturbs_nobody(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(MemoryDeadLetters):
        def add(self, letter: object, /) -> None:
            raise OSError("disk full")

    mail = Mail()
    async with Handrail([mail.tool()], dead_letters=Broken()) as hr:
        with caplog.at_level(logging.ERROR, "handrail.run"):
            out = await hr.call("mail.send", {"to": "bo"})
    assert (out.status, out.result.error) == ("failed", "the server is down")
    assert "could not be kept" in caplog.text


@pytest.mark.req("RT-06")
async def test_secrets_are_masked_in_every_view_and_whole_in_a_replay() -> None:
    pins: list[str] = []

    @tool("bank.login", level="read")
    async def login(user: str, pin: SecretStr, *, ctx: Context) -> str:
        """Log in."""
        pins.append(pin.get_secret_value())
        if len(pins) == 1:
            raise OSError(f"{user}/{pin.get_secret_value()}/{ctx.secret('TOKEN')} refused")
        return f"{user} in with t0p-s3cret"

    log = MemoryLog()
    async with Handrail([login], secrets={"TOKEN": "t0p-s3cret"}, log=log) as hr:
        await hr.call("bank.login", {"user": "ana", "pin": "4711-x"}, principal=ANA)
        [letter] = await hr.dead_letters.list(ANA)
        assert letter.args == {"user": "ana", "pin": "•••"}
        assert letter.error == "ana/•••/••• refused"
        seen = repr(letter) + repr(letter.to_dict())
        assert "4711-x" not in seen and "t0p-s3cret" not in seen

        out = await hr.dead_letters.replay(letter.id, by=ANA)
        assert (out.result.data, pins) == ("ana in with •••", ["4711-x", "4711-x"])
        assert "t0p-s3cret" not in repr([event.to_dict() for event in log.read("acme", call_id=out.call_id)])


async def test_a_letter_holds_the_arguments_as_they_were_sent() -> None:
    @tool("list.eat", level="read")
    async def eat(items: list[str]) -> int:
        """Eat the items."""
        items.append("crumbs")
        raise OSError(",".join(items))

    async with Handrail([eat]) as hr:
        sent = {"items": ["a"]}
        await hr.call("list.eat", sent, principal=ANA)
        sent["items"].append("b")
        [letter] = await hr.dead_letters.list(ANA)
        out = await hr.dead_letters.replay(letter.id, by=ANA)
    assert out.result.error == "a,crumbs"


@pytest.mark.req("RT-06")
async def test_letters_are_seen_within_the_tenant_by_those_who_may_see_the_tool() -> None:
    mail = Mail()

    @tool("gold.count", level="read", requires="gold.read")
    async def count() -> None:
        """Count gold."""
        raise OSError("no light")

    rich = Principal(tenant="acme", user="di", permissions={"gold.read"})
    async with Handrail([mail.tool(), count]) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ANA, session="s1")
        await hr.call("gold.count", principal=rich, session="s2")
        office = hr.dead_letters
        assert [one.tool for one in await office.list(rich)] == ["mail.send", "gold.count"]
        assert [one.tool for one in await office.list(BO)] == ["mail.send"]
        assert await office.list(OTHER) == []
        assert [one.tool for one in await office.list(rich, tool="post")] == ["mail.send"]
        assert [one.tool for one in await office.list(rich, session="s2")] == ["gold.count"]
        assert await office.list(rich, code="TIMEOUT") == []

        [_, gold] = await office.list(rich)
        assert (await office.get(gold.id, rich)) == gold
        for stranger in (BO, OTHER):
            assert await office.get(gold.id, stranger) is None
            with pytest.raises(Conflict, match="There is no dead letter"):
                await office.replay(gold.id, by=stranger)
            with pytest.raises(Conflict, match="There is no dead letter"):
                await office.purge(gold.id, by=stranger)
            assert await office.purge(by=stranger, tool="gold.count") == 0
        hr.registry.unregister("gold.count")
        assert [one.tool for one in await office.list(rich)] == ["mail.send"]


@pytest.mark.req("RT-06")
async def test_a_replay_is_the_same_call_once_more() -> None:
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
    async with Handrail([mail.tool()]) as hr:
        for _ in range(2):
            hr._house.keys.reopen(("acme", "ana", None, "k"))
            await hr.call("mail.send", {"to": "bo"}, principal=ANA, idempotency_key="k")
        mail.down = False
        [first, second] = await hr.dead_letters.list(ANA)
        assert (await hr.dead_letters.replay(first.id, by=ANA)).status == "completed"
        again = await hr.dead_letters.replay(second.id, by=ANA)
        assert (again.status, mail.sent) == ("duplicate", ["bo"])
        assert [one.status for one in await hr.dead_letters.list(ANA)] == ["replayed", "replayed"]


@pytest.mark.req("RT-06")
async def test_two_replays_at_once_run_it_once() -> None:
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
    async with Handrail([mail.tool(level="write")]) as hr:
        waiting = await hr.call("mail.send", {"to": "bo"}, principal=OPS)
        await hr.approvals.approve(waiting.approval_id or "", by=ANA)
        assert (await hr.wait(waiting.call_id)).status == "failed"
        [letter] = await hr.dead_letters.list(ANA)

        out = await hr.dead_letters.replay(letter.id, by=ANA)
        again = await hr.dead_letters.replay(letter.id, by=ANA)
        assert out.status == again.status == "pending" and out.approval_id == again.approval_id
        [letter] = await hr.dead_letters.list(ANA)
        assert (letter.status, letter.replays) == ("open", (out.call_id, again.call_id))

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
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
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
    mail = Mail()
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


@pytest.mark.req("RT-06")
async def test_letters_are_purged_one_by_one_or_by_what_they_are() -> None:
    mail = Mail()
    now = [0.0]
    async with Handrail([mail.tool()], clock=Clock(now=lambda: now[0])) as hr:
        for session in ("s1", "s1", "s2", "s3", "s4"):
            await hr.call("mail.send", {"to": "bo"}, principal=ANA, session=session)
            now[0] += 1
        office = hr.dead_letters
        letters = await office.list(ANA)
        assert await office.purge(letters[3].id, by=ANA) == 1
        with pytest.raises(Conflict, match="There is no dead letter"):
            await office.purge(letters[3].id, by=ANA)
        assert await office.purge(by=ANA, session="s1", before=1) == 1
        assert await office.purge(by=OTHER) == 0
        assert [one.session for one in await office.list(ANA)] == ["s1", "s2", "s4"]
        assert await office.purge(by=ANA, tool="mail.send", before=3) == 2
        assert await office.purge(by=ANA) == 1


async def test_a_store_that_fails_after_the_answer_does_not_lose_the_outcome(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Forgetful(MemoryDeadLetters):
        broken = False

        def settle(self, *given: Any) -> None:
            raise OSError("disk full")

        def behind(self, *given: Any) -> Any:
            if self.broken:
                raise OSError("disk full")
            return super().behind(*given)

    mail, letters = Mail(), Forgetful()
    async with Handrail([mail.tool(level="write")], dead_letters=letters) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ANA, source="web")
        [letter] = await hr.dead_letters.list(ANA)
        mail.down, letters.broken = False, True
        assert (await hr.dead_letters.replay(letter.id, by=ANA)).ok
        waiting = await hr.call("mail.send", {"to": "bo"}, principal=OPS)
        await hr.approvals.approve(waiting.approval_id or "", by=ANA)
        assert (await hr.wait(waiting.call_id)).ok
    assert "could not be settled" in caplog.text


def test_code_that_does_not_await_has_them_too() -> None:
    mail = Mail()
    with SyncHandrail([mail.tool()]) as hr:
        hr.call("mail.send", {"to": "bo"}, principal=ANA)
        [letter] = hr.dead_letters.list(ANA, "mail.send", status="open")
        assert hr.dead_letters.get(letter.id, ANA) == letter
        mail.down = False
        assert hr.dead_letters.replay(letter.id, by=ANA).ok
        assert hr.dead_letters.replay_session(letter.session, by=ANA) == []
        assert hr.dead_letters.purge(by=ANA, tool="mail.send") == 1
