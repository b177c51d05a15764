"""Line: one sentence of a story, and the event that it tells."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.core.tell.events import Event
from handrail.doors.web.story.changes import Change


@dataclass(frozen=True, slots=True)
class Fold:
    """A text that is too long for a sentence: shown whole, once it is wanted."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class File:
    """A file that came with a result."""

    number: int
    """Its place among the attachments of the result."""
    name: str
    mime: str


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence. A line of output tells several events: the newest one, and how many."""

    event: Event
    said: str
    icon: str
    tone: str = "quiet"
    """`quiet`, `good`, `warn` or `bad`."""
    opens: bool = False
    """Whether the call begins here: its line leads to the call."""
    more: tuple[str, ...] = ()
    """Further sentences of less weight."""
    changes: tuple[Change, ...] = ()
    folds: tuple[Fold, ...] = ()
    files: tuple[File, ...] = ()
    events: int = 1

    @property
    def depth(self) -> int:
        """How deep the call is nested in others."""
        return self.event.call.depth
