"""calls.md: stopping a call."""

import asyncio

from handrail import Context, Handrail, tool

STARTED = asyncio.Event()


@tool("forever.wait", level="read")
async def wait_forever() -> str:
    """Wait for something that never comes, until somebody stops it."""
    STARTED.set()
    await asyncio.Event().wait()
    return "it came"


# region thread
@tool("sums.add", level="read")
def add_slowly(numbers: list[int], *, ctx: Context) -> int:
    """Add numbers, one after the other, until somebody stops it.

    Args:
        numbers: The numbers to add.
    """
    total = 0
    for number in numbers:
        ctx.signal.throw_if_aborted()
        total += number
    return total


# endregion


@tool("sleepy.nap", level="read", timeout=0.05)
async def nap() -> str:
    """Sleep for longer than the time that this tool has."""
    await asyncio.Event().wait()
    return "slept"


async def main() -> None:
    # region cancel
    async with Handrail([wait_forever]) as hr:
        task = asyncio.create_task(hr.call("forever.wait", id="call-1"))
        await STARTED.wait()

        assert await hr.cancel("call-1", "the user closed the window")
        out = await task
        assert (out.status, out.code) == ("cancelled", "CANCELLED")
        assert out.result.error == "Cancelled: the user closed the window."
    # endregion

    # region timeout
    async with Handrail([nap], timeout=30) as hr:  # 30 s for every tool that names no timeout of its own
        out = await hr.call("sleepy.nap")
        assert (out.status, out.code) == ("failed", "TIMEOUT")
        assert out.result.error == "sleepy.nap timed out after 0.05 s."
    # endregion

    async with Handrail([add_slowly]) as hr:
        assert (await hr.call("sums.add", {"numbers": [1, 2, 3]})).result.data == 6

    await the_outer_task_is_cancelled()


async def the_outer_task_is_cancelled() -> None:
    STARTED.clear()
    async with Handrail([wait_forever]) as hr:
        task = asyncio.create_task(hr.call("forever.wait"))
        await STARTED.wait()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            assert [event.kind for event in hr.log.read("local")] == ["started", "cancelled"]
        else:
            raise AssertionError("a cancellation from outside passes through")


if __name__ == "__main__":
    asyncio.run(main())
