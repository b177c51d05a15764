"""The one shape of an error that a program reads: `{error: {code, message, fields?, hint?}}`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any


def error_body(
    code: str,
    message: str,
    *,
    fields: Sequence[Mapping[str, Any]] | None = None,
    hint: str | None = None,
) -> bytes:
    """An error as JSON: a code for programs, words for people and models."""
    said: dict[str, Any] = {"code": code, "message": message}
    if fields:
        said["fields"] = list(fields)
    if hint:
        said["hint"] = hint
    return json.dumps({"error": said}, separators=(",", ":")).encode()
