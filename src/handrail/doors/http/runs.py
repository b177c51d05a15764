"""/api/runs: calls whose body began."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from starlette.responses import Response

from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.tell.events import ToolStarted
from handrail.core.tell.log import FollowedLog
from handrail.core.tell.runs import Run, RunStatus
from handrail.doors.http import shapes
from handrail.doors.http.paging import After, Limit, Name, Time, cut
from handrail.doors.http.record import Record, Wanted
from handrail.doors.http.refusing import no_such
from handrail.doors.http.routing import TheHandrail, ThePlatform, answers, need, router
from handrail.doors.http.telling import ready
from handrail.doors.http.whose import is_same, plausible

routes = router("runs")
Seen = Annotated[Principal, need("runs.read")]


@routes.get("/runs", summary="List runs, the newest first", responses=answers(ok=shapes.RunPage))
async def list_runs(
    who: Seen,
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
    found = await hr.runs(
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
    page, following = cut(found, limit, lambda run: run.cursor)
    return ready({"runs": [asdict(run) for run in page], "next": following})


@routes.get("/runs/{run_id}", summary="Read one run", responses=answers(ok=shapes.RunWhole))
async def read_run(who: Seen, platform: ThePlatform, run_id: str) -> Response:
    """What it was given and what it yielded are for whoever made the call, or may read events."""
    log = platform.hr.log
    run = await log.run(who.tenant, run_id) if plausible(run_id) and isinstance(log, FollowedLog) else None
    if run is None:
        raise no_such("run")
    return ready(asdict(run) | await _content(Record(platform), run, who))


async def _content(record: Record, run: Run, who: Principal) -> dict[str, Any]:
    nothing: dict[str, Any] = {"input": None, "result": None}
    begun = await record.page(who.tenant, Wanted(call_id=run.call_id, status="started"), limit=5)
    started = next((one for one in begun if isinstance(one, ToolStarted) and one.run_id == run.id), None)
    if started is None or not (who.holds("events.read") or is_same(who, started.call.principal or who)):
        return nothing
    outcome = await record.outcome(who.tenant, run.call_id)
    ended = outcome is not None and outcome.run_id == run.id
    return {"input": dict(started.input), "result": outcome.result.to_dict() if outcome and ended else None}
