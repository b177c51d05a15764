"""What a server answers, as one of our results. Its words are data, whoever reads them."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from handrail import Result
from handrail.ext import Attachment

if TYPE_CHECKING:
    from mcp_types import CallToolResult

_LONGEST = 4_000


def result_of(tool_id: str, server: str, answer: CallToolResult) -> Result:
    """Text for the model, data where there is some, everything else beside it."""
    texts: list[str] = []
    attachments: list[Attachment] = []
    for number, block in enumerate(answer.content, 1):
        told = _told(block, number)
        if isinstance(told, Attachment):
            attachments.append(told)
        elif told:
            texts.append(told)
    text = "\n".join(texts)
    if answer.is_error:
        return failure(tool_id, server, text, attachments=tuple(attachments))
    data = answer.structured_content
    if data is not None:
        return Result(data=data, attachments=tuple(attachments))
    return Result(output=text, attachments=tuple(attachments))


def failure(tool_id: str, server: str, words: str, **more: Any) -> Result:
    """A failed result that quotes the server: nobody takes its words for ours."""
    short = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
    said = f" It says, in words of its own: {json.dumps(short, ensure_ascii=False)}" if short else ""
    return Result.fail(f"{tool_id} failed on the MCP server {server}.{said}", **more)


def _told(block: Any, number: int) -> str | Attachment:
    kind = block.type
    if kind == "text":
        return str(block.text)
    if kind in ("image", "audio"):
        return _attached(block.data, block.mime_type, f"{kind}-{number}")
    if kind == "resource_link":
        return Attachment(block.mime_type or "application/octet-stream", block.name, ref=str(block.uri))
    resource = block.resource
    text = getattr(resource, "text", None)
    if text is not None:
        return str(text)
    return _attached(resource.blob, resource.mime_type or "application/octet-stream", f"resource-{number}")


def _attached(encoded: str, mime: str, name: str) -> str | Attachment:
    try:
        return Attachment(mime, name, data=base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        return f"[{name}: its data cannot be read]"
