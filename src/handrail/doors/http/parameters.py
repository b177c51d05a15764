"""What a request gives: JSON bodies read into one model, and the query parameters of lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive

from handrail.doors.http.errors import ApiError
from handrail.platform.responses import page_and_cursor

M = TypeVar("M", bound=BaseModel)


async def read_body(receive: Receive) -> bytes:
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
        raise ApiError(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            "The body is not declared as JSON.",
            hint="Send it with the header `Content-Type: application/json`.",
        )
    try:
        return from_json(body, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "INVALID_JSON", f"The body is not JSON: {error}.") from None


def _is_json(content_type: str) -> bool:
    kind, _, parameters = content_type.partition(";")
    main, _, sub = kind.strip().lower().partition("/")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    is_utf8 = not charset.startswith("charset=") or charset in ("charset=utf-8", "charset=utf8")
    return main == "application" and (sub == "json" or sub.endswith("+json")) and is_utf8


class JsonBody(Generic[M]):
    """A dependency that reads the body as one model; the route tells of it in the document."""

    def __init__(self, model: type[M]) -> None:
        self.model = model
        self.optional = not any(field.is_required() for field in model.model_fields.values())

    async def __call__(self, request: Request) -> M:
        body = await read_body(request.receive)
        data: Any = {}
        if body or not self.optional:
            data = read_json(body, request.headers.get("content-type", ""))
        return read_model(self.model, data)


def read_model(model: type[M], data: Any) -> M:
    """A value as the model has it, or what is wrong with it."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        fields = [
            {"path": ".".join(map(str, fault["loc"])), "reason": _reason(model, fault)}
            for fault in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        message = "; ".join(
            f"{fault['path']}: {fault['reason']}" if fault["path"] else fault["reason"] for fault in fields
        )
        raise ApiError(422, "INVALID_PARAM", message, fields=fields) from None


def _reason(model: type[BaseModel], error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        return f"is not known here. Known: {', '.join(model.model_fields)}"
    return error["msg"]


def json_body(model: type[BaseModel]) -> Any:
    """The body of a route."""
    return Depends(JsonBody(model), use_cache=False)


T = TypeVar("T")
MAX_LIMIT = 200
Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="At most so many.")]

After = Annotated[
    str | None, Query(max_length=1_000, description="Go on from here: the `next` of the page before.")
]
Time = Annotated[float | None, Query(allow_inf_nan=False, description="Seconds since 1970.")]
Name = Annotated[str | None, Query(max_length=1_000)]


def page_after(
    items: Sequence[T], after: str | None, limit: int, cursor_of: Callable[[T], str]
) -> tuple[Sequence[T], str | None]:
    """A page of a list that is at hand. After a thing that is gone, it begins anew."""
    start = next((at + 1 for at, item in enumerate(items) if cursor_of(item) == after), 0) if after else 0
    return page_and_cursor(items[start : start + limit + 1], limit, cursor_of)
