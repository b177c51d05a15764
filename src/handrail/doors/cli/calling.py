"""Calling: one call with its progress shown while it runs, and Ctrl-C that really stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.ids import new_id
from handrail.core.tell.events import Event, OutputAppended, Progress
from handrail.doors.cli.hearing import on_stop
from handrail.doors.cli.opening import Opened
from handrail.doors.cli.screen import Side
from handrail.doors.visible import one_line, visible

_WATCHED = 200_000
"""Characters of what a body says that are kept, so that they are not said again."""


async def call(
    opened: Opened,
    name: str,
    args: Mapping[str, Any],
    digest: str,
    live: Side,
    session: str | None = None,
) -> Outcome:
    """Run one call. A first Ctrl-C cancels it, and its body can clean up; a second one leaves at once."""
    hr, acting = opened.hr, opened.acting
    call_id = new_id("call")
    told = _Live(live, call_id)
    stop_listening = hr.subscribe(told.hear)
    calling = asyncio.create_task(
        hr.call(
            name,
            args,
            principal=acting.principal,
            source=acting.source,
            session=session,
            digest=digest,
            id=call_id,
        )
    )
    stopping: list[asyncio.Task[bool]] = []

    def stop(why: str) -> None:
        live.say("Stopping; press Ctrl-C again to leave at once.", "dim")
        stopping.append(asyncio.create_task(hr.cancel(call_id, why)))

    on_stop(asyncio.get_running_loop(), stop)
    try:
        return await calling
    finally:
        stop_listening()
        told.end()


class _Live:
    """What a body says while it runs, on standard error."""

    def __init__(self, side: Side, call_id: str) -> None:
        self._side = side
        self._call_id = call_id
        self._open = False
        """Whether the last piece of output left its line open."""

    def hear(self, event: Event) -> None:
        if event.call_id != self._call_id:
            return
        with suppress(OSError):  # nobody reads it any more; the call goes on
            if isinstance(event, Progress) and isinstance(event.title, str):
                self.end()
                self._side.say(f"… {one_line(event.title)}", "dim")
            elif isinstance(event, OutputAppended) and event.chunk:
                piece = visible(event.chunk)
                self._side.stream.write(piece)
                self._side.flush()
                if len(self._side.streamed) < _WATCHED:
                    self._side.streamed += piece
                self._open = not event.chunk.endswith("\n")

    def end(self) -> None:
        """Close the line that a piece of output left open."""
        if self._open:
            with suppress(OSError):
                self._side.stream.write("\n")
            self._open = False
