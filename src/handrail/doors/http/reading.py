"""Reading: bodies as strict JSON, and nothing else. What cannot be read is told in words."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from fastapi import Depends
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

from handrail.doors.http.refusing import Refused

M = TypeVar("M", bound=BaseModel)


async def whole_body(receive: Receive) -> bytes:
    """All that the client sends."""
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    body: bytes = message.get("body", b"")
    if not message.get("more_body", False):
        return body
    parts = [body]
    while message.get("more_body", False):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
    return b"".join(parts)


def read_json(body: bytes, content_type: str) -> Any:
    """The value of a body. JSON only: no NaN, no half characters, not deeper than 200 levels."""
    if content_type != "application/json" and not _is_json(content_type):
        raise Refused(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            "The body is not declared as JSON.",
            hint="Send it with the header `Content-Type: application/json`.",
        )
    try:
        return from_json(body, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise Refused(400, "INVALID_JSON", f"The body is not JSON: {error}.") from None


def _is_json(content_type: str) -> bool:
    kind, _, parameters = content_type.partition(";")
    main, _, sub = kind.strip().lower().partition("/")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    known = not charset.startswith("charset=") or charset in ("charset=utf-8", "charset=utf8")
    return main == "application" and (sub == "json" or sub.endswith("+json")) and known


class Reading(Generic[M]):
    """A dependency that reads the body as one model; the route tells of it in the document."""

    def __init__(self, model: type[M]) -> None:
        self.model = model
        self.optional = not any(field.is_required() for field in model.model_fields.values())

    async def __call__(self, request: Request) -> M:
        body = await whole_body(request.receive)
        told: Any = {}
        if body or not self.optional:
            told = read_json(body, request.headers.get("content-type", ""))
        return read_model(self.model, told)


def read_model(model: type[M], told: Any) -> M:
    """A value as the model has it, or what is wrong with it."""
    try:
        return model.model_validate(told)
    except ValidationError as error:
        fields = [
            {"path": ".".join(map(str, one["loc"])), "reason": _reason(model, one)}
            for one in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        said = "; ".join(
            f"{one['path']}: {one['reason']}" if one["path"] else one["reason"] for one in fields
        )
        raise Refused(422, "INVALID_PARAM", said, fields=fields) from None


def _reason(model: type[BaseModel], found: ErrorDetails) -> str:
    if found["type"] == "extra_forbidden" and len(found["loc"]) == 1:
        return f"is not known here. Known: {', '.join(model.model_fields)}"
    return found["msg"]


def body(model: type[BaseModel]) -> Any:
    """The body of a route."""
    return Depends(Reading(model), use_cache=False)
