"""One shape for an error that a program reads, `{error: {code, message, fields?, hint?}}`; one for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
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


def error_page(message: str) -> bytes:
    """The same for somebody who looks at it in a browser, where no page was reached."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Handrail</title>'
    said = f'<h1>That did not work</h1><p>{escape(message)}</p><p><a href="/">Go to the start page</a></p>'
    body = f"<body><main>{said}</main></body>"
    return f'<!doctype html><html lang="en"><head>{head}</head>{body}</html>'.encode()
