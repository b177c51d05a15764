"""Rules about guidance: whoever may change something is told when to, when not to, and what to try first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from handrail.conformance.rule import Problem
from handrail.core.define.tool import Tool

_PARTS = {
    "when to use it": r"use[ds]?|call|run|choose|pick|when|whenever|if|once|after|before|for",
    "when not to": r"not|never|no|none|nothing|nor|only|unless|except|avoid|instead|rather|without|outside|"
    r"cannot|(?:do|does|is|are|ca|wo)n['’]t",
    "what cheaper or safer tool comes first": r"first|before|beforehand|instead|rather|prefer|try|cheaper|"
    r"safer|preview|dry run|start with|[a-z_]\w*\.[A-Za-z]\w+|`[^`]+`",
}
_SAYS = {part: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) for part, words in _PARTS.items()}
_REMEDY = (
    "write it in the paragraphs after the first of the docstring, in `guidance`, or in `<tool id>.txt`: "
    "“Use it when ... Not for ... Call x.y first.”"
)


def destructive_without(tool: Tool) -> Iterator[Problem]:
    """Certain, and dear: an agent that was told of nothing safer destroys what it need not."""
    if _is_destructive(tool) and not tool.guidance:
        yield "it can destroy something and has no guidance", _REMEDY


def incomplete(tool: Tool) -> Iterator[Problem]:
    """The words are English ones, and prose can say the same without them: a warning."""
    if tool.level not in ("write", "destructive") and not _is_destructive(tool):
        return
    if not tool.guidance:
        if not _is_destructive(tool):
            yield "it changes something and has no guidance", _REMEDY
        return
    missing = [part for part, says in _SAYS.items() if not says.search(tool.guidance)]
    if missing:
        yield f"its guidance does not say {', nor '.join(missing)}", _REMEDY


def _is_destructive(tool: Tool) -> bool:
    return tool.level == "destructive" or tool.danger == "dangerous"
