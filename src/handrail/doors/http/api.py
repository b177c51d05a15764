"""build_api: every route of REST, put together over one platform."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

import handrail
from handrail.doors.entrance import COOKIE
from handrail.doors.http import (
    approvals,
    calling,
    calls,
    embeds,
    events,
    keys,
    letters,
    overrides,
    people,
    plan,
    runs,
    tool_sessions,
    tools,
    usage,
)
from handrail.doors.http.refusing import HANDLERS
from handrail.doors.http.streams import Running
from handrail.platform import Platform

_ROUTERS = (
    calling.routes,  # first, since it is looked for most
    calls.streams,
    calls.routes,
    tools.routes,
    overrides.routes,
    runs.routes,
    events.routes,
    approvals.routes,
    letters.routes,
    plan.routes,
    keys.routes,
    people.routes,
    tool_sessions.routes,
    embeds.routes,
    usage.routes,
)
_ABOUT = (
    "Tools under one guard, for programs. Every answer that is not a success has the body "
    "`{error: {code, message, fields?, hint?}}`."
)


def build_api(platform: Platform) -> FastAPI:
    """REST over a platform; it stands behind the entrance, which says who calls."""
    api = _Api(
        title="Handrail",
        version=handrail.__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # Handrail tells of calls itself
        exception_handlers=HANDLERS,
    )
    api.state.platform = platform
    api.state.running = Running()
    for one in _ROUTERS:
        api.router.routes.extend(one.routes)
    return api


class _Api(FastAPI):
    """FastAPI, whose document also says how one shows who one is."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            routes = [one for one in self.routes if isinstance(one, APIRoute)]
            made = get_openapi(
                title=self.title, version=self.version, description=self.description, routes=routes
            )
            schemes = made.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["key"] = {"type": "http", "scheme": "bearer", "description": "An API key."}
            schemes["session"] = {"type": "apiKey", "in": "cookie", "name": COOKIE}
            made["security"] = [{"key": []}, {"session": []}]
            self.openapi_schema = made
        return self.openapi_schema
