"""Runs: calls whose body began, as lists show them. A view over events, never stored.

A run is `running` until its end is told. A call that waits for a person, or was refused, has not begun and is
no run: the first is an approval, the second an event.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

from handrail.core.errors import UsageError
from handrail.core.tell.events import Event, ToolCancelled, ToolCompleted, ToolFailed, ToolStarted

RunStatus = Literal["running", "completed", "failed", "cancelled", "needs_review"]
UNKNOWN_OUTCOME = "UNKNOWN_OUTCOME"
"""The code of a run of which nobody knows whether it had its effect: a person must look."""
MAX_RUNS = 1_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run, without what it was given and what it yielded."""

    id: str
    call_id: str
    session: str
    tool: str
    user: str | None
    agent: str | None
    source: str
    status: RunStatus
    code: str | None
    began_at: float
    ended_at: float | None

    @property
    def cursor(self) -> str:
        """The place of this run in a list, to go on from there."""
        place = json.dumps([self.began_at, self.id]).encode()
        return base64.urlsafe_b64encode(place).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a list is about; times are those of the beginning."""

    session: str | None = None
    tool: str | None = None
    source: str | None = None
    status: RunStatus | None = None
    user: str | None = None
    agent: str | None = None
    since: float | None = None
    until: float | None = None

    def __post_init__(self) -> None:
        if self.status is not None and self.status not in get_args(RunStatus):
            words = ", ".join(get_args(RunStatus))
            raise UsageError(f"{self.status!r} is not a status of a run. Use one of: {words}.")

    def fits(self, run: Run) -> bool:
        """Whether a run is one of these."""
        names = ("session", "tool", "source", "status", "user", "agent")
        return (
            all(getattr(self, name) in (None, getattr(run, name)) for name in names)
            and (self.since is None or run.began_at >= self.since)
            and (self.until is None or run.began_at < self.until)
        )


class RunList(Protocol):
    """Where runs can be looked up."""

    async def runs(
        self, tenant: str, which: RunFilter = ..., /, *, after: str | None = None, limit: int = 50
    ) -> list[Run]:
        """The tenant's runs that fit, the newest first, beginning after a cursor."""
        ...

    async def run(self, tenant: str, run_id: str, /) -> Run | None:
        """One run."""
        ...


def parse_cursor(cursor: str) -> tuple[float, str]:
    """When the run of a cursor began, and its id."""
    try:
        began_at, run_id = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(began_at, (int, float)) and isinstance(run_id, str):
            return float(began_at), run_id
    except (ValueError, TypeError):
        pass
    raise UsageError(
        f"{cursor!r} is not a place in a list of runs. Give the `cursor` of the last run you saw."
    )


def check_limit(limit: int) -> int:
    """How many runs a page may have."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_RUNS:
        raise UsageError(
            f"The limit of a list of runs is a whole number from 1 to {MAX_RUNS}, not {limit!r}."
        )
    return limit


def run_status(kind: str, code: str | None) -> RunStatus:
    """What the end of a run means for it; `kind` is that of the event."""
    if kind == "completed":
        return "completed"
    if kind == "cancelled":
        return "cancelled"
    return "needs_review" if code == UNKNOWN_OUTCOME else "failed"


def runs_of(events: Iterable[Event]) -> list[Run]:
    """The runs that these events tell of, in the order in which they began."""
    runs: dict[str, Run] = {}
    for event in events:
        if isinstance(event, ToolStarted):
            runs.setdefault(event.run_id, _begun(event))
        elif isinstance(event, (ToolCompleted, ToolFailed, ToolCancelled)) and event.run_id in runs:
            code = event.result.code
            status = run_status(event.kind, code)
            runs[event.run_id] = replace(runs[event.run_id], status=status, code=code, ended_at=event.at)
    return list(runs.values())


def page_of_runs(
    runs: Iterable[Run], which: RunFilter, after: str | None = None, limit: int = 50
) -> list[Run]:
    """A page of the runs that fit."""
    place = None if after is None else parse_cursor(after)
    fitting = sorted((run for run in runs if which.fits(run)), key=_sort_key, reverse=True)
    return [run for run in fitting if place is None or _sort_key(run) < place][: check_limit(limit)]


def _sort_key(run: Run) -> tuple[float, str]:
    return run.began_at, run.id


def _begun(event: ToolStarted) -> Run:
    principal = event.call.principal
    return Run(
        event.run_id,
        event.call_id,
        event.session,
        event.tool,
        principal.user,
        principal.agent,
        event.call.source,
        "running",
        None,
        event.at,
        None,
    )
