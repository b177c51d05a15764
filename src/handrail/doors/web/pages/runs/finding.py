"""Finding: a run or a call by its id, as much of it as the reader may see. The rules are those of REST.

Whoever reads events sees all of it, and whoever made the call, while its tool is shown to them. Whoever reads
runs, or stands behind one, sees of another's run what the list shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.run.jobs import JobEntry
from handrail.core.run.perform import DUPLICATE_OF
from handrail.core.tell.events import Event, NeedsApproval, ToolStarted
from handrail.core.tell.log import FollowedLog
from handrail.core.tell.outcome import outcome_of
from handrail.core.tell.runs import Run, runs_of
from handrail.doors.http.record import Record
from handrail.doors.http.refusing import Refused
from handrail.doors.http.routing import source_of
from handrail.doors.http.whose import is_same, known_call, plausible
from handrail.doors.web.routing import NotThere, Reader


@dataclass(frozen=True)
class Seen:
    """A call as a reader may see it."""

    call_id: str
    run: Run | None
    """None for a call whose body never began."""
    events: tuple[Event, ...]
    """What is told of it, without its output; nothing where only the run may be seen."""
    job: JobEntry | None
    whole: bool
    """Whether what it was given and what it yielded may be seen."""

    @cached_property
    def outcome(self) -> Outcome | None:
        return outcome_of(self.events)

    @property
    def status(self) -> str:
        if self.outcome is not None:
            return self.outcome.status
        if self.events:
            return "running"
        if self.run is not None:
            return self.run.status
        return _OF_JOBS.get(self.job.state, "waiting") if self.job is not None else "waiting"

    @property
    def over(self) -> bool:
        return self.status not in ("running", "pending", "waiting")

    @property
    def tool(self) -> str:
        if self.run is not None:
            return self.run.tool
        return self.events[0].tool if self.events else self.job.tool if self.job is not None else ""

    @property
    def session(self) -> str | None:
        return self.events[0].session if self.events else self.run.session if self.run is not None else None

    @property
    def began_at(self) -> float:
        if self.events:
            return self.events[0].at
        return self.run.began_at if self.run is not None else self.job.created_at if self.job else 0.0

    @property
    def input(self) -> Any:
        """The arguments of the newest word on them, as the record has them."""
        for event in reversed(self.events):
            if (found := getattr(event, "input", None)) is not None:
                return found
        return None

    @property
    def maker(self) -> Principal | None:
        return self.events[0].call.principal if self.events else None

    @property
    def questions(self) -> list[NeedsApproval]:
        return [one for one in self.events if isinstance(one, NeedsApproval)]

    @property
    def earlier(self) -> str | None:
        """The call whose answer was given to this one."""
        reason = self.job.reason if self.job is not None else None
        return reason.removeprefix(DUPLICATE_OF) if reason and reason.startswith(DUPLICATE_OF) else None


_OF_JOBS = {"running": "running", "cancelled": "cancelled", "done": "duplicate", "dead": "failed"}


async def seen(reader: Reader, id: str) -> Seen:
    """The call of a run's or a call's id; for whoever may not see it there is none."""
    if not plausible(id):
        raise NotThere
    who, platform = reader.who, reader.platform
    log = reader.hr.log
    run = await log.run(who.tenant, id) if isinstance(log, FollowedLog) else None
    call_id = id if run is None else run.call_id
    whole = await _is_open(reader, call_id)
    events = await Record(platform).telling(who.tenant, call_id)
    if run is None:
        run = next(reversed(runs_of(events)), None)
    if not whole and run is not None and who.holds("runs.read"):
        whole = any(
            isinstance(one, ToolStarted) and one.run_id == run.id and _is_mine(who, one) for one in events
        )
    if not whole and (run is None or not may_list(who, run)):
        raise NotThere
    job = await reader.hr.jobs.get(call_id, who) if whole and not events else None
    return Seen(call_id, run, tuple(events) if whole else (), job, whole)


def may_list(who: Principal, run: Run) -> bool:
    """Whether a list of runs shows this one."""
    return who.holds("runs.read") or (run.user is not None and run.user == who.user)


async def _is_open(reader: Reader, call_id: str) -> bool:
    try:
        await known_call(reader.platform, call_id, reader.who, "events.read", source_of(reader.request))
    except Refused:
        return False
    return True


def _is_mine(who: Principal, event: Event) -> bool:
    maker = event.call.principal
    return maker is not None and is_same(who, maker)


async def shown_tool(reader: Reader, name: str) -> Tool | None:
    """The tool, if it is there and shown to the reader."""
    if not name:
        return None
    try:
        return (await reader.hr.describe(name, reader.who, source="web")).tool
    except ToolError:
        return None
