"""explain: what the guard would say to a call, without running it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from handrail.core.define.call import BoundCall
from handrail.core.define.decision import Decision, Step, strictest
from handrail.core.run.call_state import Resume
from handrail.core.run.find_tool import admit_call
from handrail.core.run.pipeline import run
from handrail.core.run.refusals import Refusal
from handrail.core.run.runtime import Runtime
from handrail.core.tell.events import Event


async def explain(call: BoundCall, args: Mapping[str, Any] | str | None, runtime: Runtime) -> Decision:
    """The decision, with every rule that would be consulted; a refusal before it as a decision too."""
    ready = await admit_call(call, args, runtime)
    if isinstance(ready, Refusal):
        step = Step(ready.layer, "deny", ready.result.error or "", ready.rule, ready.result.code)
        return ready.decision or strictest((step,))
    tool, admitted = ready
    return runtime.guard.decide(tool, admitted.values, call.principal, call.source)


async def stream(
    call: BoundCall, args: Mapping[str, Any] | str | None, runtime: Runtime
) -> AsyncGenerator[Event, None]:
    """Run a call and yield its events. Leaving the loop cancels the call."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()

    def hear(event: object) -> None:
        if isinstance(event, Event) and event.call is call:
            events.put_nowait(event)

    stop = runtime.teller.listen(hear)
    task = asyncio.create_task(run(call, args, runtime, Resume(is_followed=True)))
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
