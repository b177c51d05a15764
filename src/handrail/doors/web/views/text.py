"""Text on a page: exact, with what cannot be seen written out, and folded where it is long, never cut."""

from __future__ import annotations

import re
import unicodedata

from htpy import Node, details, p, pre, span, summary

from handrail.doors.visible import visible

LONG = 600
"""Characters from which text is folded."""
LINES = 12
_HEAD = 120
_PRINTED = 10_000
"""Characters of several lines that are shown at once; they scroll."""

_HIDDEN = re.compile(r"[^\n\t\x20-\x7e]")


def shown(text: str) -> Node:
    """Text in which every character can be seen; one that is written out is marked and says its name."""
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    parts: list[Node] = []
    start = 0
    for hit in _HIDDEN.finditer(text):
        one = hit.group()
        written = visible(one)
        if written != one:
            parts += [text[start : hit.start()], span(".view-char", title=_name(one))[written]]
            start = hit.end()
    return [*parts, text[start:]]


def _name(one: str) -> str:
    return unicodedata.name(one, f"U+{ord(one):04X}").capitalize()


def paragraph(text: str) -> Node:
    """Text of any length."""
    if is_long(text):
        return folded(text)
    if "\n" in text or "\t" in text:
        return pre(".view-text")[shown(text)]
    return shown(text)


def block_of_text(text: str) -> Node:
    """Text that stands alone. Several lines are set as a terminal would: columns and diffs stay in line."""
    if "\n" not in text.rstrip("\n"):
        return folded(text) if is_long(text) else pre(".view-text")[shown(text)]
    if len(text) > _PRINTED:
        return folded(text)
    return pre(".view-text.view-printed", tabindex="0")[shown(text)]


def folded(text: str) -> Node:
    """Long text: its beginning, its length, and the whole one click away."""
    head = " ".join(text[: _HEAD * 2].split())[:_HEAD]
    lines = text.count("\n") + 1
    size = f"{len(text):,} characters" + (f", {lines:,} lines" if lines > 1 else "")
    return details(".view-fold")[
        summary[span(".view-fold-head")[shown(head), "…"], " ", span(".view-quiet")[size]],
        pre(".view-text", tabindex="0")[shown(text)],
    ]


def is_long(text: str) -> bool:
    return len(text) > LONG or text.count("\n") > LINES


def quiet(words: str, kind: str = "") -> Node:
    """What is said in place of a value."""
    return span(f".view-quiet{kind}")[words]


def note(words: str) -> Node:
    """What is said about a part."""
    return p(".view-note")[words]
