"""A call's events as they happen: while it runs, and once more from any number on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.core.ids import new_id
from handrail.core.tell.events import Event, NeedsApproval, Progress, Retrying, ToolStarted
from handrail.doors.http.calling import Asked
from handrail.doors.http.ending import told
from handrail.doors.http.record import ENDS, Record, Wanted
from handrail.doors.http.sse import Line, durable, message, transient
from handrail.platform import Platform

_PAUSE = 0.2
"""Seconds between two looks for the first event of a call that waits for a worker."""


class Running:
    """Calls that go on whether or not somebody listens. They are held here until they are over."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Outcome]] = set()

    def start(self, platform: Platform, asked: Asked, call_id: str) -> asyncio.Task[Outcome]:
        task = asyncio.create_task(platform.hr.call(asked.tool, asked.arguments, **asked.options, id=call_id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def over(self, seconds: float) -> None:
        """Let them finish for so long; what takes longer is cancelled, and the record says so."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


async def begin(platform: Platform, running: Running, asked: Asked) -> tuple[str, Line] | Outcome:
    """Run a call; its id, and what is told of it until it is over. One that is refused has no tale."""
    call_id = new_id("call")
    tenant, session = asked.who.tenant, asked.session or f"call:{call_id}"
    after = 0 if asked.session is None else await Record(platform).last_seq(tenant, session)
    line = Line(platform.closing)
    shown = _Shown(platform, call_id, line)
    task = running.start(platform, asked, call_id)
    await shown.begun_or(task)
    if task.done() and task.result().status == "refused":
        shown.stop()
        return task.result()
    line.fed_by(_told(platform, task, tenant, Wanted(session, call_id=call_id), after, shown))
    return call_id, line


class _Shown:
    """Passes on what is shown and not stored; what comes before the first stored event waits for it."""

    def __init__(self, platform: Platform, call_id: str, line: Line) -> None:
        self._line = line
        self._held: list[bytes] | None = []
        self._begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def hear(event: Event) -> None:
            if event.call_id != call_id:
                return
            if isinstance(event, Progress | Retrying):
                loop.call_soon_threadsafe(self._pass_on, transient(event))
            elif isinstance(event, ToolStarted | NeedsApproval):
                loop.call_soon_threadsafe(self._begun.set)

        self.stop = platform.hr.subscribe(hear)

    async def begun_or(self, task: asyncio.Task[Outcome]) -> None:
        """Wait until the guard has let the call pass, or has ended it."""
        begun = asyncio.ensure_future(self._begun.wait())
        try:
            await asyncio.wait({begun, task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()

    def _pass_on(self, piece: bytes) -> None:
        if self._held is None:
            self._line.put(piece)
        else:
            self._held.append(piece)

    def begin(self) -> None:
        held, self._held = self._held or [], None
        for piece in held:
            self._line.put(piece)


async def _told(
    platform: Platform,
    task: asyncio.Task[Outcome],
    tenant: str,
    which: Wanted,
    after: int,
    shown: _Shown,
) -> AsyncGenerator[bytes, None]:
    """The events of a call that runs here, until it ends, and then how it ended."""
    record, asked_for = Record(platform), False
    try:
        async with aclosing(
            _until(record.follow(tenant, which, session=which.session, after=after), task)
        ) as events:
            async for event in events:
                yield durable(event, event.seq)
                shown.begin()
                after, asked_for = event.seq, asked_for or event.kind == "needs_approval"
        for event in await _rest(record, tenant, which, after):
            yield durable(event, event.seq)
            after, asked_for = event.seq, asked_for or event.kind == "needs_approval"
    finally:
        shown.stop()
    outcome = task.result()
    if outcome.status == "pending" and asked_for:
        async for piece in resumed(platform, tenant, outcome.call_id, which.session, after):
            yield piece
    else:
        yield message("outcome", told(outcome))


async def _until(
    events: AsyncGenerator[Event, None], task: asyncio.Task[Outcome]
) -> AsyncGenerator[Event, None]:
    """The events until the task is over."""
    async with aclosing(events):
        while True:
            coming = asyncio.ensure_future(anext(events))
            try:
                await asyncio.wait({coming, task}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    return
                yield coming.result()
            finally:
                if not coming.done():
                    coming.cancel()
                    await asyncio.wait({coming})


async def resumed(
    platform: Platform, tenant: str, call_id: str, session: str | None, after: int
) -> AsyncGenerator[bytes, None]:
    """The events of a call after a number, until it is over, and then how it ended."""
    record = Record(platform)
    if session is None:
        session = await _begun(platform, record, tenant, call_id)
    if session is not None:
        which = Wanted(session, call_id=call_id)
        before = await record.outcome(tenant, call_id)
        if before is None or before.status == "pending":
            async with aclosing(record.follow(tenant, which, session=session, after=after)) as events:
                async for event in events:
                    yield durable(event, event.seq)
                    if event.kind in ENDS:
                        break
        else:
            for event in await _rest(record, tenant, which, after):
                yield durable(event, event.seq)
    outcome = await record.outcome(tenant, call_id) or await waited(platform, tenant, call_id, 0.0)
    if outcome is not None:
        yield message("outcome", told(outcome))


async def _rest(record: Record, tenant: str, which: Wanted, after: int) -> list[Event]:
    """All that is told of a call after a number; it is over, so there is an end."""
    found: list[Event] = []
    while page := await record.page(tenant, which, seq=after):
        found += page
        after = page[-1].seq
    return found


async def _begun(platform: Platform, record: Record, tenant: str, call_id: str) -> str | None:
    """The session of a call that a worker is to begin; None when it is over without a word in the log."""
    while (first := await record.first(tenant, call_id)) is None:
        if await waited(platform, tenant, call_id, _PAUSE) is not None:
            return None
    return first.session


async def waited(platform: Platform, tenant: str, call_id: str, seconds: float) -> Outcome | None:
    """The end of a call that a worker runs, if it comes in time."""
    try:
        return await platform.hr.wait(call_id, max(seconds, 0.001), principal=Principal(tenant))
    except (TimeoutError, UsageError):
        return None
