"""A timeline as a list of entries, each with its time, and its exact event one click away."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from urllib.parse import quote

import htpy as h

from handrail.core.tell.events import Event
from handrail.doors.web.humanize import time_ago
from handrail.doors.web.icons import icon
from handrail.doors.web.timeline.entries import MISSING, EntryFile, FoldedText, TimelineEntry, ValueChange
from handrail.doors.web.timeline.texts import shorten
from handrail.platform.display_text import one_line, visible, visible_json

EventUrl = Callable[[Event], str]
"""Where the exact event can be read."""
MAX_FOLDED = 20_000
"""Characters of a fold that stand in the page; what is longer is in the exact event, whole."""


def render_timeline(
    entries: Sequence[TimelineEntry], now: float, address: EventUrl, *, linked: bool = False
) -> h.Element:
    """The whole list; with `linked`, each call leads to its own page."""
    return h.ol(".story")[render_entries(entries, now, address, linked=linked)]


def render_entries(
    entries: Sequence[TimelineEntry], now: float, address: EventUrl, *, linked: bool = False
) -> list[h.Element]:
    drawn: list[h.Element] = []
    at, before = 0, None
    for entry in entries:
        at = at + 1 if entry.event is before else 0
        before = entry.event
        drawn.append(_line(entry, at, now, address, linked))
    return drawn


def run_url(call_id: str) -> str:
    return f"/runs/{quote(call_id, safe='')}"


def _line(entry: TimelineEntry, at: int, now: float, address: EventUrl, linked: bool) -> h.Element:
    event = entry.event
    sentence: h.Node = entry.sentence
    if linked and entry.opens and event.call_id:
        sentence = h.a(".story-call", href=run_url(event.call_id))[entry.sentence]
    depth = f" story-deep-{min(entry.depth, 4)}" if entry.depth else ""
    mark = f"{event.session}/{event.seq}/{at}"
    return h.li(id=f"line-{_key(mark)}", class_=f"story-line story-{entry.tone}{depth}", data_seq=event.seq)[
        h.span(".story-icon")[icon(entry.icon)],
        h.div(".story-body")[
            h.p(".story-said")[sentence],
            (h.p(".story-more")[sentence] for sentence in entry.more),
            change_table(entry.changes) if entry.changes else None,
            map(_fold, entry.folds),
            _files(event, entry.files) if entry.files else None,
        ],
        h.div(".story-side")[time_ago(event.at, now), _exact(entry, address)],
    ]


def load_on_open(url: str) -> dict[str, str]:
    """The attributes of a fold that asks for its `.fold-body` once it is opened."""
    return {
        "hx-get": url,
        "hx-trigger": "toggle once",
        "hx-target": "find .fold-body",
        "hx-swap": "innerHTML",
    }


def _exact(entry: TimelineEntry, address: EventUrl) -> h.Element:
    """The event as it is recorded, asked for when it is opened. Without script it is a page of its own."""
    url = address(entry.event)
    return h.details(".story-exact", load_on_open(url))[
        h.summary(title="The exact event")[
            icon("braces"), h.span(".sr-only")[f"Exact event: {entry.sentence}"]
        ],
        h.div(".fold-body")[h.a(href=url)["Read the exact event"]],
    ]


def _fold(fold: FoldedText) -> h.Element:
    text, rest = fold.text[:MAX_FOLDED], len(fold.text) - MAX_FOLDED
    size = f"{len(fold.text):,}".replace(",", "\u202f")
    return h.details(".story-fold")[
        h.summary[f"{fold.label} ({size} characters)"],
        h.pre(tabindex="0")[visible(text)],
        h.p(".quiet")[f"{rest:,} more characters are in the exact event."] if rest > 0 else None,
    ]


def change_table(changes: Sequence[ValueChange]) -> h.Element:
    """What an edit changed: before and after, exactly."""
    return h.dl(".story-changes")[
        (
            (
                h.dt[shorten(change.path, 120) or "arguments"],
                h.dd[
                    _value(change.before, "story-before"),
                    icon("arrow-right", "became"),
                    _value(change.after, "story-after"),
                ],
            )
            for change in changes
        )
    ]


def _value(value: object, look: str) -> h.Element:
    if value is MISSING:
        return h.span(class_=f"{look} quiet")["nothing"]
    return h.code(class_=look)[shorten(visible_json(value), 2_000)]


def _files(event: Event, files: Sequence[EntryFile]) -> h.Element:
    base = run_url(event.call_id)
    return h.ul(".story-files")[
        (
            h.li[
                h.a(href=f"{base}/files/{file.number}", download=True)[
                    icon("paperclip"), one_line(file.name) or "file"
                ],
                " ",
                h.span(".quiet")[one_line(file.mime)],
            ]
            for file in files
        )
    ]


def _key(text: str) -> str:
    """Any id as part of an element's id."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
