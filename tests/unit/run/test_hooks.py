"""Hooks: stages that toolsets add around bodies, such as caches, records and checks of what was written."""

import ast
from collections.abc import Sequence
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Principal, Result, Tool, tool
from handrail.core.tell.log import open_runs
from handrail.ext.guard import Step
from handrail.ext.toolsets import CombinedToolset, Equipped, FilteredToolset, PrefixedToolset, StaticToolset

WITHOUT_ASKING = Policy(approval_mode="policy")


class Hook:
    """Does nothing; the tests below override what they need."""

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        return result


class Files:
    """Two tools over a few files, and how often each was really read."""

    def __init__(self) -> None:
        self.content = {"a.py": "x = 1"}
        self.reads = 0

        @tool("files.read", level="read", reads=lambda args: [f"file:{args.path}"])
        async def read(path: str) -> str:
            """Read a file."""
            self.reads += 1
            return self.content[path]

        @tool("files.write", level="write", writes=lambda args: [f"file:{args.path}"])
        async def write(path: str, text: str) -> str:
            """Write a file."""
            self.content[path] = text
            return "written"

        self.tools = [read, write]


class FileCache(Hook):
    """Answers repeated reads from memory; a write drops what was read of its file."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Result] = {}

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        if tool.reads is None:
            return None
        return self.kept.get((ctx.tenant_id, *tool.reads(values)))

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        if tool.reads is not None:
            self.kept[ctx.tenant_id, *tool.reads(values)] = result
        if tool.writes is not None:
            self.kept.pop((ctx.tenant_id, *tool.writes(values)), None)
        return result


@pytest.mark.req("EX-11", "EX-14")
async def test_a_cache_answers_before_the_body_and_a_write_invalidates_it() -> None:
    files = Files()
    async with Handrail(files.tools, policy=WITHOUT_ASKING, hooks=[FileCache()]) as hr:
        first = await hr.call("files.read", {"path": "a.py"})
        again = await hr.call("files.read", {"path": "a.py"}, session="s")
        assert first.result.data == again.result.data == "x = 1"
        assert (files.reads, again.result.metadata) == (1, {"cached": True})
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "completed"]
        await hr.call("files.write", {"path": "a.py", "text": "x = 2"})
        assert (await hr.call("files.read", {"path": "a.py"})).result.data == "x = 2"
        assert files.reads == 2


@pytest.mark.req("EX-13")
async def test_a_recorder_sees_tool_arguments_caller_and_result_of_every_body_that_ended() -> None:
    seen: list[tuple[Any, ...]] = []

    class Recorder(Hook):
        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
            seen.append((tool.id, values.path, ctx.call_id, ctx.run_id, result.success))
            return result

    @tool("files.check", level="read")
    async def check(path: str) -> dict[str, str]:
        """Check a file."""
        return {"error": f"{path} is not there"}

    files = Files()
    async with Handrail([*files.tools, check], hooks=[Recorder()]) as hr:
        read = await hr.call("files.read", {"path": "a.py"})
        checked = await hr.call("files.check", {"path": "b.py"})
        await hr.call("files.read", {"path": "missing.py"})
    assert (checked.status, checked.result.error) == ("failed", "b.py is not there")
    assert seen == [
        ("files.read", "a.py", read.call_id, read.run_id, True),
        ("files.check", "b.py", checked.call_id, checked.run_id, False),
    ]


@pytest.mark.req("EX-15")
async def test_a_check_of_what_was_written_adds_a_warning_and_undoes_nothing() -> None:
    class Syntax(Hook):
        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
            if tool.id == "files.write" and values.path.endswith(".py"):
                try:
                    ast.parse(values.text)
                except SyntaxError as error:
                    return result.with_metadata(warning=f"line {error.lineno}: {error.msg}")
            return result

    files = Files()
    async with Handrail(files.tools, policy=WITHOUT_ASKING, hooks=[Syntax()]) as hr:
        out = await hr.call("files.write", {"path": "a.py", "text": "x = ("})
        assert out.status == "completed"
        assert out.result.metadata == {"warning": "line 1: '(' was never closed"}
        assert files.content["a.py"] == "x = ("


@pytest.mark.req("EX-13")
async def test_hooks_run_in_the_order_they_were_given_and_each_sees_the_last_ones_result() -> None:
    class Sign(Hook):
        def __init__(self, name: str) -> None:
            self.name = name

        async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
            order.append(f"before {self.name}")
            return None

        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
            order.append(f"after {self.name}")
            return result.with_metadata(signed=[*result.metadata.get("signed", []), self.name])

    order: list[str] = []
    async with Handrail(Files().tools, hooks=[Sign("a"), Sign("b")]) as hr:
        out = await hr.call("files.read", {"path": "a.py"})
    assert order == ["before a", "before b", "after a", "after b"]
    assert out.result.metadata["signed"] == ["a", "b"]


@pytest.mark.req("EX-13", "EX-18")
async def test_the_result_a_hook_gives_is_the_one_that_is_told_and_returned() -> None:
    class Replace(Hook):
        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
            return Result.fail("the file is locked", code="LOCKED")

    async with Handrail(Files().tools, hooks=[Replace()]) as hr:
        out = await hr.call("files.read", {"path": "a.py"}, session="s")
        assert (out.status, out.code) == ("failed", "LOCKED")
        [_, failed] = hr.log.read("local", session="s")
        assert (failed.kind, failed.payload()["error"]) == ("failed", "the file is locked")


@pytest.mark.req("EX-13")
async def test_a_hook_that_fails_before_the_body_refuses_the_call() -> None:
    class Broken(Hook):
        async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
            raise OSError("the cache is gone")

    files = Files()
    async with Handrail(files.tools, policy=WITHOUT_ASKING, hooks=[Broken()]) as hr:
        out = await hr.call("files.write", {"path": "a.py", "text": "x = 2"}, idempotency_key="k")
        assert (out.status, out.code, out.run_id) == ("refused", "INTERNAL_ERROR", None)
        assert files.content["a.py"] == "x = 1"
        assert [event.kind for event in hr.log.read("local")] == ["failed"]
        assert not hr._runtime.running and not len(hr._runtime.claims)  # type: ignore[arg-type]
        again = await hr.call("files.write", {"path": "a.py", "text": "x = 2"}, idempotency_key="k")
        assert again.status == "refused", "nothing ran, so the key is free and the call is made again"


@pytest.mark.req("EX-13", "EX-15")
@pytest.mark.parametrize("gives", [None, "text", RuntimeError("the disk is full")], ids=str)
async def test_a_hook_that_fails_after_the_body_is_reported_beside_the_result(gives) -> None:
    class Broken(Hook):
        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Any:
            if isinstance(gives, Exception):
                raise gives
            return gives

    files = Files()
    async with Handrail(files.tools, policy=WITHOUT_ASKING, hooks=[Broken()]) as hr:
        out = await hr.call("files.write", {"path": "a.py", "text": "x = 2"}, session="s")
        assert (out.status, out.result.data) == ("completed", "written")
        assert "recording failed" in out.result.metadata["warning"]
        assert [event.kind for event in hr.log.read("local", session="s")] == ["started", "completed"]
        assert not open_runs(hr.log.read("local"))


@pytest.mark.req("EX-13", "EX-15")
async def test_hooks_that_fail_take_no_warning_away() -> None:
    class Broken(Hook):
        async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
            raise RuntimeError("the disk is full")

    @tool("desk.note", level="read")
    async def note() -> Result:
        """Leave a note."""
        return Result(data="noted", metadata={"warning": "The desk is nearly full."})

    async with Handrail([note], hooks=[Broken(), Broken()]) as hr:
        out = await hr.call("desk.note")
    failed = "recording failed: the disk is full"
    assert out.result.metadata["warning"] == f"The desk is nearly full. {failed} {failed}"


@pytest.mark.req("EX-11")
async def test_a_hook_sees_the_context_of_the_call_and_may_tell_progress() -> None:
    class Talkative(Hook):
        async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
            ctx.metadata(title="Looking into the cache")
            return None

    async with Handrail(Files().tools, hooks=[Talkative()]) as hr:
        events = [event async for event in hr.stream("files.read", {"path": "a.py"})]
    assert sorted(event.kind for event in events) == ["completed", "progress", "started"]
    assert len({event.payload()["run_id"] for event in events}) == 1


class Watcher(Hook):
    """Sees the tools of one name, and notes what it was asked and what it saw."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[str] = []
        self.seen: list[str] = []

    def watches(self, tool: Tool) -> bool:
        self.asked.append(tool.id)
        return tool.id.endswith(self.name)

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        self.seen.append(f"before {tool.id}")
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        self.seen.append(f"after {tool.id} {values.path}")
        return result


class Look:
    """A safety check that denies the calls of the one tool it watches."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen: list[str] = []

    def watches(self, tool: Tool) -> bool:
        return tool.id.endswith(self.name)

    def __call__(self, tool: Tool, args: Any, principal: Principal, /) -> Step | None:
        self.seen.append(f"{tool.id} {args.path}")
        return Step("sandbox", "deny", "not today")


class HookedToolset(StaticToolset):
    """A toolset that brings a hook and a safety check."""

    def __init__(self, tools: Sequence[Tool], hook: Watcher, look: Look) -> None:
        super().__init__(tools)
        self.hooks = [hook]
        self.safety = [look]


@pytest.mark.req("EX-13")
async def test_a_hook_that_says_what_it_watches_is_asked_once_for_each_tool_and_sees_those_alone() -> None:
    watcher = Watcher("read")
    async with Handrail(Files().tools, policy=WITHOUT_ASKING, hooks=[watcher]) as hr:
        for _ in range(3):
            await hr.call("files.read", {"path": "a.py"})
            await hr.call("files.write", {"path": "a.py", "text": "x = 2"})
    assert sorted(watcher.asked) == ["files.read", "files.write"]
    assert watcher.seen == ["before files.read", "after files.read a.py"] * 3


@pytest.mark.req("EX-13")
async def test_a_tool_that_nobody_watches_keeps_the_short_way_and_its_remembered_decision() -> None:
    @tool("sums.add", level="read")
    async def add(path: int) -> int:
        """Add one."""
        return path + 1

    files = Files()
    hook, look = Watcher("read"), Look("write")
    async with Handrail([*files.tools, add], policy=WITHOUT_ASKING, hooks=[hook], safety=[look]) as hr:
        principal = Principal.local()
        assert (await hr.call("sums.add", {"path": 1}, principal=principal)).result.data == 2
        denied = await hr.call("files.write", {"path": "a.py", "text": ""}, principal=principal)
        assert (denied.status, denied.decision and denied.decision.layer) == ("refused", "sandbox")
        runtime = hr._runtime
        assert runtime.watchers is not None
        assert [runtime.watchers.of(one).plain for one in (*files.tools, add)] == [False, False, True]
        assert runtime.guard.remembered(add, principal, "agent") is not None
        assert runtime.guard.remembered(files.tools[1], principal, "agent") is None
        described = await hr.describe("sums.add", principal)
        assert (described.varies, (await hr.describe("files.write", principal)).varies) == (False, True)
    assert (hook.seen, look.seen) == ([], ["files.write a.py"])


@pytest.mark.req("EX-13")
@pytest.mark.parametrize("wrapping", ["bare", "filtered", "prefixed", "combined"])
async def test_a_toolset_brings_its_hooks_and_safety_checks_also_when_it_is_wrapped(wrapping: str) -> None:
    own, theirs, look = Watcher("read"), Watcher("read"), Look("write")
    desk = HookedToolset(Files().tools, theirs, look)
    given = {
        "bare": desk,
        "filtered": FilteredToolset(desk, lambda tool, principal: True),
        "prefixed": PrefixedToolset(desk, "my"),
        "combined": CombinedToolset((StaticToolset(()), desk)),
    }[wrapping]
    name = "my.files" if wrapping == "prefixed" else "files"
    assert isinstance(given, Equipped)
    async with Handrail([given], policy=WITHOUT_ASKING, hooks=[own]) as hr:
        await hr.call(f"{name}.read", {"path": "a.py"})
        out = await hr.call(f"{name}.write", {"path": "a.py", "text": ""})
        assert hr._runtime.watchers is not None
        [read, _] = await hr.tools()
        assert hr._runtime.watchers.of(read).hooks == (own, theirs), "the Handrail's own come first"
    assert theirs.seen == own.seen == [f"before {name}.read", f"after {name}.read a.py"]
    assert (out.status, look.seen) == ("refused", [f"{name}.write a.py"])


@pytest.mark.req("EX-13")
async def test_a_hook_that_cannot_say_whether_it_watches_refuses_the_call() -> None:
    class Broken(Hook):
        def watches(self, tool: Tool) -> bool:
            raise OSError("the list is gone")

    files = Files()
    async with Handrail(files.tools, policy=WITHOUT_ASKING, hooks=[Broken()]) as hr:
        out = await hr.call("files.read", {"path": "a.py"})
    assert (out.status, out.code, files.reads) == ("refused", "INTERNAL_ERROR", 0)


@pytest.mark.req("EX-13")
async def test_a_toolset_may_bring_one_of_the_two_alone() -> None:
    hook, look = Watcher("read"), Look("write")
    watched, looked = StaticToolset(Files().tools[:1]), StaticToolset(Files().tools[1:])
    watched.hooks = [hook]  # type: ignore[attr-defined]  # as an author may well do
    looked.safety = [look]  # type: ignore[attr-defined]
    async with Handrail([watched, looked], policy=WITHOUT_ASKING) as hr:
        await hr.call("files.read", {"path": "a.py"})
        await hr.call("files.write", {"path": "a.py", "text": ""})
    assert (hook.seen[0], look.seen) == ("before files.read", ["files.write a.py"])
