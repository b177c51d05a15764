"""Custom blocks: a tool's own HTML, in a frame without an origin, without the network, without the page.

The HTML is never a part of our page. It is served from an address of its own under a policy that holds also
for whoever opens that address directly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from htpy import Node, div, iframe

from handrail.core.define.blocks import Block
from handrail.doors.visible import one_line
from handrail.doors.web.views.look import Look, quoted
from handrail.doors.web.views.text import folded, note

_CLOSED = "default-src 'none'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Frame:
    """What the address of a custom block answers."""

    html: str
    headers: Mapping[str, str]


def custom_frame(blocks: list[Block], section: str, *, ancestors: str = "'self'") -> Frame | None:
    """The page of a custom block; None where the result has no such block.

    `blocks` are those of `tool_output_to_blocks`; `ancestors` says which pages may hold the frame.
    """
    block = next((one for one in blocks if one.type == "custom" and one.key == section), None)
    if block is None:
        return None
    scripts = block.content["scripts"]
    allowed = "style-src 'unsafe-inline'" + ("; script-src 'unsafe-inline'" if scripts else "")
    sandbox = "sandbox allow-scripts" if scripts else "sandbox"
    return Frame(
        _whole(block.content["html"]),
        {
            "Content-Type": "text/html; charset=utf-8",
            "Content-Security-Policy": f"{_CLOSED}; {allowed}; frame-ancestors {ancestors}; {sandbox}",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "private, no-store",
        },
    )


def _whole(html: str) -> str:
    """A document; halves of surrogate pairs can not be sent."""
    text = html.encode("utf-8", "replace").decode()
    return text if text.lstrip()[:9].lower() == "<!doctype" else f"<!doctype html><meta charset=utf-8>{text}"


def draw_custom(key: str, content: Mapping[str, Any], look: Look, label: str) -> Node:
    """The frame, where there is an address for it; otherwise the HTML as text."""
    if look.frames is None:
        return div[
            note("This part is a page of its own, which is not to be had here."), folded(content["html"])
        ]
    return iframe(
        ".view-frame",
        src=f"{look.frames}/{quoted(key)}",
        sandbox="allow-scripts" if content["scripts"] else "",
        title=one_line(label) or "Part of the result",
        height=str(content["height"]),
        width="100%",
        loading="lazy",
        referrerpolicy="no-referrer",
    )
