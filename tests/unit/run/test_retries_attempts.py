"""Attempts on their way: pauses that end, arguments that stay whole, threads, processes, secrets, helpers."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator

from handrail import Context, Handrail, Principal, Result, Retry, ToolError, define, tool
from handrail.ext.ports import MemoryClaims
from handrail.ext.tools import with_retry
from tests.unit.run import process_tools
from tests.unit.run.flaky_tool import RETRY_WITHOUT_PAUSE, WITHOUT_ASKING, FlakyTool


@pytest.mark.req("RT-05")
@pytest.mark.parametrize("how", ["cancel", "timeout", "task"])
async def test_a_pause_ends_at_once_when_the_call_does(how: str) -> None:
    flaky = FlakyTool(*[ValueError("one")] * 9)
    patient = Retry(attempts=9, first=3600, longest=3600)
    claims, paused = MemoryClaims(), asyncio.Event()
    sky = flaky.tool(retry=patient, timeout=0.01 if how == "timeout" else 600, writes=lambda args: ["sky"])
    async with Handrail([sky], claims=claims) as hr:
        hr.subscribe(lambda event: paused.set() if event.kind == "retrying" else None)
        task = asyncio.create_task(hr.call("sky.read", id="c"))
        await paused.wait()
        if how == "cancel":
            assert await hr.cancel("c", "enough")
        if how == "task":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            [ended] = hr.log.read("local", status="cancelled")
            metadata = ended.payload()["metadata"]
        else:
            out = await task
            assert out.code == {"cancel": "CANCELLED", "timeout": "TIMEOUT"}[how]
            metadata = out.result.metadata
        assert metadata == {"attempts": 1, "earlier_errors": ["one"]}
        assert len(flaky.seen) == 1 and len(claims) == 0 and not hr._runtime.running


@pytest.mark.req("RT-05")
async def test_a_body_that_answers_a_cancellation_with_an_error_is_not_tried_again() -> None:
    runs: list[int] = []
    began = asyncio.Event()

    @tool("sky.watch", level="read", retry=RETRY_WITHOUT_PAUSE)
    async def watch() -> None:
        """Watch the sky."""
        runs.append(1)
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("not now") from None

    async with Handrail([watch]) as hr:
        task = asyncio.create_task(hr.call("sky.watch", id="c"))
        await began.wait()
        assert await hr.cancel("c")
        assert ((await task).code, runs) == ("CANCELLED", [1])
        began.clear()
        other = asyncio.create_task(hr.call("sky.watch"))
        await began.wait()
        other.cancel()
        await asyncio.wait({other})
        assert runs == [1, 1]


async def test_a_body_that_spoils_its_arguments_gets_them_whole_again() -> None:
    seen: list[list[str]] = []

    @tool("list.eat", level="read", retry=RETRY_WITHOUT_PAUSE)
    async def eat(items: list[str]) -> int:
        """Eat the items."""
        seen.append(list(items))
        items.clear()
        if len(seen) < 3:
            raise OSError
        return 0

    async with Handrail([eat]) as hr:
        assert (await hr.call("list.eat", {"items": ["a", "b"]})).ok
    assert seen == [["a", "b"]] * 3


async def test_arguments_that_cannot_be_copied_are_given_again_as_they_are() -> None:
    class Handle:
        def __deepcopy__(self, memo: object) -> Handle:
            raise TypeError("there is only one")

    def open_handle(name: str) -> Handle:
        return Handle()

    seen: list[Handle] = []

    @tool("file.read", level="read", retry=RETRY_WITHOUT_PAUSE)
    async def read(handle: Annotated[Any, BeforeValidator(open_handle)]) -> str:
        """Read a file."""
        seen.append(handle)
        if len(seen) < 2:
            raise OSError
        return "read"

    async with Handrail([read]) as hr:
        assert (await hr.call("file.read", {"handle": "a"})).ok
    assert len(seen) == 2 and seen[0] is seen[1] and isinstance(seen[0], Handle)


async def test_a_body_in_a_thread_is_tried_again() -> None:
    runs: list[int] = []

    @tool("sum.up", level="read", retry=RETRY_WITHOUT_PAUSE)
    def sum_up(a: int) -> int:
        """Sum up."""
        runs.append(a)
        if len(runs) < 3:
            raise OSError
        return a

    async with Handrail([sum_up]) as hr:
        assert (await hr.call("sum.up", {"a": 4})).result.metadata == {"attempts": 3}
    assert runs == [4, 4, 4]


@pytest.mark.parametrize(
    ("how", "attempts"),
    [
        ("ConnectionResetError", 2),
        ("ValueError", None),
        ("BUSY", 2),
        ("BROKEN", None),
        ("later", 2),
        ("die", 2),
    ],
)
async def test_what_a_process_reports_is_known_by_its_class_and_code(
    how: str, attempts: int | None, tmp_path: Any
) -> None:
    async with Handrail([process_tools.fail_once]) as hr:
        out = await hr.call("calc.fail_once", {"how": how, "mark": str(tmp_path / "mark")})
    assert (out.ok, out.result.metadata.get("attempts")) == (attempts is not None, attempts)


@pytest.mark.req("RT-05")
async def test_a_process_that_died_over_an_effect_is_not_tried_again(tmp_path: Any) -> None:
    async with Handrail([process_tools.write_once], policy=WITHOUT_ASKING, retry=RETRY_WITHOUT_PAUSE) as hr:
        out = await hr.call("calc.write_once", {"mark": str(tmp_path / "mark")})
        assert out.status == "needs_review"
        assert await hr.dead_letters.list(Principal.local()) == []


@pytest.mark.req("RT-04")
async def test_secrets_of_any_attempt_are_masked_in_all_that_is_told_of_them() -> None:
    heard: list[Any] = []
    runs: list[int] = []

    @tool("bank.read", level="read", retry=RETRY_WITHOUT_PAUSE)
    async def read(*, ctx: Context) -> str:
        """Read."""
        runs.append(1)
        said = "pass-1 and pass-2" if len(runs) == 1 else ""
        token = ctx.secret(f"T{len(runs)}")
        raise OSError(f"{said} {token} refused")

    secrets = {"T1": "pass-1", "T2": "pass-2", "T3": "pass-3"}
    async with Handrail([read], secrets=secrets) as hr:
        hr.subscribe(lambda event: heard.append(event.to_dict()))
        out = await hr.call("bank.read")
        [letter] = await hr.dead_letters.list(Principal.local())
    assert out.result.metadata["earlier_errors"] == ["••• and ••• ••• refused", " ••• refused"]
    assert letter.earlier_errors == ("••• and ••• ••• refused", " ••• refused")
    assert "pass-1" not in repr(heard) and "pass-3" not in repr(heard)


async def test_a_failure_says_when_to_come_back() -> None:
    flaky = FlakyTool(ToolError("Busy.", code="BUSY", retry_after=60))
    async with Handrail([flaky.tool()]) as hr:
        out = await hr.call("sky.read")
    assert (out.code, out.result.metadata, len(flaky.seen)) == ("BUSY", {"retry_after": 60}, 1)


@pytest.mark.req("RT-01")
async def test_authors_retry_parts_of_their_bodies_in_the_same_way() -> None:
    flaky: list[Any] = [OSError("one"), Result.fail("two", code="BUSY")]

    async def fetch() -> Any:
        if flaky:
            failure = flaky.pop(0)
            if isinstance(failure, Exception):
                raise failure
            return failure
        return "fetched"

    assert await with_retry(fetch, Retry(first=0, on=(OSError, "BUSY"))) == "fetched"
    flaky += [ValueError("one")]
    with pytest.raises(ValueError, match="one"):
        await with_retry(fetch, Retry(first=0, on=OSError))
    flaky += [OSError("one"), OSError("two")]
    with pytest.raises(OSError, match="two"):
        await with_retry(fetch, Retry(attempts=2, first=0))
    assert await with_retry(lambda: 7, 1) == 7


async def test_a_cancelled_pause_of_an_author_ends() -> None:
    runs: list[int] = []
    began = asyncio.Event()

    def fail() -> None:
        runs.append(1)
        began.set()
        raise OSError

    task = asyncio.create_task(with_retry(fail, Retry(first=3600, longest=3600)))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert runs == [1]


@pytest.mark.req("RT-05")
async def test_a_body_that_makes_its_write_look_like_a_read_is_not_tried_again() -> None:
    ran: list[str] = []

    async def change(args: dict[str, Any]) -> None:
        ran.append(args["action"])
        args["action"] = "look"
        raise ConnectionError("gone")

    properties = {"action": {"type": "string"}, "tags": {"type": "array"}}
    shelf = define(
        "shelf.change",
        {"description": "Change it.", "parameters": {"properties": properties}, "execute": change},
        level=lambda args: "read" if args["action"] == "look" else "write",
        retry=RETRY_WITHOUT_PAUSE,
    )
    async with Handrail([shelf], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("shelf.change", {"action": "put", "tags": []})
    assert (out.status, ran) == ("failed", ["put"])
