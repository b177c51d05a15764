"""handrail runs: calls whose body began."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Annotated, get_args

import typer

from handrail.core.define.call import Outcome
from handrail.core.tell.events import Event
from handrail.core.tell.projections import outcome_of
from handrail.core.tell.runs import Run, RunFilter, RunStatus
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.events import event_summary
from handrail.doors.cli.exit_codes import not_found
from handrail.doors.cli.options import option, parse_choice, parse_duration
from handrail.doors.cli.output import Answer, listing, moment, outcome_json, show_facts, show_rows
from handrail.doors.cli.screen import Screen

_STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)


@command("json database tenant")
def list_runs(
    cli: Invocation,
    session: Annotated[str | None, option("--session", "name", "Of this session.")] = None,
    tool: Annotated[str | None, option("--tool", "name", "Of this tool.")] = None,
    agent: Annotated[str | None, option("--agent", "name", "By this agent.")] = None,
    status: Annotated[str | None, option("--status", "status", f"One of {', '.join(_STATUSES)}.")] = None,
    since: Annotated[
        str | None, option("--since", "time", "Not longer ago than this, such as 2h or 7d.")
    ] = None,
    after: Annotated[str | None, option("--after", "cursor", "The next page, after the last cursor.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="number", help="At most so many.", min=1)] = 50,
) -> Answer:
    """List calls whose body began, the newest first."""
    problem = f"{status!r} is no status of a run"
    state = None if status is None else parse_choice(status, _STATUSES, problem)
    began = None if since is None else time.time() - parse_duration(since, "--since")
    which = RunFilter(session=session, tool=tool, status=state, agent=agent, since=began)
    runs = cli.run(cli.event_log().runs(cli.settings.tenant, which, after=after, limit=limit))
    rows = [
        (run.id, run.tool, _caller(run), moment(run.began_at), _status(run), _duration(run)) for run in runs
    ]
    labels = ("Id", "Tool", "For", "Began", "Status", "Took")
    return Answer(
        [asdict(run) | {"cursor": run.cursor} for run in runs],
        listing(labels, rows, "There are no runs like that."),
        note=f"There may be more: add --after {runs[-1].cursor}" if len(runs) == limit else None,
    )


@command("json database tenant")
def show_run(
    cli: Invocation,
    id: Annotated[str, typer.Argument(help="The run or the call: its id.", show_default=False)],
) -> Answer:
    """Show one call: what it was given, everything that happened to it, and how it ended."""
    events = _events(cli, id)
    outcome = outcome_of(events)
    document = {
        "call_id": events[0].call_id,
        "events": [event.to_dict() for event in events],
        "outcome": None if outcome is None else outcome_json(outcome),
    }
    return Answer(document, lambda screen: _show(screen, events, outcome))


def _events(cli: Invocation, run_or_call: str) -> list[Event]:
    """The events of a call, by its id or that of its run."""
    log, tenant = cli.event_log(), cli.settings.tenant
    run = cli.run(log.run(tenant, run_or_call))
    events = list(log.read(tenant, call_id=run_or_call if run is None else run.call_id))
    if not events:
        raise not_found(f"{tenant} has no run or call {run_or_call!r}", "handrail runs list")
    return events


def _show(screen: Screen, events: list[Event], outcome: Outcome | None) -> None:
    first = events[0]
    who = first.call.principal
    status = "running" if outcome is None else outcome.status
    run_ids = (getattr(event, "run_id", None) for event in events)
    inputs = (getattr(event, "input", None) for event in events)
    show_facts(
        screen,
        {
            "call": first.call_id,
            "run": next(filter(None, run_ids), None),
            "tool": first.tool,
            "for": " for ".join(name for name in (who.agent, who.user) if name),
            "source": first.call.source,
            "session": first.session,
            "status": status if outcome is None or outcome.code is None else f"{status} {outcome.code}",
            "took": None if outcome is None else f"{outcome.duration_ms:.0f} ms",
            "error": None if outcome is None else outcome.result.error,
            "arguments": next(filter(None, inputs), None),
            "result": {"data": outcome.result.data} if outcome is not None and outcome.ok else None,
        },
    )
    screen.out.say()
    rows = [(moment(event.at), event.type, event_summary(event)) for event in events]
    show_rows(screen, ("When", "Event", ""), rows, "")


def _caller(run: Run) -> str:
    return " for ".join(name for name in (run.agent, run.user) if name)


def _status(run: Run) -> str:
    return run.status if run.code is None else f"{run.status} {run.code}"


def _duration(run: Run) -> str:
    return "" if run.ended_at is None else f"{(run.ended_at - run.began_at) * 1000:.0f} ms"
