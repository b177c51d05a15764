"""Messages of model providers: the calls in them, and the texts and attachments of the answers."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypedDict, Unpack

from handrail import Attachment, Call, Handrail, Outcome, Principal
from handrail.ext.tools import Dedup

_MARK = "~"


def field_of(part: Any, name: str) -> Any:
    """A field of a part of a message, which may be JSON data or an object of the provider's package."""
    return part.get(name) if isinstance(part, Mapping) else getattr(part, name, None)


def parts_of(part: Any, name: str) -> list[Any]:
    """The parts under a name; none when there is nothing, or no list."""
    parts = field_of(part, name)
    return list(parts) if isinstance(parts, (list, tuple)) else []


def read_arguments(sent: Any) -> Any:
    """Arguments that a provider sends as JSON text. What is not one object is left to the guard."""
    if not isinstance(sent, str):
        return sent
    try:
        read = json.loads(sent)
    except (ValueError, RecursionError):
        return sent
    return read if isinstance(read, dict) else sent


class MessageOptions(TypedDict, total=False):
    """How the calls of one message are made."""

    session: str | None
    turn: int | None
    keyed: bool
    """Whether the ids of the provider are keys: the same message handled twice runs once. Some providers give
    the same ids again and again; leave it off for them."""


def calls_from(
    requests: Iterable[tuple[Any, Any, Any]], principal: Principal | None, **options: Unpack[MessageOptions]
) -> list[Call]:
    """The calls of one message: of each its name, its arguments and the provider's id.

    A provider's id names a call within one conversation, and some providers begin again at `call_0` each
    time. Ours is longer and unique, so that no answer is taken for another; the provider's stands in front.
    Two of one id are refused together by the guard: nobody could tell their answers.
    """
    session, turn = options.get("session"), options.get("turn")
    mark = _new_mark()
    calls: list[Call] = []
    for name, args, given_id in requests:
        id = str(given_id) if given_id else f"call_{len(calls)}"
        key = f"{session}:{id}" if session else id
        key_or_none = key if options.get("keyed") else None
        calls.append(Call(name, args, principal, "agent", session, id + mark, turn, key_or_none))
    return calls


def _new_mark() -> str:
    return _MARK + secrets.token_hex(6)


def provider_id(outcome: Outcome) -> str:
    """The id under which the provider waits for an answer."""
    id, mark, _ = outcome.call_id.rpartition(_MARK)
    return id if mark else outcome.call_id


def unique_call_id(provider_id: str | None) -> str | None:
    """A unique id for a single call of a provider; None lets the engine give one."""
    return provider_id + _new_mark() if provider_id else None


async def run_calls(hr: Handrail, calls: list[Call], dedup: Dedup | None = None) -> list[Outcome]:
    """The calls of one message as one pass through the guard."""
    return await hr.call_many(calls, dedup=dedup) if calls else []


IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""What the models of all providers can see."""


def base64_of(attachment: Attachment) -> str:
    return base64.b64encode(attachment.data or b"").decode("ascii")


def data_url(attachment: Attachment) -> str:
    return f"data:{attachment.mime};base64,{base64_of(attachment)}"


def viewable_attachments(outcome: Outcome, kinds: Collection[str] = IMAGES) -> list[Attachment]:
    """Those that a model can look at: the bytes are here, and of a kind that it takes."""
    return [item for item in outcome.result.attachments if item.data is not None and item.mime in kinds]


def model_text(outcome: Outcome, kinds: Collection[str] = IMAGES) -> str:
    """What the model reads, with a line for each attachment that it cannot look at."""
    viewable = viewable_attachments(outcome, kinds)
    others = [item for item in outcome.result.attachments if item not in viewable]
    return "\n".join([outcome.to_model(), *map(_attachment_line, others)])


def _attachment_line(attachment: Attachment) -> str:
    where = f" at {attachment.ref}" if attachment.ref else ""
    return f"[attached: {attachment.name} ({attachment.mime}){where}]"
