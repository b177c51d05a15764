"""The one way every call goes: its stages, their order, and what each outcome is made of."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from handrail import Call, Context, Handrail, Policy, Principal, Result, Rule, Tool, from_json_schema, tool
from handrail.core.define.levels import SOURCES
from handrail.core.guard.idempotency import key_id
from handrail.core.tell.log import open_runs
from handrail.ext.compat import to_legacy_tool_run
from handrail.ext.guard import Step
from handrail.ext.ports import Clock, MemoryClaims, MemoryIdempotencyKeys, MemoryLog

WITHOUT_ASKING = Policy(approval_mode="policy")
ANA = Principal(tenant="acme", user="ana")


@tool("notes.find", level="read", aliases=["find"])
async def find(text: str, limit: int = 5, *, ctx: Context) -> dict[str, Any]:
    """Find notes."""
    return {"text": text, "limit": limit, "organization": ctx.organization_id, "user": ctx.user_id}


@pytest.mark.req("EX-01", "EX-03", "RG-06")
@pytest.mark.parametrize("name", ["notes.find", "notes__find", "notes-find", "find"])
async def test_a_tool_is_called_by_any_of_its_names_for_the_caller(name) -> None:
    async with Handrail([find]) as hr:
        out = await hr.call(name, {"text": "milk"}, principal=ANA)
    assert (out.status, out.tool) == ("completed", "notes.find")
    assert out.result.data == {"text": "milk", "limit": 5, "organization": "acme", "user": "ana"}


@pytest.mark.req("EX-03", "RG-06")
async def test_a_prepared_call_goes_the_same_way() -> None:
    async with Handrail([find]) as hr:
        out = await hr.run(Call("notes.find", {"text": "milk"}, ANA, session="s", id="c1", turn=2))
        assert (out.call_id, out.ok) == ("c1", True)
        [started, completed] = hr.log.read("acme", session="s")
        assert (started.call.turn, started.id) == (2, out.run_id)
        assert completed.payload()["result"] == out.result.to_dict()


@pytest.mark.req("EX-01", "EX-03")
async def test_no_argument_is_quietly_read_as_something_else() -> None:
    async with Handrail([find]) as hr:
        repaired = await hr.call("notes.find", {"text": "milk", "limit": "3"})
        assert (repaired.result.data["limit"], len(repaired.repairs)) == (3, 1)
        for wrong in (True, 3.5, "three", [3], None):
            out = await hr.call("notes.find", {"text": "milk", "limit": wrong})
            assert out.code == "INVALID_PARAM" or out.repairs, wrong


@pytest.mark.req("EX-02")
@pytest.mark.parametrize("name", ["notes.fnd", "", " ", "notes.find\n", "../notes", "Ω", "x" * 10_000])
async def test_an_unknown_tool_is_refused_with_its_name(name) -> None:
    async with Handrail([find]) as hr:
        out = await hr.call(name, {"text": "milk"}, session="s")
        assert (out.status, out.code, out.run_id) == ("refused", "TOOL_NOT_FOUND", None)
        told = out.result.to_worker()
        assert (told["success"], told["error"]) == (False, "TOOL_NOT_FOUND")
        assert told["summary"] == f"Tool not found: {name}"
        [event] = hr.log.read("local", session="s")
        assert (event.type, event.payload()["code"]) == ("tool.failed", "TOOL_NOT_FOUND")


@pytest.mark.req("EX-04")
@pytest.mark.parametrize("source", SOURCES)
async def test_every_source_is_recorded_and_reaches_the_body(source) -> None:
    older = {"web": "web", "cli": "web", "api": "api", "agent": "agent", "mcp": "agent", "job": "agent"}

    @tool("who.asks", level="read")
    async def who(*, ctx: Context) -> str:
        """Say where the call came from."""
        return ctx.source

    async with Handrail([who]) as hr:
        out = await hr.call("who.asks", source=source, session="s")
        assert out.result.data == source
        run = to_legacy_tool_run(hr.log.read("local", session="s"))
        assert run is not None and run.source == older[source]


@pytest.mark.req("EX-04")
async def test_an_unknown_source_is_refused() -> None:
    async with Handrail([find]) as hr:
        out = await hr.call("notes.find", {"text": "milk"}, source="telepathy")  # type: ignore[arg-type]
        assert out.status == "refused"
        assert "telepathy" in (out.result.error or "")


@pytest.mark.req("EX-05")
async def test_a_tenants_own_tool_brings_its_executor_along_as_its_body() -> None:
    spec = {"text": "Hello, {name}!"}

    async def execute_spec(args: Mapping[str, Any], ctx: Context) -> str:
        return spec["text"].format(**args)

    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    greet = from_json_schema(
        "acme.greet", schema, execute_spec, description="Greet.", level="read", origin="tenant_custom"
    )

    class Stored:
        async def tools(self, principal: Principal, /) -> list[Tool]:
            return [greet] if principal.tenant == "acme" else []

        async def find(self, name: str, principal: Principal, /) -> Tool | None:
            return next((one for one in await self.tools(principal) if name == one.id), None)

    async with Handrail([Stored()]) as hr:
        assert (await hr.call("acme.greet", {"name": "Bo"}, principal=ANA)).result.data == "Hello, Bo!"
        assert (await hr.call("acme.greet", {"name": "Bo"})).code == "TOOL_NOT_FOUND"


@pytest.mark.req("EX-17")
async def test_what_reads_data_learns_of_source_and_principal() -> None:
    def access(ctx: Context) -> str:
        """As a data layer would choose: whose rows, and whether the user's own rights hold."""
        how = "user" if ctx.source in ("web", "cli") else "admin"
        return f"{how} of {ctx.tenant_id} for {ctx.principal.user}"

    @tool("rows.read", level="read")
    async def rows(*, ctx: Context) -> str:
        """Read rows."""
        return access(ctx)

    async with Handrail([rows]) as hr:
        seen = [(await hr.call("rows.read", principal=ANA, source=one)).result.data for one in SOURCES]
    assert seen == [f"{how} of acme for ana" for how in ("admin", "admin", "admin", "admin", "user", "user")]


@pytest.mark.req("EX-18")
async def test_duration_is_measured_and_recorded() -> None:
    ticks = iter([1.0, 3.5])
    async with Handrail([find], clock=Clock(now=lambda: 7.0, ticks=lambda: next(ticks))) as hr:
        out = await hr.call("notes.find", {"text": "milk"}, session="s")
        assert out.duration_ms == 2500
        assert out.to_legacy_run()["durationMs"] == 2500
        [_, completed] = hr.log.read("local", session="s")
        assert (completed.payload()["duration_ms"], completed.at) == (2500, 7.0)


@pytest.mark.req("EX-16", "RG-06", "RG-08")
async def test_the_direct_path_makes_a_context_stores_the_result_and_calls_back() -> None:
    made: list[tuple[str, str]] = []
    results: list[Result] = []

    def create_context(tool_id: str, call_id: str) -> dict[str, Any]:
        made.append((tool_id, call_id))
        return {"working_dir": "/srv", "call": call_id}

    @tool("where.am_i", level="read", aliases=["where"])
    async def where(*, ctx: Context) -> dict[str, Any]:
        """Say where this runs."""
        return dict(ctx.extra)

    async with Handrail([where], create_context=create_context, on_result=results.append) as hr:
        out = await hr.call("where", id="c1", principal=ANA)
        assert made == [("where.am_i", "c1")]
        assert out.result.data == {"working_dir": "/srv", "call": "c1"}
        assert results == [out.result]
        assert hr.last_result("where", ANA) == hr.last_result("where.am_i", ANA) == out.result
        assert hr.last_result("where") is None
        assert out.to_model() == '{"working_dir":"/srv","call":"c1"}'


@pytest.mark.req("EX-06", "EX-20")
async def test_plan_mode_queues_calls_which_are_then_run_or_discarded_in_order() -> None:
    written: list[int] = []

    @tool("desk.write", level="write")
    async def write(number: int) -> int:
        """Write a number."""
        written.append(number)
        return number

    async with Handrail([write, find], policy=Policy(approval_mode="policy", plan=True)) as hr:
        for number in (3, 1, 2):
            out = await hr.call("desk.write", {"number": str(number)}, session="s", principal=ANA)
            assert (out.status, out.code, out.run_id) == ("queued", "PLANNED", None)
        assert (await hr.call("notes.find", {"text": "milk"}, principal=ANA)).ok
        assert written == []
        assert list(hr.log.read("acme", session="s")) == []
        planned = await hr.planned(ANA)
        assert [one.args for one in planned] == [{"number": 3}, {"number": 1}, {"number": 2}]
        outs = await hr.run_plan(ANA)
        assert [out.result.data for out in outs] == written == [3, 1, 2]
        await hr.call("desk.write", {"number": 4}, principal=ANA)
        assert await hr.discard_plan(ANA) == 1
        assert await hr.run_plan(ANA) == []
    assert written == [3, 1, 2]


@pytest.mark.req("EX-08")
async def test_a_safety_check_sees_the_arguments_and_may_refuse() -> None:
    def only_milk(tool: Tool, args: Any, principal: Principal) -> Step | None:
        return None if args.text == "milk" else Step("safety", "deny", "only milk", None, "NOT_PERMITTED")

    async with Handrail([find], safety=[only_milk]) as hr:
        assert (await hr.call("notes.find", {"text": "milk"})).ok
        out = await hr.call("notes.find", {"text": "gin"})
        assert (out.status, out.code) == ("refused", "NOT_PERMITTED")
        assert "only milk" in (out.result.error or "")


FAULTS = {
    "hidden from the tenant": "TOOL_NOT_FOUND",
    "on the deny list": "NOT_PERMITTED",
    "another digest": "STALE_TOOL",
    "wrong argument": "INVALID_PARAM",
    "key of another call": "KEY_REUSED",
    "denied by a rule": "NOT_PERMITTED",
    "plan mode": "PLANNED",
    "rejected by a person": "REJECTED",
    "claimed by another": "RESOURCE_BUSY",
    "no context": "INTERNAL_ERROR",
    "log out of order": "LOG_UNAVAILABLE",
    "body fails": "TOOL_FAILED",
    "nothing": None,
}
LAYERS = {"hidden from the tenant": "find", "on the deny list": "allow/deny", "denied by a rule": "rules"}


@pytest.mark.req("EX-01", "EX-03", "EX-06", "EX-07", "EX-08", "EX-09", "EX-10", "EX-12")
@pytest.mark.parametrize("first", FAULTS)
async def test_of_all_that_is_wrong_the_earliest_stage_answers(first) -> None:
    order = list(FAULTS)
    wrong = set(order[order.index(first) :])
    ran: list[int] = []

    @tool(
        "desk.write", tenants=["other"] if "hidden from the tenant" in wrong else [], writes=lambda _: "desk"
    )
    async def write(number: int) -> int:
        """Write a number."""
        ran.append(number)
        if "body fails" in wrong:
            raise ValueError("broken")
        return number

    class Log(MemoryLog):
        async def flush(self, event, /) -> None:
            if "log out of order" in wrong:
                raise OSError("disk full")

    def create_context(tool_id: str, call_id: str) -> dict[str, Any]:
        if "no context" in wrong:
            raise LookupError("nobody there")
        return {}

    async def approver(request) -> bool:
        return "rejected by a person" not in wrong

    keys, claims = MemoryIdempotencyKeys(), MemoryClaims()
    if "key of another call" in wrong:
        await keys.begin(key_id(ANA, "k"), "another fingerprint", "c0")
    if "claimed by another" in wrong:
        claims.take(["desk"], ANA.tenant, "bo")
    policy = Policy(
        deny=["desk.write"] if "on the deny list" in wrong else (),
        rules=[Rule(tool="desk.*", verdict="deny", reason="not here")] if "denied by a rule" in wrong else (),
        plan="plan mode" in wrong,
    )
    async with Handrail(
        [write],
        policy=policy,
        approver=approver,
        log=Log(),
        keys=keys,
        claims=claims,
        create_context=create_context,
    ) as hr:
        out = await hr.call(
            "desk.write",
            {"number": "a few" if "wrong argument" in wrong else 1},
            principal=ANA,
            session="s",
            idempotency_key="k",
            digest="old" if "another digest" in wrong else None,
        )
        assert out.code == FAULTS[first]
        assert ran == ([1] if first in ("body fails", "nothing") else [])
        assert (out.run_id is not None) == bool(list(hr.log.read("acme", status="started")))
        if first in LAYERS:
            [failed] = hr.log.read("acme", session="s", status="failed")
            assert failed.payload()["layer"] == LAYERS[first]
        assert len(claims) == (1 if "claimed by another" in wrong else 0)
        assert not open_runs(hr.log.read("acme"))


@pytest.mark.req("EX-03")
async def test_two_calls_with_one_id_do_not_run_at_once() -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    @tool("slow.read", level="read")
    async def slow() -> str:
        """Read slowly."""
        entered.set()
        await go_on.wait()
        return "read"

    async with Handrail([slow]) as hr:
        first = asyncio.create_task(hr.call("slow.read", id="c1"))
        await entered.wait()
        second = await hr.call("slow.read", id="c1")
        assert (second.status, second.code) == ("refused", "CALL_ID_IN_USE")
        go_on.set()
        assert (await first).ok
        assert (await hr.call("slow.read", id="c1")).ok
