"""Telling: answers as ready bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

JSON = "application/json"


def as_bytes(value: Any) -> bytes:
    """Any value as JSON; what JSON cannot say is told as text or left out."""
    try:
        return to_json(value, inf_nan_mode="null", fallback=str)
    except (PydanticSerializationError, ValueError):  # half of a surrogate pair, or a very deep value
        return json.dumps(value, default=str, separators=(",", ":")).encode()


def ready(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer in JSON."""
    return Response(as_bytes(value), status, headers, JSON)


def nothing() -> Response:
    """Done, and there is no more to say."""
    return Response(status_code=204)
