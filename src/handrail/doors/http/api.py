"""build_api: every route of REST, put together over one platform."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

import handrail
from handrail.doors.http import (
    approvals,
    calls,
    dead_letters,
    embeds,
    events,
    keys,
    people,
    plan,
    runs,
    tool_sessions,
    tools,
    usage,
)
from handrail.doors.http.errors import EXCEPTION_HANDLERS
from handrail.platform import Platform
from handrail.platform.middleware import SESSION_COOKIE

_ROUTERS = (
    calls.raw_routes,  # first, since it is looked for most
    calls.routes,
    tools.routes,
    tools.override_routes,
    runs.routes,
    events.routes,
    approvals.routes,
    dead_letters.routes,
    plan.routes,
    keys.routes,
    people.routes,
    tool_sessions.routes,
    embeds.routes,
    usage.routes,
)
_DESCRIPTION = (
    "Tools under one guard, for programs. Every answer that is not a success has the body "
    "`{error: {code, message, fields?, hint?}}`."
)


def build_api(platform: Platform) -> FastAPI:
    """REST over a platform; it stands behind the entrance, which says who calls."""
    api = _FastApiWithSecurity(
        title="Handrail",
        version=handrail.__version__,
        description=_DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # Handrail tells of calls itself
        exception_handlers=EXCEPTION_HANDLERS,
    )
    api.state.platform = platform
    for router in _ROUTERS:
        api.router.routes.extend(router.routes)
    return api


class _FastApiWithSecurity(FastAPI):
    """FastAPI, whose document also says how one shows who one is."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            routes = [router for router in self.routes if isinstance(router, APIRoute)]
            document = get_openapi(
                title=self.title, version=self.version, description=self.description, routes=routes
            )
            schemes = document.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["key"] = {"type": "http", "scheme": "bearer", "description": "An API key."}
            schemes["session"] = {"type": "apiKey", "in": "cookie", "name": SESSION_COOKIE}
            document["security"] = [{"key": []}, {"session": []}]
            self.openapi_schema = document
        return self.openapi_schema
