"""Messages: what a body is in the words of JSON-RPC, or why it is none. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, RequestId
from pydantic_core import from_json, to_json

_LARGEST_ID = 2**63


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a client."""

    kind: Literal["request", "notification", "response"]
    method: str
    params: dict[str, Any] | None
    id: RequestId | None
    body: dict[str, Any]
    """The whole, as it came."""


def read(body: bytes) -> Message | ErrorData:
    """The message in a body. NaN, lone surrogates and bottomless nesting are not JSON here."""
    try:
        found = from_json(body, allow_inf_nan=False, cache_strings=False)
    except (ValueError, RecursionError, OverflowError):
        return ErrorData(code=PARSE_ERROR, message="Parse error: the body is not JSON.")
    if not isinstance(found, dict):
        return _wrong("The body must be one JSON-RPC message, not a batch or a bare value.")
    if found.get("jsonrpc") != "2.0":
        return _wrong('A message says "jsonrpc": "2.0".')
    method, params, given = found.get("method"), found.get("params"), found.get("id")
    if "method" not in found and ("result" in found) != ("error" in found):
        return Message("response", "", None, None, found)
    if not isinstance(method, str):
        return _wrong("A message names its method as text.")
    if "params" in found and not isinstance(params, dict):
        return _wrong("The params of a message are an object.")
    if "id" not in found:
        return Message("notification", method, params, None, found)
    if not _is_id(given):
        return _wrong("The id of a request is text or a whole number.")
    return Message("request", method, params, given, found)


def _is_id(given: Any) -> bool:
    if isinstance(given, str):
        return True
    return isinstance(given, int) and not isinstance(given, bool) and abs(given) < _LARGEST_ID


def _wrong(why: str) -> ErrorData:
    return ErrorData(code=INVALID_REQUEST, message=why)


def to_result(id: RequestId, result: dict[str, Any]) -> bytes:
    """A response as it goes over the wire."""
    return to_json({"jsonrpc": "2.0", "id": id, "result": result}, inf_nan_mode="null", fallback=str)


def to_error(id: RequestId | None, error: ErrorData) -> bytes:
    """An error as it goes over the wire; one whose request could not be read has the id null."""
    told: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    return to_json({"jsonrpc": "2.0", "id": id, "error": told}, inf_nan_mode="null", fallback=str)


def to_notification(method: str, params: dict[str, Any] | None) -> bytes:
    told: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        told["params"] = params
    return to_json(told, inf_nan_mode="null", fallback=str)
