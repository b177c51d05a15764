"""Texts for sentences: values shortened, and how people, agents and sources are called for whoever reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from handrail.core.define.redaction import MASK
from handrail.doors.web.humanize import pluralize
from handrail.doors.web.timeline.entries import FoldedText
from handrail.platform.display_text import one_line, visible_json

SHORT = 160
"""Characters of a text that a sentence holds."""

BRIEF = 40
"""Characters of a value that a sentence holds."""


def shorten(text: str, most: int = SHORT) -> str:
    """A text on one line; of a long one its beginning, and how long it is."""
    head = one_line(text[: 4 * most])
    if len(text) <= 4 * most and len(head) <= most:
        return head
    return f"{head[:most].rstrip()}… ({pluralize(len(text), 'character')} in all)"


def fold_if_long(label: str, text: str, most: int = SHORT) -> tuple[FoldedText, ...]:
    """The whole of a text of which `short` shows the beginning only."""
    return (FoldedText(label, text),) if len(text) > most or "\n" in text.strip() else ()


def describe_value(value: Any, most: int = BRIEF) -> str:
    """A value as a person says it: text in quotes, numbers as they are; of a large one what it is."""
    if value == MASK:
        return "a secret value"
    if isinstance(value, dict) and value:
        return f"an object with {pluralize(len(value), 'entry', 'entries')}"
    if isinstance(value, (list, tuple)) and len(value) > 3:
        return f"a list of {len(value)}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and len(value) > most:
        return f"a text of {pluralize(len(value), 'character')}"
    written = visible_json(value)
    return written if len(written) <= 2 * most else f"a value of {pluralize(len(written), 'character')}"


def describe_type(value: Any) -> str:
    """`the number 5`, `the text "5"`: where kind is what matters."""
    if isinstance(value, bool) or value is None:
        return describe_value(value)
    if isinstance(value, (int, float)):
        return f"the number {describe_value(value)}"
    if isinstance(value, str) and len(value) <= BRIEF and value != MASK:
        return f"the text {describe_value(value)}"
    if isinstance(value, (list, tuple)) and len(value) <= 3:
        return f"the list {describe_value(list(value))}"
    return describe_value(value)


def as_clause(text: str) -> str:
    """A reason as part of a sentence: on one line, without the full stop at its end."""
    clause = shorten(text)
    return clause[:-1] if clause.endswith(".") and not clause.endswith("..") else clause


SOURCE_LABELS = {
    "web": "web page",
    "api": "REST",
    "mcp": "MCP",
    "cli": "command line",
    "job": "job",
    "agent": "agent",
}
"""Through what a call came, as a word of its own."""

_SOURCE_PHRASES = {
    "web": "on the web page",
    "api": "through REST",
    "mcp": "through MCP",
    "cli": "on the command line",
    "job": "as a job",
    "agent": "from an agent loop",
}
_MAX_NAME = 60


@dataclass(frozen=True, slots=True)
class DisplayNames:
    """Who reads, and what people are called."""

    me: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """What people are called, by id."""
    deciders: Mapping[str, str] = field(default_factory=dict)
    """Whose word ended a question, by the question's id, as far as the reader may know."""

    def person(self, user: str | None) -> str:
        if user is None:
            return "somebody"
        return "you" if user == self.me else shorten(self.names.get(user, user), _MAX_NAME)

    def caller(self, user: str | None, agent: str | None) -> str:
        """Whoever made a call: `you`, `Ana`, `agent "ops" for Ana`."""
        if agent is not None:
            named = f"agent “{shorten(agent, _MAX_NAME)}”"
            return named if user is None else f"{named} for {self.person(user)}"
        return "a key" if user is None else self.person(user)

    def through(self, source: str) -> str:
        return source_phrase(source)


def source_phrase(source: str) -> str:
    """Through what a call came, within a sentence: the same on every page."""
    return _SOURCE_PHRASES.get(source) or f"through {shorten(source, _MAX_NAME)}"


def source_label(source: str) -> str:
    return SOURCE_LABELS.get(source) or shorten(source, _MAX_NAME)
