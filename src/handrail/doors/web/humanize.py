"""Times, durations, counts, levels and statuses as a person reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import htpy as h

from handrail.core.define.levels import Danger, Level
from handrail.doors.web.icons import icon
from handrail.platform.display_text import one_line

_MEMBER = re.compile(r"user_[0-9a-f]{12}_[0-9]+\Z")
"""The id of somebody who was once added to a tenant; others are as somebody wrote them."""
_STEPS = ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"), (7 * 86_400, 86_400, "d"))


def relative_time(at: float, now: float) -> str:
    """How long ago, or in how long: `2 min ago`, `in 23 h`, `just now`; beyond a week the date."""
    gap = now - at
    if abs(gap) < 5:
        return "just now"
    for below, unit, word in _STEPS:
        if abs(gap) < below:
            count = f"{int(abs(gap) // unit)} {word}"
            return f"{count} ago" if gap > 0 else f"in {count}"
    day = datetime.fromtimestamp(at, UTC)
    return f"{day.day} {day:%b %Y}"


def time_ago(at: float, now: float) -> h.Element:
    """A time as people say it, with the exact one on hover."""
    exact = datetime.fromtimestamp(at, UTC)
    return h.time(".when", datetime=exact.isoformat(), title=f"{exact:%Y-%m-%d %H:%M:%S} UTC")[
        relative_time(at, now)
    ]


def duration(seconds: float) -> str:
    """How long something took: `84 ms`, `1.2 s`, `3 min 5 s`, `2 h 1 min`; never nothing."""
    if seconds < 1:
        return f"{round(seconds * 1000) or 'under 1'} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3_600:
        return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"
    return f"{seconds // 3_600:.0f} h {seconds % 3_600 // 60:.0f} min"


class StatusLabel(NamedTuple):
    """How something stands, for a badge."""

    word: str
    icon: str
    tone: str
    """`quiet`, `good`, `warn` or `bad`."""


STATUS_LABELS = {
    "running": StatusLabel("running", "loader", "quiet"),
    "completed": StatusLabel("done", "check", "good"),
    "failed": StatusLabel("failed", "x", "bad"),
    "refused": StatusLabel("not allowed", "ban", "bad"),
    "pending": StatusLabel("needs approval", "hand", "warn"),
    "queued": StatusLabel("planned", "list-todo", "quiet"),
    "duplicate": StatusLabel("done before", "copy", "quiet"),
    "cancelled": StatusLabel("cancelled", "circle-slash", "quiet"),
    "needs_review": StatusLabel("needs a look", "circle-question-mark", "warn"),
    "approved": StatusLabel("approved", "check", "good"),
    "rejected": StatusLabel("rejected", "x", "bad"),
    "expired": StatusLabel("expired", "timer-off", "quiet"),
    "responded": StatusLabel("answered", "message-square", "good"),
}
"""Of calls, runs and approvals, by their status."""

_LEVELS: dict[Level, tuple[str, str]] = {
    "read": ("eye", "quiet"),
    "draft": ("pencil-line", "quiet"),
    "write": ("pencil", "warn"),
    "destructive": ("trash", "bad"),
}


def status_badge(status: str) -> h.Element:
    """A status as a badge: a word, an icon and a colour."""
    label = STATUS_LABELS.get(status) or StatusLabel(status.replace("_", " "), "circle", "quiet")
    return h.span(class_=f"mark mark-{label.tone}")[icon(label.icon), label.word]


def level_badge(level: Level, danger: Danger) -> h.Element:
    """How grave a tool is: never by colour alone."""
    name, tone = _LEVELS[level]
    if danger == "dangerous":
        tone = "bad"
    elif danger == "moderate" and tone == "quiet":
        tone = "warn"
    return h.span(class_=f"mark mark-{tone}")[icon(name), f"{level} · {danger}"]


def display_name(user: str, names: Mapping[str, str]) -> str:
    """What somebody is called. Whoever was never a member, such as `local` at a terminal, has only an id."""
    return names.get(user) or ("somebody who left" if _MEMBER.match(user) else one_line(user))


def capitalize(text: str) -> str:
    """The same with its first letter large, and nothing else changed."""
    return text[:1].upper() + text[1:]


def pluralize(number: int, singular: str, plural: str | None = None) -> str:
    """`1 tool`, `3 tools`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}".replace(",", "\u202f")
