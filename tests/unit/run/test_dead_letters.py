"""Dead letters: which calls leave one, who sees it, and how it goes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import SecretStr

from handrail import Context, Handrail, Principal, Result, Retry, Tool, ToolError, tool
from handrail.ext.guard import Conflict, Step
from handrail.ext.ports import Clock, MemoryDeadLetters, MemoryLog
from handrail.sync import Handrail as SyncHandrail
from tests.unit.run.mail_server import ANA, BO, OPS, OTHER, MailServer


@pytest.mark.req("RT-02", "RT-06")
async def test_a_failed_call_leaves_a_letter_with_all_there_is_to_know() -> None:
    mail = MailServer()
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
    mail = MailServer()

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
    mail = MailServer()

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

    mail = MailServer()
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
    mail = MailServer()

    @tool("gold.count", level="read", requires="gold.read")
    async def count() -> None:
        """Count gold."""
        raise OSError("no light")

    rich = Principal(tenant="acme", user="di", permissions={"gold.read"})
    async with Handrail([mail.tool(), count]) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ANA, session="s1")
        await hr.call("gold.count", principal=rich, session="s2")
        dead_letters = hr.dead_letters
        assert [one.tool for one in await dead_letters.list(rich)] == ["mail.send", "gold.count"]
        assert [one.tool for one in await dead_letters.list(BO)] == ["mail.send"]
        assert await dead_letters.list(OTHER) == []
        assert [one.tool for one in await dead_letters.list(rich, tool="post")] == ["mail.send"]
        assert [one.tool for one in await dead_letters.list(rich, session="s2")] == ["gold.count"]
        assert await dead_letters.list(rich, code="TIMEOUT") == []

        [_, gold] = await dead_letters.list(rich)
        assert (await dead_letters.get(gold.id, rich)) == gold
        for stranger in (BO, OTHER):
            assert await dead_letters.get(gold.id, stranger) is None
            with pytest.raises(Conflict, match="There is no dead letter"):
                await dead_letters.replay(gold.id, by=stranger)
            with pytest.raises(Conflict, match="There is no dead letter"):
                await dead_letters.purge(gold.id, by=stranger)
            assert await dead_letters.purge(by=stranger, tool="gold.count") == 0
        hr.registry.unregister("gold.count")
        assert [one.tool for one in await dead_letters.list(rich)] == ["mail.send"]


@pytest.mark.req("RT-06")
async def test_letters_are_purged_one_by_one_or_by_what_they_are() -> None:
    mail = MailServer()
    now = [0.0]
    async with Handrail([mail.tool()], clock=Clock(now=lambda: now[0])) as hr:
        for session in ("s1", "s1", "s2", "s3", "s4"):
            await hr.call("mail.send", {"to": "bo"}, principal=ANA, session=session)
            now[0] += 1
        dead_letters = hr.dead_letters
        letters = await dead_letters.list(ANA)
        assert await dead_letters.purge(letters[3].id, by=ANA) == 1
        with pytest.raises(Conflict, match="There is no dead letter"):
            await dead_letters.purge(letters[3].id, by=ANA)
        assert await dead_letters.purge(by=ANA, session="s1", before=1) == 1
        assert await dead_letters.purge(by=OTHER) == 0
        assert [one.session for one in await dead_letters.list(ANA)] == ["s1", "s2", "s4"]
        assert await dead_letters.purge(by=ANA, tool="mail.send", before=3) == 2
        assert await dead_letters.purge(by=ANA) == 1


async def test_a_store_that_fails_after_the_answer_does_not_lose_the_outcome(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Forgetful(MemoryDeadLetters):
        async def ended(self, *given: Any) -> None:
            raise OSError("disk full")

    mail, letters = MailServer(), Forgetful()
    async with Handrail([mail.tool(level="write")], dead_letters=letters) as hr:
        await hr.call("mail.send", {"to": "bo"}, principal=ANA, source="web")
        [letter] = await hr.dead_letters.list(ANA)
        mail.down = False
        assert (await hr.dead_letters.replay(letter.id, by=ANA)).ok
        waiting = await hr.call("mail.send", {"to": "bo"}, principal=OPS)
        await hr.approvals.approve(waiting.approval_id or "", by=ANA)
        assert (await hr.wait(waiting.call_id)).ok
    assert "could not be settled" in caplog.text


def test_code_that_does_not_await_has_them_too() -> None:
    mail = MailServer()
    with SyncHandrail([mail.tool()]) as hr:
        hr.call("mail.send", {"to": "bo"}, principal=ANA)
        [letter] = hr.dead_letters.list(ANA, "mail.send", status="open")
        assert hr.dead_letters.get(letter.id, ANA) == letter
        mail.down = False
        assert hr.dead_letters.replay(letter.id, by=ANA).ok
        assert hr.dead_letters.replay_session(letter.session, by=ANA) == []
        assert hr.dead_letters.purge(by=ANA, tool="mail.send") == 1
