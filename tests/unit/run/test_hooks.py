"""Hooks: stages that toolsets add around bodies, such as caches, records and checks of what was written."""

import ast
from typing import Any

import pytest

from handrail import Context, Handrail, Policy, Result, Tool, tool
from handrail.core.tell.log import open_runs

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
        assert not hr._house.running and not len(hr._house.claims)  # type: ignore[arg-type]
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
