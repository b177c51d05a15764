"""Whoever stops following has stopped, even in the moment in which something comes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from handrail.core.tell.events import Event
from handrail.core.tell.follow import LogNotifier, follow


async def nothing(after: int) -> Sequence[Event]:
    return ()


@pytest.mark.parametrize("turns", range(8))
async def test_a_bell_that_rings_while_one_is_cancelled_does_not_hold_them(turns: int) -> None:
    notifier = LogNotifier()

    async def listen() -> None:
        async for _ in follow(nothing, notifier, "acme", None, 0, 60):
            pass

    following = asyncio.create_task(listen())
    for _ in range(5):
        await asyncio.sleep(0)
    notifier.notify("acme")
    for _ in range(turns):
        await asyncio.sleep(0)
    following.cancel()
    done, _ = await asyncio.wait([following], timeout=1)
    following.cancel()
    assert done and not notifier, "nobody listens any more"
