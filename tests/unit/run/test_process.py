"""Bodies in a process of their own: what goes there, what comes back, and what a dead process means."""

import asyncio
import base64
import os
import signal
import sys
from pathlib import Path

import pytest

from handrail import Handrail, Policy, Principal, Tool, define, sync, tool
from handrail.core.tell.log import open_runs
from handrail.ext.errors import DefinitionError
from handrail.ext.toolsets import PrefixedToolset, StaticToolset
from tests.harness.child_processes import no_leftover_processes
from tests.unit.run import process_tools as tools

WITHOUT_ASKING = Policy(approval_mode="policy")


async def pids_told(hr: Handrail) -> asyncio.Future[list[int]]:
    """The process ids that a body will tell as progress."""
    told: asyncio.Future[list[int]] = asyncio.get_running_loop().create_future()

    def hear(event) -> None:
        if event.kind == "progress" and "pids" in event.told and not told.done():
            told.set_result(event.told["pids"])

    hr.subscribe(hear)
    return told


@pytest.mark.req("BY-18", "TD-22", "TD-23")
@pytest.mark.parametrize(
    ("given", "name", "args", "answer"),
    [
        (tools.add, "calc.add", {"a": 2, "b": 3}, 5),
        (tools.add, "calc.add", {"a": 2}, 3),
        (tools.add_later, "calc.add_later", {"a": 2, "b": 3}, 5),
        (tools.Multiply, "calc.multiply", {"a": 2, "b": 3}, 6),
        (tools.cube, "calc.raise", {"a": 2}, 8),
        (tools.negate, "calc.negate", {"a": 2}, -2),
    ],
    ids=["sync", "default", "async", "class", "instance", "initialised"],
)
async def test_a_tool_of_every_style_runs_in_its_own_process(given, name, args, answer) -> None:
    async with Handrail(tools=[given]) as hr:
        out = await hr.call(name, args)
    assert (out.status, out.result.data) == ("completed", answer)


@pytest.mark.req("BY-18")
def test_a_blocking_program_runs_bodies_in_processes_too() -> None:
    with sync.Handrail(tools=[tools.add]) as hr:
        assert hr.call("calc.add", {"a": 2}).result.data == 3


@pytest.mark.req("BY-18")
async def test_arguments_arrive_typed_whole_and_with_their_secrets() -> None:
    async with Handrail(tools=[tools.book]) as hr:
        args = {"day": "2024-05-01", "legs": [{"to": "Rome", "takes": "PT2H"}, {"to": "Oslo"}], "pin": "4711"}
        out = await hr.call("trips.book", args)
    assert out.result.data == {
        "day": "2024-05-01",
        "legs": [{"to": "Rome", "takes": "PT2H"}, {"to": "Oslo", "takes": "PT1H"}],
        "digits": 4,
        "stops": 2,
    }


@pytest.mark.req("BY-18")
async def test_a_result_comes_back_with_its_attachments() -> None:
    async with Handrail(tools=[tools.report]) as hr:
        result = (await hr.call("notes.report")).result
    assert (result.data, result.summary, result.metadata) == ({"rows": 2}, "Two rows.", {"pages": 1})
    assert [one.data for one in result.attachments] == [b"\x89PNG\x00\xff", None]
    assert [one.ref for one in result.attachments] == [None, "blob:1"]


@pytest.mark.req("BY-18")
async def test_the_body_sees_the_caller_in_its_context() -> None:
    who = Principal(tenant="acme", user="ana", roles=["boss"], permissions=["x"], agent="ops")
    async with Handrail(tools=[tools.identity]) as hr:
        out = await hr.call("calls.identity", principal=who, source="job", session="s1", idempotency_key="k1")
    seen = out.result.data
    assert seen["pid"] != os.getpid()
    assert {name: seen[name] for name in seen if name not in ("pid", "cwd", "env")} == {
        "tenant": "acme",
        "user": "ana",
        "agent": "ops",
        "roles": ["boss"],
        "permissions": ["x"],
        "capabilities": ["execute", "network", "read", "write"],
        "source": "job",
        "session": "s1",
        "call": out.call_id,
        "run": out.run_id,
        "key": "k1",
    }


@pytest.mark.req("BY-18")
async def test_the_body_has_environment_and_working_directory(monkeypatch) -> None:
    monkeypatch.setenv("HANDRAIL_TEST_COLOUR", "blue")
    async with Handrail(tools=[tools.identity]) as hr:
        seen = (await hr.call("calls.identity")).result.data
    assert (seen["env"], seen["cwd"]) == ("blue", str(Path.cwd()))


@pytest.mark.req("BY-18")
async def test_progress_and_output_are_streamed_whatever_the_body_prints() -> None:
    async with Handrail(tools=[tools.speak]) as hr:
        events = [event async for event in hr.stream("calls.speak")]
    assert [event.kind for event in events] == ["started", "progress", *["chunk"] * 5, "completed"]
    assert events[1].payload()["told"] == {"title": "Half", "done": 0.5}
    assert [event.payload()["chunk"] for event in events[2:7]] == ["one ", *["+" * 100_000] * 4]
    assert events[-1].payload()["result"]["data"] == "said"


@pytest.mark.req("BY-18")
async def test_results_of_several_megabytes_come_back() -> None:
    async with Handrail(tools=[tools.make_text]) as hr:
        out = await hr.call("texts.make", {"size": 4_000_000})
    assert out.result.data == "é" * 4_000_000


@pytest.mark.req("BY-18")
async def test_text_that_looks_like_bytes_is_the_same_in_a_process_as_in_a_thread() -> None:
    weird = "\x00\x01\x1b\r\n\u2028\ufeff\U0001f600\ud800"

    @tool("texts.weird", level="read")
    def in_thread() -> str:
        """Give a weird text."""
        return weird

    encoded = base64.b64encode(weird.encode("utf-8", "surrogatepass")).decode()
    async with Handrail(tools=[tools.make_text, in_thread]) as hr:
        there = await hr.call("texts.make", {"encoded": encoded})
        here = await hr.call("texts.weird")
    assert there.result == here.result


@pytest.mark.req("BY-18", "EX-12")
@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ("tool", "NO_NOTE", "There is no such note."),
        ("value", "TOOL_FAILED", "seven is no colour"),
        ("exit", "TOOL_FAILED", "The body called exit (3)."),
        ("cancelled", "TOOL_FAILED", "Unknown error"),
        ("stop", "TOOL_FAILED", "Unknown error"),
        ("words", "POLITE", "No, thank you."),
        ("bytes", "INVALID_OUTPUT", "calls.fail ran, but its output cannot be written as JSON"),
    ],
)
async def test_a_body_that_fails_has_failed_and_says_why(how, code, words) -> None:
    async with Handrail(tools=[tools.fail], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("calls.fail", {"how": how})
        assert (out.status, out.code) == ("failed", code)
        assert words in (out.result.error or "")
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("BY-12", "BY-18")
async def test_a_write_whose_process_vanished_needs_a_person_and_says_what_it_printed() -> None:
    async with Handrail(tools=[tools.fail], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("calls.fail", {"how": "gone"}, session="s")
        assert (out.status, out.code) == ("needs_review", "UNKNOWN_OUTCOME")
        assert "(exit code 7)" in (out.result.error or "") and "the disk is on fire" in (
            out.result.error or ""
        )
        assert [event.type for event in hr.log.read("local", session="s")] == ["tool.started", "tool.failed"]


@pytest.mark.req("BY-12", "BY-18")
async def test_half_an_answer_is_none() -> None:
    async with Handrail(tools=[tools.fail], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("calls.fail", {"how": "half"})
        assert (out.status, out.code) == ("needs_review", "UNKNOWN_OUTCOME")


@pytest.mark.req("BY-18")
async def test_an_answer_beyond_all_bounds_is_a_failed_call(monkeypatch) -> None:
    monkeypatch.setattr("handrail.core.run.process._LINE_LIMIT", 100_000)
    async with Handrail(tools=[tools.make_text]) as hr:
        out = await hr.call("texts.make", {"size": 4_000_000})
        assert (out.status, out.code) == ("failed", "INVALID_OUTPUT")
        assert not open_runs(hr.log.read("local"))


async def killed(hr: Handrail, name: str, path: Path) -> tuple[str, str | None]:
    """Status and code of a call whose process is killed while its body runs."""
    told = await pids_told(hr)
    call = asyncio.create_task(hr.call(name, {"path": str(path)}, idempotency_key="order-7"))
    os.kill((await told)[0], signal.SIGKILL)
    out = await call
    return out.status, out.code


@pytest.mark.req("BY-12", "BY-18")
@pytest.mark.fault("F02")
async def test_a_write_killed_from_outside_needs_review_and_never_runs_again_by_itself(tmp_path) -> None:
    effects = tmp_path / "effects"
    async with Handrail(tools=[tools.pay], policy=WITHOUT_ASKING) as hr:
        assert await killed(hr, "work.pay", effects) == ("needs_review", "UNKNOWN_OUTCOME")
        again = await hr.call("work.pay", {"path": str(effects)}, idempotency_key="order-7")
    assert (again.status, again.code) == ("needs_review", "UNKNOWN_OUTCOME")
    assert effects.read_text() == "effect\n"


@pytest.mark.req("BY-12", "BY-18")
@pytest.mark.parametrize(("name", "given"), [("work.put", tools.put), ("work.look", tools.look)])
async def test_a_killed_read_or_idempotent_write_has_failed_and_may_run_again(tmp_path, name, given) -> None:
    effects = tmp_path / "effects"
    async with Handrail(tools=[given], policy=WITHOUT_ASKING) as hr:
        assert await killed(hr, name, effects) == ("failed", "TOOL_FAILED")
        again = await hr.call(name, {"path": str(effects)}, idempotency_key="order-7")
    assert again.status == "completed"


@pytest.mark.req("BY-12")
async def test_a_process_that_dies_before_the_body_begins_has_had_no_effect(monkeypatch) -> None:
    async with Handrail(tools=[tools.fail], policy=WITHOUT_ASKING) as hr:
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", "/bin/false")
            out = await hr.call("calls.fail", {"how": "words"}, idempotency_key="k")
        assert (out.status, out.code) == ("failed", "TOOL_FAILED")
        assert "before it answered" in (out.result.error or "")
        again = await hr.call("calls.fail", {"how": "words"}, idempotency_key="k")
        assert again.code == "POLITE", "the key is free"


@pytest.mark.req("BY-12")
async def test_a_process_that_cannot_be_started_is_a_failed_call(monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    async with Handrail(tools=[tools.fail], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("calls.fail", {"how": "tool"})
        assert (out.status, out.code) == ("failed", "TOOL_FAILED")
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("BY-18")
@pytest.mark.parametrize("what", ["secret", "call", "wait"])
async def test_what_is_alive_does_not_cross_and_the_body_is_told_so(what) -> None:
    async with Handrail(tools=[tools.secret, tools.add], secrets={"TOKEN": "t"}) as hr:
        out = await hr.call("calls.secret", {"what": what})
    assert out.status == "failed"
    assert "A body in a process of its own has no" in (out.result.error or "")


@pytest.mark.req("BY-18")
def test_a_body_without_an_import_path_is_refused_at_registration() -> None:
    def inner(args: object) -> int:
        return 1

    with pytest.raises(DefinitionError, match="in a process of its own"):
        define("calc.inner", description="One.", isolation="process", execute=inner)


@pytest.mark.req("BY-18")
async def test_a_tool_that_no_module_holds_at_its_top_fails_clearly() -> None:
    hidden = define("calc.hidden", description="One.", level="read", isolation="process", execute=_lonely)
    async with Handrail(tools=[hidden]) as hr:
        out = await hr.call("calc.hidden")
    assert (out.status, out.code) == ("failed", "TOOL_FAILED")
    assert "no tool 'calc.hidden' at its top level" in (out.result.error or "")


def _lonely(args: object) -> int:
    return 1


borrowed: Tool = define(
    "calc.borrowed", description="Two.", level="read", isolation="process", execute=tools.negated,
    paramSchema={"a": {"type": "integer"}}, requiredParams=["a"],
)  # fmt: skip


@pytest.mark.req("BY-18")
async def test_a_tool_is_found_though_its_function_stands_in_another_module() -> None:
    async with Handrail(tools=[borrowed]) as hr:
        out = await hr.call("calc.borrowed", {"a": 5})
    assert (out.status, out.result.data) == ("completed", -5)


@pytest.mark.req("BY-18")
async def test_a_renamed_tool_is_found_by_its_function() -> None:
    async with Handrail(tools=[PrefixedToolset(StaticToolset([tools.add]), "shop")]) as hr:
        out = await hr.call("shop.calc.add", {"a": 5})
    assert (out.status, out.result.data) == ("completed", 6)


@pytest.mark.req("BY-18")
async def test_what_a_body_leaves_for_its_exit_is_done(tmp_path) -> None:
    async with Handrail(tools=[tools.leave], policy=WITHOUT_ASKING) as hr:
        await hr.call("work.leave", {"path": str(tmp_path / "left")})
    assert (tmp_path / "left").read_text() == "done at exit, hurried: False"


@pytest.mark.req("BY-18")
async def test_twenty_processes_at_once_leave_no_descriptor_and_no_zombie() -> None:
    with no_leftover_processes():
        async with Handrail(tools=[tools.add]) as hr:
            await hr.call("calc.add", {"a": 0})
            before = descriptors()
            outs = await asyncio.gather(*(hr.call("calc.add", {"a": number}) for number in range(20)))
            assert [out.result.data for out in outs] == list(range(1, 21))
            await asyncio.sleep(0)
            assert descriptors() == before


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
