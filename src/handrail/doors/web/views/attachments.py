"""Attachments of a result: what they are called, what they are, and where they are to be had."""

from __future__ import annotations

from collections.abc import Sequence

from htpy import Node, a, li, span, ul

from handrail.core.define.result import Attachment
from handrail.doors.web.views.figures import is_web_address
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.text import shown

_SIZES = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))


def draw_attachments(attachments: Sequence[Attachment], look: Look) -> Node:
    """Files beside a result; nothing is fetched until somebody asks for it."""
    if not attachments:
        return None
    return ul(".view-files", aria_label="Files")[
        (
            li[_name(at, one, look), " ", span(".view-quiet")[_about(one)]]
            for at, one in enumerate(attachments)
        )
    ]


def _name(at: int, one: Attachment, look: Look) -> Node:
    words = shown(one.name) if one.name.strip() else "file without a name"
    if look.files is not None:
        return a(href=f"{look.files}/{at}", download="")[words]
    if one.ref is not None and is_web_address(one.ref):
        return a(href=one.ref, rel="noopener noreferrer nofollow", target="_blank")[words]
    return span[words]


def _about(one: Attachment) -> Node:
    return [shown(one.mime), *([f", {size(len(one.data))}"] if one.data is not None else [])]


def size(count: int) -> str:
    """A number of bytes, in the unit that says it shortest."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{count / unit:.1f}\u00a0{name}"
    return f"{count}\u00a0bytes"
