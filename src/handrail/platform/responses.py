"""JSON responses, and the one error body `{error: {code, message, fields?, hint?}}`, also as a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any, TypeVar

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

T = TypeVar("T")


def error_body(
    code: str,
    message: str,
    *,
    fields: Sequence[Mapping[str, Any]] | None = None,
    hint: str | None = None,
) -> bytes:
    """An error as JSON: a code for programs, words for people and models."""
    error: dict[str, Any] = {"code": code, "message": message}
    if fields:
        error["fields"] = list(fields)
    if hint:
        error["hint"] = hint
    return json.dumps({"error": error}, separators=(",", ":")).encode()


def error_page(message: str) -> bytes:
    """The same for somebody who looks at it in a browser, where no page was reached."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Handrail</title>'
    content = f'<h1>That did not work</h1><p>{escape(message)}</p><p><a href="/">Go to the start page</a></p>'
    body = f"<body><main>{content}</main></body>"
    return f'<!doctype html><html lang="en"><head>{head}</head>{body}</html>'.encode()


JSON_TYPE = "application/json"


def json_bytes(value: Any) -> bytes:
    """Any value as JSON; what JSON cannot say is told as text or left out."""
    try:
        return to_json(value, inf_nan_mode="null", fallback=str)
    except (PydanticSerializationError, ValueError):  # half of a surrogate pair, or a very deep value
        return json.dumps(value, default=str, separators=(",", ":")).encode()


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(json_bytes(value), status, headers, JSON_TYPE)


def no_content() -> Response:
    """Done, and there is no more to say."""
    return Response(status_code=204)


def page_and_cursor(
    items: Sequence[T], limit: int, cursor_of: Callable[[T], str]
) -> tuple[Sequence[T], str | None]:
    """A page of a list that was read with one item more than a page holds, and where the next page begins."""
    page = items[:limit]
    return page, cursor_of(page[-1]) if len(items) > limit else None
