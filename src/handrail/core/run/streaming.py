"""stream: the events of one call, as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from handrail.core.define.call import Call
from handrail.core.run.house import House
from handrail.core.run.pipeline import run
from handrail.core.tell.events import Event


async def stream(
    call: Call, args: Mapping[str, Any] | str | None, house: House
) -> AsyncGenerator[Event, None]:
    """Run a call and yield its events. Leaving the loop cancels the call."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    def hear(event: object) -> None:
        if isinstance(event, Event) and event.call is call:
            events.put_nowait(event)

    stop = house.teller.listen(hear)
    task = asyncio.create_task(run(call, args, house))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
        await task
    finally:
        stop()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
