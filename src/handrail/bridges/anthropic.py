"""Anthropic: tools with a mark up to where they can be cached, the calls of a model, and the answers to them.

Nothing of Anthropic's package is needed: messages may be its objects or plain data.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, Literal

from handrail import Call, Handrail, Outcome, Principal
from handrail.bridges.messages import (
    IMAGES,
    MessageCalls,
    base64_of,
    field_of,
    is_viewable,
    model_text,
    parts_of,
    provider_id,
    run_calls,
)
from handrail.ext import Attachment, Dedup, wire_name

_SHOWN = IMAGES | {"application/pdf"}


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
    patterns = [spelled for one in changing for spelled in (one, wire_name(one))]
    exported = sorted(await hr.export("anthropic", principal), key=lambda one: str(one["name"]))
    stable: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    for one in exported:
        loose = any(fnmatchcase(one["name"], pattern) for pattern in patterns)
        (others if loose else stable).append(one)
    if stable:
        stable[-1]["cache_control"] = {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})
    return stable + others


def calls(
    message: Any,
    principal: Principal | None = None,
    *,
    session: str | None = None,
    turn: int | None = None,
    keyed: bool = False,
) -> list[Call]:
    """What a message asks for; see the bridge to OpenAI for `keyed`."""
    asked = MessageCalls(principal, session, turn, keyed)
    blocks = message if isinstance(message, (list, tuple)) else parts_of(message, "content")
    for block in blocks:
        if field_of(block, "type") == "tool_use":
            asked.add(field_of(block, "name"), field_of(block, "input"), field_of(block, "id"))
    return asked.calls


def tool_results(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """The answers as blocks, pictures and documents included, in the order of the calls."""
    return [
        {
            "type": "tool_result",
            "tool_use_id": provider_id(one),
            "content": _content(one),
            "is_error": not one.result.success,
        }
        for one in outcomes
    ]


async def run_tool_calls(
    hr: Handrail,
    message: Any,
    principal: Principal | None = None,
    *,
    session: str | None = None,
    turn: int | None = None,
    keyed: bool = False,
    dedup: Dedup | None = None,
) -> list[dict[str, Any]]:
    """Run what a message asks for as one pass through the guard: the message to send next, or none."""
    asked = calls(message, principal, session=session, turn=turn, keyed=keyed)
    blocks = tool_results(await run_calls(hr, asked, dedup))
    return [{"role": "user", "content": blocks}] if blocks else []


def _content(outcome: Outcome) -> list[dict[str, Any]]:
    seen = [_block(one) for one in outcome.result.attachments if is_viewable(one, _SHOWN)]
    text = model_text(outcome, _SHOWN)
    return [{"type": "text", "text": text}, *seen] if text else seen  # an empty text is refused there


def _block(attachment: Attachment) -> dict[str, Any]:
    source = {"type": "base64", "media_type": attachment.mime, "data": base64_of(attachment)}
    return {"type": "image" if attachment.mime in IMAGES else "document", "source": source}
