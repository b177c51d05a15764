"""/api/usage: who used which tool how often, how well and at what price."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from handrail.core.define.principal import Principal
from handrail.core.tell.usage import UsageDimension
from handrail.doors.http import schemas
from handrail.doors.http.errors import invalid_param
from handrail.doors.http.parameters import Time
from handrail.doors.http.router import Router, TheHandrail, need
from handrail.platform.responses import json_response

routes = Router("usage")
_EARLIEST, _LATEST = 0.0, 253_402_300_799.0


@routes.get("/usage", "What was used, counted", ok=schemas.UsageList)
async def read_usage(
    who: Annotated[Principal, need("usage.read")],
    hr: TheHandrail,
    by: Annotated[
        list[UsageDimension],
        Query(default_factory=list, max_length=6, description="What to count by; nothing counts all."),
    ],
    since: Time = None,
    until: Time = None,
) -> Response:
    """Of your tenant, from the day of `since` to the day of `until`."""
    for name, time in (("since", since), ("until", until)):
        if time is not None and not _EARLIEST <= time <= _LATEST:
            raise invalid_param(name, "is a time between 1970 and the year 9999, in seconds since 1970")
    counts_by_name = await hr.usage(who, since=since, until=until, by=by)
    lines = [
        {"by": dict(zip(by, names, strict=True)), **counts.to_dict()}
        for names, counts in counts_by_name.items()
    ]
    return json_response({"usage": lines})
