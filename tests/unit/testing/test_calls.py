"""One call in one line, and what the log holds of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, tool
from handrail.ext.errors import UsageError
from handrail.sync import Handrail as SyncHandrail
from handrail.testing import FakeClock, ScriptedApprover, call, call_sync, capture_tool, events


@tool("notes.whose", level="read")
async def whose(*, ctx: Context) -> list[Any]:
    """Say for whom this runs."""
    return [ctx.tenant_id, ctx.user_id, ctx.agent_id, ctx.source, ctx.session_id]


@tool("notes.add", level="write")
async def add_note(title: str, *, ctx: Context) -> str:
    """Add a note."""
    return f"{title}, with {ctx.secret('KEY')[:1]}…" if title == "secret" else title


@pytest.mark.req("CF-05")
async def test_a_call_is_made_for_whoever_is_named() -> None:
    bare = await call(whose)
    fields = await call(whose, tenant="acme", user="ana", agent="ops", source="mcp", session="s1")
    whole = await call(whose, principal=Principal(tenant="acme", user="bo"))

    assert bare.result.data[:4] == ["local", "local", None, "agent"]
    assert fields.result.data == ["acme", "ana", "ops", "mcp", "s1"]
    assert whole.result.data[:2] == ["acme", "bo"]


@pytest.mark.req("CF-05")
async def test_a_call_goes_through_the_whole_guard() -> None:
    asked = await call(add_note, {"title": "Milk"}, agent="ops")
    agreed = await call(add_note, {"title": "Milk"}, agent="ops", approver=ScriptedApprover(True))
    free = await call(add_note, '{"title": "Milk"}', agent="ops", policy=Policy(approval_mode="policy"))
    denied = await call(add_note, {"title": "Milk"}, policy=Policy(deny=["notes.*"]))
    invalid = await call(add_note, {"title": ["Milk", "Bread"]})
    person = await call(add_note, {"title": "Milk"}, source="web", clock=FakeClock())
    secret = await call(add_note, {"title": "secret"}, source="web", secrets={"KEY": "k3y"})

    assert [out.code for out in (asked, agreed, free, denied, invalid, person, secret)] == [
        *("NEEDS_APPROVAL", None, None, "NOT_PERMITTED", "INVALID_PARAM", None, None)
    ]
    assert person.duration_ms == 0.0


@pytest.mark.req("CF-05")
async def test_a_body_finds_the_tools_it_calls_among_the_others() -> None:
    inner = capture_tool("notes.count", 3)

    @tool("notes.report", level="read")
    async def report(*, ctx: Context) -> str:
        """Report."""
        return f"{(await ctx.call('notes.count')).result.data} notes"

    assert (await call(report, others=[inner])).result.data == "3 notes"
    assert len(inner.calls) == 1


@pytest.mark.req("CF-05")
def test_the_same_for_a_test_that_does_not_await() -> None:
    assert call_sync(whose, tenant="acme", user="ana").result.data[:2] == ["acme", "ana"]
    assert call_sync(add_note, {"title": "Milk"}, source="cli").ok


async def test_a_call_that_blocks_is_refused_where_one_can_await() -> None:
    with pytest.raises(UsageError, match="await call"):
        call_sync(whose)
    await asyncio.sleep(0)


async def test_who_calls_is_said_once_and_in_known_words() -> None:
    with pytest.raises(UsageError, match="either a principal or its fields"):
        await call(whose, principal=Principal.local(), user="ana")
    with pytest.raises(UsageError, match="tenent: neither an option of `call` nor a field of Principal"):
        await call(whose, tenent="acme")


@pytest.mark.req("CF-05")
async def test_events_are_those_of_a_tenant() -> None:
    ana = Principal(tenant="acme", user="ana")
    async with Handrail([whose]) as hr:
        await hr.call("notes.whose")
        await hr.call("notes.whose", principal=ana, session="s1")
        await hr.call("notes.nobody", principal=ana, session="s2")

        assert [event.kind for event in events(hr)] == ["started", "completed"]
        assert [event.kind for event in events(hr, "acme")] == ["started", "completed", "failed"]
        assert events(hr, ana, session="s2")[0].tool == "notes.nobody"


@pytest.mark.req("CF-05")
def test_events_of_a_blocking_handrail() -> None:
    with SyncHandrail([whose]) as hr:
        hr.call("notes.whose")
        assert [event.kind for event in events(hr)] == ["started", "completed"]
