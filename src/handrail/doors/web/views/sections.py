"""Blocks on a page: each under its heading, drawn by the renderer of its type."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from htpy import Node, fragment, h3, section

from handrail.core.define.blocks import Block
from handrail.core.define.plain import plain
from handrail.doors.web.views.charts import draw_chart
from handrail.doors.web.views.custom import draw_custom
from handrail.doors.web.views.look import Look
from handrail.doors.web.views.radar import draw_radar
from handrail.doors.web.views.ranking import draw_ranking
from handrail.doors.web.views.summary import draw_summary
from handrail.doors.web.views.text import shown
from handrail.doors.web.views.values import laid_out, rows

_log = logging.getLogger("handrail.views")

Renderer = Callable[[Block, Look], Node]

RENDERERS: Mapping[str, Renderer] = {
    "summary": lambda block, look: draw_summary(block.content, look, block.label),
    "table": lambda block, look: rows(block.key, block.content, look, 0, block.label),
    "chart": lambda block, look: draw_chart(block.content, look, block.label),
    "radar": lambda block, look: draw_radar(block.content, look, block.label),
    "ranking": lambda block, look: draw_ranking(block.content, look, block.label),
    "custom": lambda block, look: draw_custom(block.key, block.content, look, block.label),
    "value": lambda block, look: laid_out(block.content["value"], look),
}


def draw_blocks(blocks: Sequence[Block], look: Look) -> Node:
    """Blocks one under the other; one whose content does not fit its type is shown as it is."""
    return [_safely(block, look.inside(at)) for at, block in enumerate(blocks)]


def _safely(block: Block, look: Look) -> Node:
    try:
        return str(fragment[draw_block(block, look)])
    except Exception:  # the content of an author's own block can have any shape
        _log.exception("the block %r could not be drawn; it is shown as it is", block.key)
        return draw_block(Block("value", block.key, block.label, {"value": plain(block.content)}), look)


def draw_block(block: Block, look: Look) -> Node:
    """One block under its heading."""
    return section(".view-section", id=look.id)[
        h3(".view-heading")[shown(block.label)] if block.label else None,
        RENDERERS[block.type](block, look.inside("part")),
    ]
