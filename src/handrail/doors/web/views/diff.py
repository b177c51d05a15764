"""A diff on a page: added and removed lines by sign, element and colour, with what is said around them."""

from __future__ import annotations

from itertools import groupby

from htpy import Node, code, del_, ins, pre, span

from handrail.doors.diffs import Kind, Line, diff_lines, has_diff
from handrail.doors.web.views.text import block_of_text, shown

MOST = 100_000
"""Characters of a text in which lines are told apart; a longer one is shown as any other."""

_ELEMENTS = {"added": ins(".view-added"), "removed": del_(".view-removed"), "file": span(".view-file")}


def block_of_output(text: str) -> Node:
    """What a tool printed, its diffs told apart from the words."""
    lines = diff_lines(text) if len(text) <= MOST else []
    if not has_diff(lines):
        return block_of_text(text)
    return [
        _words([line.text for line in found]) if words else _diff(list(found))
        for words, found in groupby(lines, lambda line: line.kind == "text")
    ]


def _words(lines: list[str]) -> Node:
    text = "\n".join(lines).strip("\n")
    return block_of_text(text) if text else None


def _diff(lines: list[Line]) -> Node:
    return pre(".view-text.view-printed.view-diff", tabindex="0", aria_label="What changes, line by line")[
        code[(_line(line.kind, line.text) for line in lines)]
    ]


def _line(kind: Kind, text: str) -> Node:
    return _ELEMENTS.get(kind, span(class_=f"view-{kind}"))[shown(text), "\n"]
