"""TimelineEntry: one sentence about one event, with the changes, long texts and files that belong to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from handrail.core.tell.events import Event

MAX_CHANGES = 200
"""Changes that are told one by one."""


class MissingValue:
    """Where there was nothing."""

    def __repr__(self) -> str:
        return "missing"


MISSING = MissingValue()


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One place that differs; `MISSING` stands where there was none, or is none any more."""

    path: str
    before: Any
    after: Any


def value_changes(before: Any, after: Any, path: str = "") -> tuple[ValueChange, ...]:
    """What an edit changed, in the order of the new value; beyond many, the last one tells of the rest."""
    changes = list(islice(_differences(before, after, path), MAX_CHANGES + 1))
    if len(changes) > MAX_CHANGES:
        return (*changes[: MAX_CHANGES - 1], ValueChange(path, before, after))
    return tuple(changes)


def _differences(before: Any, after: Any, path: str) -> Iterator[ValueChange]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in (*after, *(name for name in before if name not in after)):
            below = f"{path}.{name}" if path else str(name)
            yield from _differences(before.get(name, MISSING), after.get(name, MISSING), below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(old, new, f"{path}.{at}" if path else str(at))
    elif not _same_json(before, after):
        yield ValueChange(path, before, after)


def _same_json(before: Any, after: Any) -> bool:
    """Equal as JSON: `true` is not 1, and 1 is 1.0."""
    if isinstance(before, bool) is not isinstance(after, bool):
        return False
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        pairs = zip(before, after, strict=False)
        return len(before) == len(after) and all(_same_json(old, new) for old, new in pairs)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return before.keys() == after.keys() and all(_same_json(before[name], after[name]) for name in before)
    return bool(before == after)


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text that is too long for a sentence: shown whole, once it is wanted."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class EntryFile:
    """A file that came with a result."""

    number: int
    """Its place among the attachments of the result."""
    name: str
    mime: str


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One sentence. A line of output tells several events: the newest one, and how many."""

    event: Event
    sentence: str
    icon: str
    tone: str = "quiet"
    """`quiet`, `good`, `warn` or `bad`."""
    opens: bool = False
    """Whether the call begins here: its line leads to the call."""
    more: tuple[str, ...] = ()
    """Further sentences of less weight."""
    changes: tuple[ValueChange, ...] = ()
    folds: tuple[FoldedText, ...] = ()
    files: tuple[EntryFile, ...] = ()
    events: int = 1

    @property
    def depth(self) -> int:
        """How deep the call is nested in others."""
        return self.event.call.depth
