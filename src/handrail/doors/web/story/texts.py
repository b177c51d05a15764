"""Texts: what callers and tools wrote, fit for a sentence.

What cannot be seen is written out, what is long is named with its length; nothing is cut without saying so.
"""

from __future__ import annotations

from typing import Any

from handrail.core.define.secrecy import MASK
from handrail.doors.visible import exact, one_line
from handrail.doors.web.story.line import Fold
from handrail.doors.web.words import count

SHORT = 160
"""Characters of a text that a sentence holds."""
BRIEF = 40
"""Characters of a value that a sentence holds."""


def short(text: str, most: int = SHORT) -> str:
    """A text on one line; of a long one its beginning, and how long it is."""
    head = one_line(text[: 4 * most])
    if len(text) <= 4 * most and len(head) <= most:
        return head
    return f"{head[:most].rstrip()}… ({count(len(text), 'character')} in all)"


def fold_of(label: str, text: str, most: int = SHORT) -> tuple[Fold, ...]:
    """The whole of a text of which `short` shows the beginning only."""
    return (Fold(label, text),) if len(text) > most or "\n" in text.strip() else ()


def value_words(value: Any, most: int = BRIEF) -> str:
    """A value as a person says it: text in quotes, numbers as they are; of a large one what it is."""
    if value == MASK:
        return "a secret value"
    if isinstance(value, dict) and value:
        return f"an object with {count(len(value), 'entry', 'entries')}"
    if isinstance(value, (list, tuple)) and len(value) > 3:
        return f"a list of {len(value)}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and len(value) > most:
        return f"a text of {count(len(value), 'character')}"
    written = exact(value)
    return written if len(written) <= 2 * most else f"a value of {count(len(written), 'character')}"


def kind_words(value: Any) -> str:
    """`the number 5`, `the text "5"`: where kind is what matters."""
    if isinstance(value, bool) or value is None:
        return value_words(value)
    if isinstance(value, (int, float)):
        return f"the number {value_words(value)}"
    if isinstance(value, str) and len(value) <= BRIEF and value != MASK:
        return f"the text {value_words(value)}"
    if isinstance(value, (list, tuple)) and len(value) <= 3:
        return f"the list {value_words(list(value))}"
    return value_words(value)


def sentence(text: str) -> str:
    """A reason as part of a sentence: on one line, without the full stop at its end."""
    said = short(text)
    return said[:-1] if said.endswith(".") and not said.endswith("..") else said
