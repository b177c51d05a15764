"""Messages of model providers: the calls in them, and the texts and attachments of the answers."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from handrail import Call, Handrail, Outcome, Principal
from handrail.ext import Attachment, Dedup

_MARK = "~"


def field_of(part: Any, name: str) -> Any:
    """A field of a part of a message, which may be JSON data or an object of the provider's package."""
    return part.get(name) if isinstance(part, Mapping) else getattr(part, name, None)


def parts_of(part: Any, name: str) -> list[Any]:
    """The parts under a name; none when there is nothing, or no list."""
    found = field_of(part, name)
    return list(found) if isinstance(found, (list, tuple)) else []


def read_arguments(sent: Any) -> Any:
    """Arguments that a provider sends as JSON text. What is not one object is left to the guard."""
    if not isinstance(sent, str):
        return sent
    try:
        read = json.loads(sent)
    except (ValueError, RecursionError):
        return sent
    return read if isinstance(read, dict) else sent


class MessageCalls:
    """The calls of one message, on behalf of one principal.

    A provider's id names a call within one conversation, and some providers begin again at `call_0` each
    time. Ours is longer and unique, so that no answer is taken for another; the provider's stands in front.
    """

    def __init__(
        self, principal: Principal | None, session: str | None, turn: int | None, keyed: bool
    ) -> None:
        self._principal = principal
        self._session = session
        self._turn = turn
        self._keyed = keyed
        self._mark = _MARK + secrets.token_hex(6)
        self.calls: list[Call] = []

    def add(self, name: Any, args: Any, provider_id: Any) -> None:
        """One more call. Two of one id are refused together by the guard: nobody could tell their answers."""
        theirs = str(provider_id) if provider_id else f"call_{len(self.calls)}"
        key = f"{self._session}:{theirs}" if self._session else theirs
        self.calls.append(
            Call(
                name,
                args,
                self._principal,
                "agent",
                self._session,
                theirs + self._mark,
                self._turn,
                key if self._keyed else None,
            )
        )


def provider_id(outcome: Outcome) -> str:
    """The id under which the provider waits for an answer."""
    theirs, mark, _ = outcome.call_id.rpartition(_MARK)
    return theirs if mark else outcome.call_id


def unique_call_id(theirs: str | None) -> str | None:
    """A unique id for a single call of a provider; None lets the engine give one."""
    return f"{theirs}{_MARK}{secrets.token_hex(6)}" if theirs else None


async def run_calls(
    hr: Handrail, calls: list[Call], dedup: Dedup | None = None, limit: int | None = None
) -> list[Outcome]:
    """The calls of one message as one pass through the guard."""
    return await hr.call_many(calls, dedup=dedup, limit=limit) if calls else []


IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""What the models of all providers can see."""


def base64_of(attachment: Attachment) -> str:
    return base64.b64encode(attachment.data or b"").decode("ascii")


def data_url(attachment: Attachment) -> str:
    return f"data:{attachment.mime};base64,{base64_of(attachment)}"


def is_viewable(attachment: Attachment, kinds: Iterable[str] = IMAGES) -> bool:
    """Whether a model can look at it: the bytes are here, and of a kind that it takes."""
    return attachment.data is not None and attachment.mime in kinds


def model_text(outcome: Outcome, shown: Iterable[str] = IMAGES) -> str:
    """What the model reads, with a line for each attachment that it cannot look at."""
    kinds = frozenset(shown)
    left = [one for one in outcome.result.attachments if not is_viewable(one, kinds)]
    return "\n".join([outcome.to_model(), *map(_attachment_line, left)])


def _attachment_line(attachment: Attachment) -> str:
    where = f" at {attachment.ref}" if attachment.ref else ""
    return f"[attached: {attachment.name} ({attachment.mime}){where}]"
