"""Anthropic: tools with a mark up to where they can be cached, the calls of a model, and the answers to them.

Nothing of Anthropic's package is needed: messages may be its objects or plain data.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, Literal, Unpack

from handrail import Attachment, Call, Handrail, Outcome, Principal
from handrail.bridges import messages
from handrail.ext.tools import Dedup, wire_name

_SHOWN = messages.IMAGES | {"application/pdf"}


async def tools(
    hr: Handrail,
    principal: Principal | None = None,
    *,
    changing: Iterable[str] = (),
    ttl: Literal["5m", "1h"] | None = None,
) -> list[dict[str, Any]]:
    """What this principal may see, sorted by name, with the cache mark on the last that does not change.

    `changing` are ids or patterns of tools whose definitions come and go; they stand after the mark, so that
    a change of theirs spoils nothing before it.
    """
    patterns = [spelling for pattern in changing for spelling in (pattern, wire_name(pattern))]
    exported = sorted(await hr.export("anthropic", principal), key=lambda tool: str(tool["name"]))
    stable: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for tool in exported:
        changes = any(fnmatchcase(tool["name"], pattern) for pattern in patterns)
        (others if changes else stable).append(tool)
    if stable:
        stable[-1]["cache_control"] = {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})
    return stable + others


def calls(
    message: Any, principal: Principal | None = None, **options: Unpack[messages.MessageOptions]
) -> list[Call]:
    """What a message asks for."""
    blocks = message if isinstance(message, (list, tuple)) else messages.parts_of(message, "content")
    requests = [
        (messages.field_of(block, "name"), messages.field_of(block, "input"), messages.field_of(block, "id"))
        for block in blocks
        if messages.field_of(block, "type") == "tool_use"
    ]
    return messages.calls_from(requests, principal, **options)


def tool_results(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The answers as blocks, pictures and documents included, in the order of the calls."""
    return [
        {
            "type": "tool_result",
            "tool_use_id": messages.provider_id(outcome),
            "content": _content(outcome),
            "is_error": not outcome.result.success,
        }
        for outcome in outcomes
    ]


async def run_tool_calls(
    hr: Handrail,
    message: Any,
    principal: Principal | None = None,
    *,
    dedup: Dedup | None = None,
    **options: Unpack[messages.MessageOptions],
) -> list[dict[str, Any]]:
    """Run what a message asks for as one pass through the guard: the message to send next, or none."""
    blocks = tool_results(await messages.run_calls(hr, calls(message, principal, **options), dedup))
    return [{"role": "user", "content": blocks}] if blocks else []


def _content(outcome: Outcome) -> list[dict[str, Any]]:
    text = messages.model_text(outcome, _SHOWN)
    texts = [{"type": "text", "text": text}] if text else []  # an empty text is refused there
    return [*texts, *map(_block, messages.viewable_attachments(outcome, _SHOWN))]


def _block(attachment: Attachment) -> dict[str, Any]:
    source = {"type": "base64", "media_type": attachment.mime, "data": messages.base64_of(attachment)}
    return {"type": "image" if attachment.mime in messages.IMAGES else "document", "source": source}
