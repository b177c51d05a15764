"""read_answer: a result of what a service answers."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from handrail import Result
from handrail.bridges.openapi.inputs import is_json

if TYPE_CHECKING:
    import httpx2

_EXCERPT = 2_000
_MASK = "•••"


async def read_answer(answer: httpx2.Response, is_read: bool, most: int, hidden: Collection[str]) -> Result:
    """Data on success. Anything else is a failed result with the status and the beginning of the answer."""
    status = answer.status_code
    body = await _read(answer, most)
    if body is None:
        return _unreadable(f"The answer is larger than {most} bytes, or packed.", status, is_read)
    text = _decoded(body, answer.charset_encoding)
    for one in sorted(filter(None, hidden), key=len, reverse=True):
        text = text.replace(one, _MASK)
    if 300 <= status < 400:
        why = f"The service redirects elsewhere (status {status}); that is not followed."
        return failed(why, data={"status": status})
    if not _is_success(status):
        told = {"status": status, "body": _parsed(answer, text[:_EXCERPT])}
        return failed(f"The service answered with status {status}.", data=told)
    metadata = {"status": status}
    if not text:
        return Result(data=None, summary=f"Done (status {status})", metadata=metadata)
    if not is_json(answer.headers.get("content-type", "")):
        return Result(data=text, output=text, metadata=metadata)
    try:
        return Result(data=json.loads(text), metadata=metadata)
    except (ValueError, RecursionError):
        return _unreadable("The service said JSON and sent something else.", status, is_read)


def failed(why: str, *, code: str = "HTTP_ERROR", data: Any = None) -> Result:
    return Result.fail(why, code=code, summary="The service did not do it", data=data)


def _is_success(status: int) -> bool:
    return 200 <= status < 300


def _unreadable(why: str, status: int, is_read: bool) -> Result:
    """A read without its answer failed. What was changed is changed, whatever was said about it."""
    if is_read or not _is_success(status):
        return failed(why, data={"status": status})
    return Result(output=f"Done (status {status}). {why}", metadata={"status": status})


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


async def _read(answer: httpx2.Response, most: int) -> bytes | None:
    """The body, or None when it is larger than allowed, or packed though that was not asked for."""
    if answer.headers.get("content-encoding", "identity").lower() != "identity":
        return None
    if answer.is_stream_consumed:  # a transport of somebody's own that had it all at once
        return answer.content if len(answer.content) <= most else None
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > most:
            return None
    return bytes(body)


def _parsed(answer: httpx2.Response, text: str) -> Any:
    if is_json(answer.headers.get("content-type", "")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text
