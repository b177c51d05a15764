"""handrail runs: calls whose body began."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from handrail.core.define.call import Outcome
from handrail.core.tell.events import Event
from handrail.core.tell.projections import outcome_of
from handrail.core.tell.runs import Run, RunFilter, RunStatus
from handrail.doors.cli.context import settings_from_options
from handrail.doors.cli.database import open_event_log
from handrail.doors.cli.events import event_summary
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import Database, Debug, Json, Tenant, parse_duration
from handrail.doors.cli.output import format_time, outcome_json, show_facts, show_rows
from handrail.doors.cli.screen import Screen, open_screen

if TYPE_CHECKING:
    from handrail.store.events.log import StoreLog

_STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)


def list_(
    session: Annotated[str | None, typer.Option("--session", metavar="name", help="Of this session.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", metavar="name", help="Of this tool.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="name", help="By this agent.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="status", help=f"One of {', '.join(_STATUSES)}.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="time", help="Not longer ago than this, such as 2h or 7d."),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="cursor", help="The next page, after the last cursor.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="number", help="At most so many.", min=1)] = 50,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """List calls whose body began, the newest first."""
    with open_screen(debug) as screen:
        if status is not None and status not in _STATUSES:
            raise CommandError(f"{status!r} is no status of a run", f"use one of: {', '.join(_STATUSES)}")
        known = next((one for one in _STATUSES if one == status), None)
        began = None if since is None else time.time() - parse_duration(since, "--since")
        which = RunFilter(session=session, tool=tool, status=known, agent=agent, since=began)
        with open_event_log(settings := settings_from_options(database, tenant)) as log:
            found = asyncio.run(log.runs(settings.tenant, which, after=after, limit=limit))
        if json:
            screen.out.json([asdict(run) | {"cursor": run.cursor} for run in found])
            return
        show_rows(
            screen,
            ("Id", "Tool", "For", "Began", "Status", "Took"),
            [
                (
                    run.id,
                    run.tool,
                    _caller(run),
                    format_time(run.began_at, screen),
                    _status(run),
                    _duration(run),
                )
                for run in found
            ],
            "There are no runs like that.",
        )
        if len(found) == limit:
            screen.err.say(f"There may be more: add --after {found[-1].cursor}")


def show(
    id: Annotated[str, typer.Argument(help="The run or the call: its id.", show_default=False)],
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Show one call: what it was given, everything that happened to it, and how it ended."""
    with open_screen(debug) as screen:
        with open_event_log(settings := settings_from_options(database, tenant)) as log:
            events = asyncio.run(_events(log, settings.tenant, id))
        outcome = outcome_of(events)
        if json:
            screen.out.json(
                {
                    "call_id": events[0].call_id,
                    "events": [event.to_dict() for event in events],
                    "outcome": None if outcome is None else outcome_json(outcome),
                }
            )
        else:
            _show(screen, events, outcome)


async def _events(log: StoreLog, tenant: str, given: str) -> list[Event]:
    """The events of a call, by its id or that of its run."""
    run = await log.run(tenant, given)
    call_id = given if run is None else run.call_id
    events = await asyncio.to_thread(lambda: list(log.read(tenant, call_id=call_id)))
    if not events:
        remedy = "see which there are: handrail runs list"
        raise CommandError(f"{tenant} has no run or call {given!r}", remedy, ExitCode.REFUSED)
    return events


def _show(screen: Screen, events: list[Event], outcome: Outcome | None) -> None:
    first = events[0]
    who = first.call.principal
    status = "running" if outcome is None else outcome.status
    given: Any = next((found for event in events if (found := getattr(event, "input", None))), None)
    show_facts(
        screen,
        {
            "call": first.call_id,
            "run": next((run for event in events if (run := getattr(event, "run_id", None))), None),
            "tool": first.tool,
            "for": " for ".join(name for name in (who.agent, who.user) if name),
            "source": first.call.source,
            "session": first.session,
            "status": status if outcome is None or outcome.code is None else f"{status} {outcome.code}",
            "took": None if outcome is None else f"{outcome.duration_ms:.0f} ms",
            "error": None if outcome is None else outcome.result.error,
            "arguments": given,
            "result": {"data": outcome.result.data} if outcome is not None and outcome.ok else None,
        },
    )
    screen.out.say()
    rows = [(format_time(event.at, screen), event.type, event_summary(event)) for event in events]
    show_rows(screen, ("When", "Event", ""), rows, "")


def _caller(run: Run) -> str:
    return " for ".join(name for name in (run.agent, run.user) if name)


def _status(run: Run) -> str:
    return run.status if run.code is None else f"{run.status} {run.code}"


def _duration(run: Run) -> str:
    return "" if run.ended_at is None else f"{(run.ended_at - run.began_at) * 1000:.0f} ms"
