"""ApiError and the exception handlers: one error body for everything that is refused."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handrail.core.errors import HandrailError, StorageError, ToolError, UsageError
from handrail.core.run.approvals.inbox import Conflict
from handrail.identity.errors import PermissionDenied
from handrail.platform import middleware
from handrail.platform.responses import JSON_TYPE, error_body

_log = logging.getLogger("handrail.http")

STATUS_OF_CODE = {
    "NOT_SIGNED_IN": 401,
    "NOT_PERMITTED": 403,
    "NOT_FOUND": 404,
    "TOOL_NOT_FOUND": 404,
    "CALL_NOT_FOUND": 404,
    "CONFLICT": 409,
    "TOOL_CHANGED": 409,
    "SECRET_MISSING": 409,
    "APPROVAL_EXPIRED": 409,
    "INVALID_PARAM": 422,
    "TOOL_UNAVAILABLE": 503,
}
"""The status of what is refused outside of a call, by its code."""

_HTTP_ERRORS = {
    404: ("NOT_FOUND", "There is nothing at this address. What there is stands in /api/openapi.json."),
    405: ("METHOD_NOT_ALLOWED", "This address does not take that method."),
    413: ("TOO_LARGE", "The body is too large."),
}


class ApiError(Exception):
    """What was asked for is not done; the answer says why."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        fields: Sequence[Mapping[str, str]] | None = None,
        hint: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = error_body(code, message, fields=fields, hint=hint)
        self.headers = headers

    def answer(self) -> Response:
        return Response(self.body, self.status, self.headers, JSON_TYPE)


def not_found(what: str) -> ApiError:
    """The same for what is not there, what is hidden, and what is another tenant's."""
    return ApiError(404, "NOT_FOUND", f"There is no such {what}, or it is not yours to see.")


def not_signed_in() -> ApiError:
    message = "Say who you are: send a key as `Authorization: Bearer …`, or sign in."
    return ApiError(401, "NOT_SIGNED_IN", message, headers={"www-authenticate": "Bearer"})


def not_permitted(permission: str) -> ApiError:
    hint = "Ask an administrator for it, or use a key that has it."
    return ApiError(403, "NOT_PERMITTED", f"For that you need the permission {permission}.", hint=hint)


def invalid_param(path: str, reason: str) -> ApiError:
    """One thing in the request is wrong."""
    message = f"{path}: {reason}" if path else reason
    return ApiError(422, "INVALID_PARAM", message, fields=[{"path": path, "reason": reason}])


def needs_database() -> ApiError:
    message = "This server keeps everything in memory. For that it needs a database."
    return ApiError(409, "NEEDS_DATABASE", message, hint="Start it with --database.")


async def handle_api_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return error.answer()


async def handle_handrail_error(_: Request, error: Exception) -> Response:
    """What the rooms below refuse, each in its own words."""
    if isinstance(error, PermissionDenied):
        return ApiError(403, "NOT_PERMITTED", str(error)).answer()
    if isinstance(error, Conflict | ToolError):
        return ApiError(STATUS_OF_CODE.get(error.code, 409), error.code, str(error)).answer()
    if isinstance(error, UsageError):
        return ApiError(422, "INVALID_PARAM", str(error)).answer()
    if isinstance(error, StorageError):
        _log.error("the database failed: %s", error)
        message = "The database cannot be reached or written now. Try again later."
        return ApiError(503, "STORE_UNAVAILABLE", message, headers={"retry-after": "1"}).answer()
    raise error


async def handle_validation_error(_: Request, error: Exception) -> Response:
    """What FastAPI finds wrong with an address or a header."""
    assert isinstance(error, RequestValidationError)
    fields = [
        {"path": ".".join(map(str, fault["loc"][1:])), "reason": str(fault["msg"])}
        for fault in error.errors()
    ]
    message = "; ".join(f"{fault['path']}: {fault['reason']}" for fault in fields)
    return ApiError(422, "INVALID_PARAM", message, fields=fields).answer()


async def handle_http_exception(request: Request, error: Exception) -> Response:
    """What is refused before any route is reached."""
    assert isinstance(error, HTTPException)
    code, message = _HTTP_ERRORS.get(error.status_code, ("BAD_REQUEST", "The request cannot be read."))
    headers = {"allow": ", ".join(_allowed_methods(request))} if error.status_code == 405 else error.headers
    return ApiError(error.status_code, code, message, headers=headers).answer()


def _allowed_methods(request: Request) -> list[str]:
    """All that the address takes, whichever route takes it."""
    path = request.scope["route"].path
    routes = [route for route in request.app.routes if isinstance(route, Route) and route.path == path]
    return sorted(method for route in routes for method in route.methods or ())


async def handle_middleware_refusal(_: Request, error: Exception) -> Response:
    """What the entrance found while the body was read; it tells it again in its own way."""
    assert isinstance(error, middleware.RequestRefused)
    return Response(error.body, error.status, media_type=JSON_TYPE)


async def handle_unexpected_error(request: Request, error: Exception) -> Response:
    """Something here is wrong. The log has it, under the id that the answer names."""
    request_id = request.scope.get("state", {}).get("request_id")
    _log.error("request %s failed", request_id, exc_info=error)
    hint = None if request_id is None else f"Tell whoever runs this system: request {request_id}."
    message = "Something went wrong inside Handrail. Nothing more is known here."
    return ApiError(500, "INTERNAL_ERROR", message, hint=hint).answer()


EXCEPTION_HANDLERS: dict[Any, Any] = {
    ApiError: handle_api_error,
    HandrailError: handle_handrail_error,
    RequestValidationError: handle_validation_error,
    HTTPException: handle_http_exception,
    middleware.RequestRefused: handle_middleware_refusal,
    Exception: handle_unexpected_error,
}
