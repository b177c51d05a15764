"""RunView: a run or a call by its id, as much of it as the reader may see; and display names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.run.jobs.job import JobEntry
from handrail.core.run.jobs.perform import DUPLICATE_OF
from handrail.core.tell.events import Event, NeedsApproval, ToolStarted
from handrail.core.tell.projections import outcome_of
from handrail.core.tell.runs import Run, runs_of
from handrail.doors.web.router import PageContext, PageNotFound
from handrail.doors.web.timeline.texts import DisplayNames
from handrail.platform.access import find_call, is_plausible_id


async def display_names_for(
    ctx: PageContext, users: Iterable[str | None], deciders: Mapping[str, str] | None = None
) -> DisplayNames:
    """How to speak to this reader of these people."""
    who = ctx.who
    others = {*users, *(deciders or {}).values()} - {None, who.user}
    names = await ctx.user_names(others) if others else {}
    return DisplayNames(who.user if who.agent is None else None, names, deciders or {})


async def user_or_agent(ctx: PageContext, text: str) -> tuple[str | None, str | None]:
    """The user or the agent that somebody means by what they typed: a name, an address, an id, or `me`."""
    words = text.strip()
    name = words.casefold()
    if not words:
        return None, None
    if name in ("me", "you", "mine"):
        return ctx.who.user, None
    if name.startswith("agent "):
        return None, words[6:].strip(' "“”')
    for user in await ctx.platform.members(ctx.who.tenant):
        if name in (user.id.casefold(), user.name.casefold(), user.email.casefold()):
            return user.id, None
    return None, words


@dataclass(frozen=True)
class RunView:
    """A call as a reader may see it."""

    call_id: str
    run: Run | None
    """None for a call whose body never began."""
    events: tuple[Event, ...]
    """What is told of it, without its output; nothing where only the run may be seen."""
    job: JobEntry | None
    is_readable: bool
    """Whether its input and its result may be seen."""

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
        return _STATUS_OF_JOB.get(self.job.state, "waiting") if self.job is not None else "waiting"

    @property
    def is_over(self) -> bool:
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
            if (args := getattr(event, "input", None)) is not None:
                return args
        return None

    @property
    def maker(self) -> Principal | None:
        return self.events[0].call.principal if self.events else None

    @property
    def questions(self) -> list[NeedsApproval]:
        return [event for event in self.events if isinstance(event, NeedsApproval)]

    @property
    def earlier(self) -> str | None:
        """The call whose answer was given to this one."""
        reason = self.job.reason if self.job is not None else None
        return reason.removeprefix(DUPLICATE_OF) if reason and reason.startswith(DUPLICATE_OF) else None


_STATUS_OF_JOB = {"running": "running", "cancelled": "cancelled", "done": "duplicate", "dead": "failed"}


async def find_run(ctx: PageContext) -> RunView:
    """The call of the run's or the call's id in the address."""
    return await find_run_by_id(ctx, ctx.part("id"))


async def find_run_by_id(ctx: PageContext, id: str) -> RunView:
    """The call of a run's or a call's id; for whoever may not see it there is none."""
    if not is_plausible_id(id):
        raise PageNotFound
    who, platform = ctx.who, ctx.platform
    run = await platform.events.run(who.tenant, id)
    call_id = id if run is None else run.call_id
    is_readable = await find_call(platform, call_id, who, "events.read", ctx.source) is not None
    events = await platform.events.call_events(who.tenant, call_id)
    if run is None:
        run = next(reversed(runs_of(events)), None)
    if not is_readable and run is not None and who.holds("runs.read"):
        starts = (event for event in events if isinstance(event, ToolStarted) and event.run_id == run.id)
        is_readable = any(who.is_same_caller(event.call.principal) for event in starts)
    if not is_readable and (run is None or not may_list(who, run)):
        raise PageNotFound
    job = await ctx.hr.jobs.get(call_id, who) if is_readable and not events else None
    return RunView(call_id, run, tuple(events) if is_readable else (), job, is_readable)


def may_list(who: Principal, run: Run) -> bool:
    """Whether a list of runs shows this one."""
    return who.holds("runs.read") or (run.user is not None and run.user == who.user)
