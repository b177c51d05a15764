"""A body that failed is tried again: the same call, the same run, the same key."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

import pytest
from pydantic import BeforeValidator

from handrail import Context, Handrail, Policy, Principal, Result, Retry, Tool, define, tool
from handrail.ext import Event, MemoryClaims, Retrying, ToolError, with_retry
from tests.unit.run import process_tools

AT_ONCE = Retry(attempts=3, first=0)
WITHOUT_ASKING = Policy(approval_mode="policy")
ANA = Principal(tenant="acme", user="ana")


class Flaky:
    """A body that fails a number of times."""

    def __init__(self, *failures: Any) -> None:
        self.failures = list(failures)
        self.seen: list[tuple[str, str, str]] = []

    def tool(self, **options: Any) -> Tool:
        @tool("sky.read", **{"level": "read", "retry": AT_ONCE, **options})
        async def read(*, ctx: Context) -> Any:
            """Read the sky."""
            self.seen.append((ctx.call_id, ctx.run_id, ctx.idempotency_key))
            if self.failures:
                failure = self.failures.pop(0)
                if isinstance(failure, BaseException):
                    raise failure
                return failure
            return "blue"

        return read


@pytest.mark.req("RT-01")
async def test_a_failure_is_tried_again_until_it_works() -> None:
    flaky = Flaky(ConnectionError("gone"), OSError("still gone"))
    heard: list[Event] = []
    async with Handrail([flaky.tool()]) as hr:
        hr.subscribe(heard.append)
        out = await hr.call("sky.read", principal=ANA)

    assert (out.status, out.result.data, out.result.metadata) == ("completed", "blue", {"attempts": 3})
    assert [event.kind for event in heard] == ["started", "retrying", "retrying", "completed"]
    told = [event.payload() for event in heard if isinstance(event, Retrying)]
    assert told == [
        {"run_id": out.run_id, "attempt": 1, "error": "gone", "pause": 0},
        {"run_id": out.run_id, "attempt": 2, "error": "still gone", "pause": 0},
    ]
    kept = [event.type for event in hr.log.read("acme", call_id=out.call_id)]
    assert kept == ["tool.started", "tool.completed"], "an attempt is shown, not stored"


@pytest.mark.req("BY-12", "RT-01")
@pytest.mark.parametrize("key", [None, "order-17"])
async def test_every_attempt_has_the_same_call_run_and_key(key: str | None) -> None:
    flaky = Flaky(ValueError(), ValueError())
    async with Handrail([flaky.tool(level="write", idempotent=True)], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("sky.read", idempotency_key=key)
        again = await hr.call("sky.read", idempotency_key=key) if key else None

    assert flaky.seen == [(out.call_id, out.run_id, key or out.call_id)] * 3
    assert again is None or (again.status, len(flaky.seen)) == ("duplicate", 3)


@pytest.mark.req("RT-04")
async def test_a_final_failure_keeps_the_errors_of_all_attempts() -> None:
    flaky = Flaky(ValueError("one"), ValueError("two"), ValueError("three"))
    async with Handrail([flaky.tool()]) as hr:
        out = await hr.call("sky.read", principal=ANA)
        [failed] = hr.log.read("acme", status="failed")

    assert (out.status, out.result.error, len(flaky.seen)) == ("failed", "three", 3)
    assert out.result.metadata == {"attempts": 3, "earlier_errors": ["one", "two"]}
    assert failed.payload()["result"]["metadata"] == out.result.metadata


@pytest.mark.parametrize("value", [None, 7, True, "text", {"a": 1}, ["b"], Result(data=1, summary="one")])
async def test_whatever_a_later_attempt_returns_is_the_result(value: Any) -> None:
    @tool("plain.read", level="read")
    async def plain() -> Any:
        """Return it."""
        return value

    async with Handrail([Flaky(ValueError(), value).tool(), plain]) as hr:
        late, first = await hr.call("sky.read"), await hr.call("plain.read")
    assert late.result == first.result.with_metadata(attempts=2)


async def test_a_plain_output_that_came_late_is_checked_and_told_as_such() -> None:
    tries: list[int] = []

    @tool("count.up", level="read", retry=AT_ONCE)
    async def count() -> int:
        """Count."""
        tries.append(1)
        if len(tries) < 2:
            raise OSError
        return len(tries)

    async with Handrail([count]) as hr:
        out = await hr.call("count.up", session="s")
        *_, completed = hr.log.read("local", session="s")
    assert (out.result.data, out.result.metadata) == (2, {"attempts": 2})
    assert completed.payload()["result"] == {"success": True, "data": 2, "metadata": {"attempts": 2}}


@pytest.mark.req("RT-05")
@pytest.mark.parametrize(
    ("on", "failure", "runs"),
    [
        ((Exception,), ValueError("x"), 2),
        ((OSError,), ValueError("x"), 1),
        ((Exception,), ToolError("x"), 1),
        ((Exception,), ToolError("x", retry_after=0), 2),
        (("BUSY",), ToolError("x", code="BUSY"), 2),
        (("BUSY",), Result.fail("x", code="BUSY"), 2),
        (("BUSY",), {"error": "x", "code": "BUSY"}, 2),
        (("BUSY",), Result.fail("x", code="BROKEN"), 1),
        ((Exception,), {"error": "x"}, 1),
        ((Exception,), asyncio.CancelledError(), 1),
        ((Exception,), SystemExit(1), 1),
    ],
)
async def test_only_what_is_named_is_tried_again(on: Any, failure: Any, runs: int) -> None:
    flaky = Flaky(failure)
    async with Handrail([flaky.tool(retry=Retry(first=0, on=on))]) as hr:
        out = await hr.call("sky.read")
    assert (len(flaky.seen), out.ok) == (runs, runs == 2)


@pytest.mark.req("RT-05")
async def test_a_broken_promise_is_not_tried_again() -> None:
    runs: list[int] = []

    @tool("count.up", level="read", retry=Retry(first=0, on=(Exception, "TOOL_FAILED")))
    async def count() -> int:
        """Count."""
        runs.append(1)
        return "one"  # type: ignore[return-value]

    async with Handrail([count]) as hr:
        out = await hr.call("count.up")
    assert (out.code, runs, out.result.metadata) == ("INVALID_OUTPUT", [1], {})


@pytest.mark.req("RT-05")
@pytest.mark.parametrize(
    ("options", "args", "runs"),
    [
        ({"level": "read"}, {}, 3),
        ({"level": "draft"}, {}, 3),
        ({"level": "write"}, {}, 1),
        ({"level": "destructive"}, {}, 1),
        ({"level": "write", "idempotent": True}, {}, 3),
        ({"level": "write", "level_fn": lambda args: args.how}, {"how": "read"}, 3),
        ({"level": "write", "level_fn": lambda args: args.how}, {"how": "write"}, 1),
        ({"level": "write", "level_fn": lambda args: args.how, "idempotent": True}, {"how": "write"}, 3),
        ({"level": "read", "retry": 1}, {}, 1),
    ],
)
async def test_under_the_engines_retry_effects_happen_once(options: Any, args: Any, runs: int) -> None:
    count: list[str] = []

    @tool("door.open", **options)
    async def open_door(how: Literal["read", "write"] = "read") -> None:
        """Open a door."""
        count.append(how)
        raise OSError("stuck")

    person = Principal(tenant="acme", user="ana")
    async with Handrail([open_door], policy=WITHOUT_ASKING, retry=AT_ONCE, approver=_yes) as hr:
        out = await hr.call("door.open", args, principal=person)
    assert (out.status, len(count)) == ("failed", runs)


async def _yes(request: object) -> bool:
    return True


async def test_the_tools_own_retry_comes_before_the_engines() -> None:
    flaky = Flaky(*[ValueError()] * 4)
    async with Handrail([flaky.tool(retry=Retry(attempts=5, first=0))], retry=2) as hr:
        assert (await hr.call("sky.read")).result.metadata == {"attempts": 5}


@pytest.mark.req("RT-05")
@pytest.mark.parametrize("how", ["cancel", "timeout", "task"])
async def test_a_pause_ends_at_once_when_the_call_does(how: str) -> None:
    flaky = Flaky(*[ValueError("one")] * 9)
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
        assert len(flaky.seen) == 1 and len(claims) == 0 and not hr._house.running


@pytest.mark.req("RT-05")
async def test_a_body_that_answers_a_cancellation_with_an_error_is_not_tried_again() -> None:
    runs: list[int] = []
    began = asyncio.Event()

    @tool("sky.watch", level="read", retry=AT_ONCE)
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

    @tool("list.eat", level="read", retry=AT_ONCE)
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

    @tool("file.read", level="read", retry=AT_ONCE)
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

    @tool("sum.up", level="read", retry=AT_ONCE)
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
    async with Handrail([process_tools.write_once], policy=WITHOUT_ASKING, retry=AT_ONCE) as hr:
        out = await hr.call("calc.write_once", {"mark": str(tmp_path / "mark")})
        assert out.status == "needs_review"
        assert await hr.dead_letters.list(Principal.local()) == []


@pytest.mark.req("RT-04")
async def test_secrets_of_any_attempt_are_masked_in_all_that_is_told_of_them() -> None:
    heard: list[Any] = []
    runs: list[int] = []

    @tool("bank.read", level="read", retry=AT_ONCE)
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
    flaky = Flaky(ToolError("Busy.", code="BUSY", retry_after=60))
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
        retry=AT_ONCE,
    )
    async with Handrail([shelf], policy=WITHOUT_ASKING) as hr:
        out = await hr.call("shelf.change", {"action": "put", "tags": []})
    assert (out.status, ran) == ("failed", ["put"])
