"""/api/plan: your own calls that plan mode holds back, to be looked at, run or discarded."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.doors.http import schemas
from handrail.doors.http.outcomes import outcome_json
from handrail.doors.http.parameters import After, Limit, Name, page_after
from handrail.doors.http.router import Router, SignedIn, TheHandrail, need
from handrail.doors.http.schemas import PlanOutcomes, PlanPage
from handrail.platform.responses import json_response

routes = Router("plan")


@routes.get("/plan", "List what is planned, in order", ok=PlanPage)
async def list_plan(
    who: SignedIn, hr: TheHandrail, session: Name = None, after: After = None, limit: Limit = 50
) -> Response:
    """In the order in which it would run. Secrets are masked."""
    calls = await hr.planned(who, session)
    page, following = page_after(calls, after, limit, lambda planned: planned.call.id or "")
    return json_response({"calls": [planned.to_dict() for planned in page], "next": following})


@routes.post(
    "/plan/run", "Run what is planned, in order", ok=PlanOutcomes, says="What became of each call, in order."
)
async def run_plan(
    who: Annotated[Principal, need("plans.run")],
    hr: TheHandrail,
    session: Name = None,
    stop_on_failure: Annotated[
        bool, Query(description="Stop after the first call that does not succeed.")
    ] = False,
) -> Response:
    """Each call goes through the whole guard, as whoever planned it. Nobody runs one twice."""
    outcomes = await hr.run_plan(who, session, stop_on_failure=stop_on_failure)
    return json_response({"outcomes": [outcome_json(planned) for planned in outcomes]})


@routes.delete("/plan", "Discard what is planned", ok=schemas.DiscardResult)
async def discard_plan(who: SignedIn, hr: TheHandrail, session: Name = None) -> Response:
    """None of it runs."""
    return json_response({"discarded": await hr.discard_plan(who, session)})
