"""What a body knows, whom it acts for, and how identity follows work outside any call."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextvars import copy_context
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, define, tool
from handrail.core.define.signal import Signal
from handrail.ext.compat import (
    get_tenant_id_for_tool,
    get_tool_context_tenant_id,
    tool_context,
    with_tool_context,
)
from handrail.ext.errors import Aborted, NoTenant
from handrail.ext.tools import active_tenant, current

ANA = Principal(
    tenant="acme", user="ana", roles={"editor"}, permissions={"books.read"}, agent="ops", workspace="w1"
)


async def seen_by(look: Any, **options: Any) -> Any:
    async def execute(args: Any, ctx: Context) -> Any:
        return look(ctx)

    spy = define("spy", {"description": "Look.", "level": "read", "execute": execute, "aliases": ["peek"]})
    async with Handrail([spy], policy=Policy(capabilities=["read", "network"])) as hr:
        outcome = await hr.call("spy", **{"principal": ANA, **options})
    assert outcome.ok, outcome.result.error
    return outcome.result.data


@pytest.mark.req("CX-01", "CX-02", "CX-03", "CX-04", "CX-05")
@pytest.mark.parametrize(
    ("names", "value"),
    [
        ("tenant_id tenant organization_id tenant_slug", "acme"),
        ("user_id user", "ana"),
        ("agent_id agent", "ops"),
        ("workspace_id workspace", "w1"),
        ("session_id chat_id", "s1"),
        ("message_id", "m1"),
        ("call_id tool_call_id", "c1"),
        ("turn turn_number", 7),
        ("source", "mcp"),
        ("permissions", ["books.read"]),
        ("tool", "spy"),
        ("idempotency_key", "c1"),
    ],
)
async def test_a_context_knows_who_what_and_where_under_every_usual_name(names: str, value: Any) -> None:
    found = await seen_by(
        lambda ctx: [getattr(ctx, name) for name in names.split()],
        session="s1",
        message="m1",
        id="c1",
        turn=7,
        source="mcp",
    )
    assert found == [value] * len(names.split())


@pytest.mark.req("CX-02", "CX-05")
async def test_what_was_not_given_is_none_and_a_session_is_opened() -> None:
    names = ["user_id", "agent_id", "workspace_id", "message_id", "turn"]
    found = await seen_by(lambda ctx: [getattr(ctx, name) for name in names], principal=Principal("acme"))
    assert found == [None] * 5
    assert (await seen_by(lambda ctx: ctx.session_id, id="c1")) == "call:c1"
    assert (await seen_by(lambda ctx: ctx.idempotency_key, idempotency_key="k")) == "k"


@pytest.mark.req("CX-01", "CX-02", "CX-03")
async def test_a_context_cannot_be_changed_by_a_body() -> None:
    def tamper(ctx: Context) -> list[str]:
        refused = []
        for name in ("tenant_id", "organization_id", "user_id", "agent", "permissions", "principal"):
            try:
                setattr(ctx, name, "evil")
            except AttributeError:
                refused.append(name)
        return refused

    assert len(await seen_by(tamper)) == 6


@pytest.mark.req("CX-03")
async def test_lists_of_allowed_tools_stay_on_the_engines_side() -> None:
    assert await seen_by(lambda ctx: [name for name in dir(ctx) if "allow" in name or "policy" in name]) == []


@pytest.mark.req("CX-04")
async def test_granted_capabilities_are_visible_to_the_body() -> None:
    assert await seen_by(lambda ctx: sorted(ctx.capabilities)) == ["network", "read"]


@pytest.mark.req("CX-01", "CX-02", "CX-06")
async def test_signal_and_abort_are_one_and_tell_a_thread_to_stop() -> None:
    begun = threading.Event()
    same: list[bool] = []

    @tool("loop", level="read")
    def loop(*, ctx: Context) -> None:
        """Work until told to stop."""
        same.append(ctx.signal is ctx.abort)
        begun.set()
        while True:
            ctx.abort.throw_if_aborted()

    async with Handrail([loop]) as hr:
        task = asyncio.create_task(hr.call("loop", id="c1"))
        await asyncio.to_thread(begun.wait, 5)
        assert await hr.cancel("c1", "enough")
        outcome = await task
    assert same == [True]
    assert (outcome.status, outcome.result.error) == ("cancelled", "Cancelled: enough.")


@pytest.mark.req("CX-06")
async def test_a_signal_wakes_whoever_waits_and_tells_each_listener_once() -> None:
    signal, heard = Signal(), []
    waiting = asyncio.create_task(signal.wait())
    await asyncio.sleep(0)

    def broken() -> None:
        raise RuntimeError("I cannot stop")

    signal.on_abort(broken)
    signal.on_abort(lambda: heard.append("early"))
    signal.throw_if_aborted()
    thread = threading.Thread(target=signal.abort, args=("first",))
    thread.start()
    await waiting
    await asyncio.to_thread(thread.join)
    signal.abort("second")
    signal.on_abort(lambda: heard.append("late"))
    assert signal.aborted and signal.reason == "first" and heard == ["early", "late"]
    with pytest.raises(Aborted, match="first"):
        signal.throw_if_aborted()


@pytest.mark.req("CX-06", "CX-08")
async def test_a_listener_of_the_body_that_fails_does_not_keep_the_call_alive() -> None:
    begun = asyncio.Event()

    @tool("stubborn", level="read")
    async def stubborn(*, ctx: Context) -> None:
        """Clean up badly."""
        ctx.signal.on_abort(lambda: 1 / 0)
        begun.set()
        await asyncio.Event().wait()

    async with Handrail([stubborn]) as hr:
        task = asyncio.create_task(hr.call("stubborn", id="c1"))
        await begun.wait()
        assert await hr.cancel("c1")
        assert (await task).status == "cancelled"


@pytest.mark.req("CX-08", "CX-07")
async def test_cancelling_a_call_cancels_the_calls_inside_it_and_releases_what_they_claimed() -> None:
    begun = asyncio.Event()

    @tool("inner", level="read", writes=lambda args: ["doc"])
    async def inner() -> None:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()

    @tool("outer", level="read")
    async def outer(*, ctx: Context) -> None:
        """Call the other."""
        await ctx.call("inner")

    async with Handrail([inner, outer]) as hr:
        task = asyncio.create_task(hr.call("outer", principal=ANA, id="c1", session="s1"))
        await begun.wait()
        assert await hr.cancel("c1")
        await task
        kinds = [(event.tool, event.kind) for event in hr.log.read("acme", session="s1")]
        assert len(hr._runtime.claims) == 0 and hr._runtime.running == {}  # type: ignore[arg-type]
    assert kinds[2:] == [("inner", "cancelled"), ("outer", "cancelled")]


@pytest.mark.req("CX-04")
async def test_a_nested_call_keeps_principal_source_session_and_turn() -> None:
    @tool("inner", level="read")
    async def inner(*, ctx: Context) -> list[Any]:
        """Look."""
        return [
            ctx.tenant_id,
            ctx.user_id,
            ctx.agent_id,
            ctx.source,
            ctx.session_id,
            ctx.turn,
            ctx.message_id,
        ]

    @tool("outer", level="read")
    async def outer(*, ctx: Context) -> Any:
        """Call the other."""
        return (await ctx.call("inner")).result.data

    async with Handrail([inner, outer]) as hr:
        outcome = await hr.call("outer", principal=ANA, source="job", session="s1", turn=4, message="m1")
    assert outcome.result.data == ["acme", "ana", "ops", "job", "s1", 4, "m1"]


@pytest.mark.req("BJ-01", "BJ-02")
async def test_a_callback_runs_as_a_tenant_and_outside_there_is_none() -> None:
    async def work() -> str | None:
        await asyncio.sleep(0)
        return get_tool_context_tenant_id()

    assert get_tool_context_tenant_id() is None and current() is None
    assert with_tool_context("acme", get_tool_context_tenant_id) == "acme"
    assert await with_tool_context("acme", work) == "acme"
    assert get_tool_context_tenant_id() is None


@pytest.mark.req("BJ-01", "BJ-05")
async def test_nested_scopes_restore_the_outer_one_even_after_an_error() -> None:
    with tool_context("outer"):
        assert with_tool_context("inner", get_tool_context_tenant_id) == "inner"
        with pytest.raises(LookupError), tool_context("inner"):
            raise LookupError
        assert get_tool_context_tenant_id() == "outer"
    assert get_tool_context_tenant_id() is None


@pytest.mark.req("BJ-04")
async def test_the_identity_follows_awaits_tasks_parallel_calls_and_worker_threads() -> None:
    async def tenant() -> str:
        await asyncio.sleep(0)
        return get_tenant_id_for_tool()

    async def work() -> list[str]:
        task = asyncio.create_task(tenant())
        return [
            await tenant(),
            await task,
            *await asyncio.gather(tenant(), tenant()),
            await asyncio.to_thread(get_tenant_id_for_tool),
        ]

    scopes = [with_tool_context(name, work) for name in ("acme", "other", "third")]
    found = await asyncio.gather(*scopes)
    assert found == [["acme"] * 5, ["other"] * 5, ["third"] * 5]


@pytest.mark.req("BJ-04")
async def test_the_identity_follows_the_steps_of_generators_and_not_their_consumers() -> None:
    async def steps() -> AsyncIterator[str]:
        for _ in range(2):
            yield get_tenant_id_for_tool()

    def blocking() -> Iterator[str]:
        yield get_tenant_id_for_tool()
        yield get_tenant_id_for_tool()

    async for tenant in with_tool_context("acme", steps):
        assert (tenant, get_tool_context_tenant_id()) == ("acme", None)
    for tenant in with_tool_context("acme", blocking):
        assert (tenant, get_tool_context_tenant_id()) == ("acme", None)


@pytest.mark.req("BJ-03")
async def test_the_scope_goes_before_the_request() -> None:
    def request() -> list[str]:
        active_tenant.set(lambda: "from the request")
        with tool_context("from the scope"):
            inside = get_tenant_id_for_tool()
        return [inside, get_tenant_id_for_tool()]

    assert copy_context().run(request) == ["from the scope", "from the request"]


@pytest.mark.req("BJ-03", "BJ-05")
async def test_without_scope_or_request_the_tenant_fails_loudly() -> None:
    with pytest.raises(NoTenant, match="with_tool_context"):
        get_tenant_id_for_tool()

    def empty_request() -> None:
        active_tenant.set(lambda: None)
        get_tenant_id_for_tool()

    with pytest.raises(NoTenant):
        copy_context().run(empty_request)
    for nobody in ("", None):
        with pytest.raises(NoTenant):
            with_tool_context(nobody, lambda: None)  # type: ignore[arg-type]


@pytest.mark.req("BJ-05", "BJ-04")
async def test_a_new_thread_has_no_tenant_rather_than_somebody_elses() -> None:
    found: list[Any] = []
    with tool_context("acme"):
        thread = threading.Thread(target=lambda: found.append(get_tool_context_tenant_id()))
        thread.start()
        await asyncio.to_thread(thread.join)
    assert found == [None]


@tool("whoami", level="read")
async def whoami(*, ctx: Context) -> list[Any]:
    """Say for whom this runs."""
    return [get_tenant_id_for_tool(), ctx.user_id, sorted(ctx.permissions)]


@pytest.mark.req("BJ-03", "BJ-04")
async def test_inside_a_body_a_call_without_principal_acts_for_the_bodys_caller() -> None:
    hr = Handrail([whoami])

    @tool("outer", level="read")
    async def outer() -> Any:
        """Call without naming anybody."""
        task = asyncio.create_task(hr.call("whoami"))
        return [(await hr.call("whoami")).result.data, (await task).result.data]

    @tool("outer_thread", level="read")
    def outer_thread() -> Any:
        """The same from a thread."""
        return [asyncio.run(hr.call("whoami")).result.data, get_tenant_id_for_tool()]

    hr.registry.register(outer)
    hr.registry.register(outer_thread)
    expected = ["acme", "ana", ["books.read"]]
    assert (await hr.call("outer", principal=ANA)).result.data == [expected, expected]
    assert (await hr.call("outer_thread", principal=ANA)).result.data == [expected, "acme"]
    await hr.close()


@pytest.mark.req("BJ-04", "BJ-05")
async def test_in_a_tenants_scope_a_call_without_principal_never_runs_as_the_local_developer() -> None:
    secret = define(
        "admin", {"description": "Admin.", "level": "read", "requires": "admin", "execute": lambda args: 1}
    )
    async with Handrail([whoami, secret]) as hr:
        assert (await hr.call("admin")).ok
        with tool_context("acme"):
            found = await hr.call("whoami")
            refused = await hr.call("admin")
            listed = [tool.id for tool in await hr.tools()]
            streamed = [event.tenant async for event in hr.stream("whoami")]
            assert (await hr.explain("admin")).code == "NOT_PERMITTED"
    assert found.result.data == ["acme", None, []]
    assert refused.code == "NOT_PERMITTED" and listed == ["whoami"]
    assert set(streamed) == {"acme"}
