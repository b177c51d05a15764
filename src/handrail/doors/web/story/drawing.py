"""Drawing: a story as a list of lines, each with its time, and its exact event one click away."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from urllib.parse import quote

import htpy as h

from handrail.core.tell.events import Event
from handrail.doors.visible import exact, one_line, visible
from handrail.doors.web.icons import icon
from handrail.doors.web.story.changes import MISSING, Change
from handrail.doors.web.story.line import File, Fold, Line
from handrail.doors.web.story.texts import short
from handrail.doors.web.words import when

Address = Callable[[Event], str]
"""Where the exact event can be read."""
FOLDED = 20_000
"""Characters of a fold that stand in the page; what is longer is in the exact event, whole."""


def story(lines: Sequence[Line], now: float, address: Address, *, linked: bool = False) -> h.Element:
    """The whole list; with `linked`, each call leads to its own page."""
    return h.ol(".story")[story_lines(lines, now, address, linked=linked)]


def story_lines(
    lines: Sequence[Line], now: float, address: Address, *, linked: bool = False
) -> list[h.Element]:
    drawn: list[h.Element] = []
    at, before = 0, None
    for one in lines:
        at = at + 1 if one.event is before else 0
        before = one.event
        drawn.append(_line(one, at, now, address, linked))
    return drawn


def run_url(call_id: str) -> str:
    return f"/runs/{quote(call_id, safe='')}"


def _line(line: Line, at: int, now: float, address: Address, linked: bool) -> h.Element:
    event = line.event
    said: h.Node = line.said
    if linked and line.opens and event.call_id:
        said = h.a(".story-call", href=run_url(event.call_id))[line.said]
    depth = f" story-deep-{min(line.depth, 4)}" if line.depth else ""
    mark = f"{event.session}/{event.seq}/{at}"
    return h.li(id=f"line-{_key(mark)}", class_=f"story-line story-{line.tone}{depth}", data_seq=event.seq)[
        h.span(".story-icon")[icon(line.icon)],
        h.div(".story-body")[
            h.p(".story-said")[said],
            (h.p(".story-more")[one] for one in line.more),
            change_table(line.changes) if line.changes else None,
            (_fold(one) for one in line.folds),
            _files(event, line.files) if line.files else None,
        ],
        h.div(".story-side")[when(event.at, now), _exact(line, address)],
    ]


def when_opened(url: str) -> dict[str, str]:
    """The attributes of a fold that asks for its `.fold-body` once it is opened."""
    return {
        "hx-get": url,
        "hx-trigger": "toggle once",
        "hx-target": "find .fold-body",
        "hx-swap": "innerHTML",
    }


def _exact(line: Line, address: Address) -> h.Element:
    """The event as it is recorded, asked for when it is opened. Without script it is a page of its own."""
    url = address(line.event)
    return h.details(".story-exact", when_opened(url))[
        h.summary(title="The exact event")[icon("braces"), h.span(".sr-only")[f"Exact event: {line.said}"]],
        h.div(".fold-body")[h.a(href=url)["Read the exact event"]],
    ]


def _fold(one: Fold) -> h.Element:
    text, rest = one.text[:FOLDED], len(one.text) - FOLDED
    size = f"{len(one.text):,}".replace(",", "\u202f")
    return h.details(".story-fold")[
        h.summary[f"{one.label} ({size} characters)"],
        h.pre(tabindex="0")[visible(text)],
        h.p(".quiet")[f"{rest:,} more characters are in the exact event."] if rest > 0 else None,
    ]


def change_table(found: Sequence[Change]) -> h.Element:
    """What an edit changed: before and after, exactly."""
    return h.dl(".story-changes")[
        (
            (
                h.dt[short(one.path, 120) or "arguments"],
                h.dd[
                    _value(one.before, "story-before"),
                    icon("arrow-right", "became"),
                    _value(one.after, "story-after"),
                ],
            )
            for one in found
        )
    ]


def _value(value: object, look: str) -> h.Element:
    if value is MISSING:
        return h.span(class_=f"{look} quiet")["nothing"]
    return h.code(class_=look)[short(exact(value), 2_000)]


def _files(event: Event, files: Sequence[File]) -> h.Element:
    base = run_url(event.call_id)
    return h.ul(".story-files")[
        (
            h.li[
                h.a(href=f"{base}/files/{one.number}", download=True)[
                    icon("paperclip"), one_line(one.name) or "file"
                ],
                " ",
                h.span(".quiet")[one_line(one.mime)],
            ]
            for one in files
        )
    ]


def _key(text: str) -> str:
    """Any id as part of an element's id."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
