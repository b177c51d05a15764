"""Attachments, for providers that take pictures and documents beside the text of an answer."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from handrail import Outcome
from handrail.ext import Attachment

IMAGES = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""What the models of all providers can see."""


def base64_of(attachment: Attachment) -> str:
    return base64.b64encode(attachment.data or b"").decode("ascii")


def data_url(attachment: Attachment) -> str:
    return f"data:{attachment.mime};base64,{base64_of(attachment)}"


def is_shown(attachment: Attachment, kinds: Iterable[str] = IMAGES) -> bool:
    """Whether a model can look at it: the bytes are here, and of a kind that it takes."""
    return attachment.data is not None and attachment.mime in kinds


def text_of(outcome: Outcome, shown: Iterable[str] = IMAGES) -> str:
    """What the model reads, with a line for each attachment that it cannot look at."""
    kinds = frozenset(shown)
    left = [one for one in outcome.result.attachments if not is_shown(one, kinds)]
    return "\n".join([outcome.to_model(), *map(_line, left)])


def _line(attachment: Attachment) -> str:
    where = f" at {attachment.ref}" if attachment.ref else ""
    return f"[attached: {attachment.name} ({attachment.mime}){where}]"
