"""/api/runs: calls whose body began."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from starlette.responses import Response

from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.tell.events import ToolStarted
from handrail.core.tell.log import EventFilter
from handrail.core.tell.runs import Run, RunStatus
from handrail.doors.http import schemas
from handrail.doors.http.errors import not_found
from handrail.doors.http.parameters import After, Limit, Name, Time
from handrail.doors.http.router import Router, TheHandrail, ThePlatform, need
from handrail.platform.access import is_plausible_id
from handrail.platform.events import EventReader
from handrail.platform.responses import json_response, page_and_cursor

routes = Router("runs")
RunReader = Annotated[Principal, need("runs.read")]


@routes.get("/runs", "List runs, the newest first", ok=schemas.RunPage)
async def list_runs(
    who: RunReader,
    hr: TheHandrail,
    session: Name = None,
    tool: Name = None,
    source: Source | None = None,
    status: RunStatus | None = None,
    user: Name = None,
    agent: Name = None,
    since: Time = None,
    until: Time = None,
    after: After = None,
    limit: Limit = 50,
) -> Response:
    """Those of your tenant that fit every filter. What they were given and yielded is not listed."""
    runs = await hr.runs(
        who,
        session=session,
        tool=tool,
        source=source,
        status=status,
        user=user,
        agent=agent,
        since=since,
        until=until,
        after=after,
        limit=limit + 1,
    )
    page, following = page_and_cursor(runs, limit, lambda run: run.cursor)
    return json_response({"runs": [asdict(run) for run in page], "next": following})


@routes.get("/runs/{run_id}", "Read one run", ok=schemas.RunDetail)
async def read_run(who: RunReader, platform: ThePlatform, run_id: str) -> Response:
    """What it was given and what it yielded are for whoever made the call, or may read events."""
    run = await platform.events.run(who.tenant, run_id) if is_plausible_id(run_id) else None
    if run is None:
        raise not_found("run")
    return json_response(asdict(run) | await _content(platform.events, run, who))


async def _content(events: EventReader, run: Run, who: Principal) -> dict[str, Any]:
    nothing: dict[str, Any] = {"input": None, "result": None}
    begun = await events.page(who.tenant, EventFilter(call_id=run.call_id, status="started"), limit=5)
    started = next(
        (event for event in begun if isinstance(event, ToolStarted) and event.run_id == run.id), None
    )
    if started is None or not (who.holds("events.read") or who.is_same_caller(started.call.principal)):
        return nothing
    outcome = await events.outcome(who.tenant, run.call_id)
    ended = outcome is not None and outcome.run_id == run.id
    return {"input": dict(started.input), "result": outcome.result.to_dict() if outcome and ended else None}
