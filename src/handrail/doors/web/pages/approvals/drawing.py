"""drawing: exact values on a page. Everything is text; what is odd is marked, what is long is folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import htpy as h

from handrail.doors.web.pages.approvals.differences import Change
from handrail.doors.web.pages.approvals.exact import Row, literal
from handrail.doors.web.pages.approvals.odd import Piece, pieces, reads_backwards
from handrail.doors.web.words import count

LONG = 320
"""Characters beyond which a value is folded."""
MANY = 30
"""Rows beyond which the rest is folded."""
_START, _END = 160, 60
_BRIEF = 80


def exact_text(text: str) -> h.Element:
    """A JSON text as it is, with what cannot be seen written out."""
    return h.code(".ask-exact", dir="ltr")[list(_marked(pieces(text)))]


def sentence(text: str) -> h.Element:
    """Words that may quote what somebody sent, with what cannot be seen written out."""
    return h.span(dir="ltr")[list(_marked(pieces(text)))]


def _marked(found: Iterable[Piece]) -> Iterator[h.Node]:
    for piece in found:
        if piece.kind == "plain":
            yield piece.text
        else:
            yield h.mark(class_=f"ask-{piece.kind}", title=piece.about)[piece.text]
            if piece.text == "\\n":
                yield "\n"


def value(shown: Row) -> h.Node:
    """One value: whole, or folded with its length."""
    if shown.masked:
        return h.span(".ask-masked")[h.code(".ask-exact")[shown.literal], " a secret, shown to nobody"]
    text = shown.literal
    drawn: h.Node = exact_text(text)
    if len(text) > LONG:
        head, tail = folded(text)
        drawn = h.details(".ask-long")[
            h.summary[
                h.code(".ask-start", dir="ltr")[list(_marked(head)), " … ", list(_marked(tail))],
                h.span(".quiet")[f" {_length(shown)}, open to read all of it"],
            ],
            drawn,
        ]
    return [
        drawn,
        h.span(".ask-choice")[shown.choice] if shown.choice else None,
        _natural(shown),
    ]


def folded(text: str) -> tuple[list[Piece], list[Piece]]:
    """The beginning and the end of a long JSON text, marked as in the whole. Only a plain piece is cut."""
    found = list(pieces(text))
    head = _beginning(found, _START)
    tail, left = _fitting(reversed(found), _END)
    if left and found[-1 - len(tail)].kind == "plain":
        tail.append(Piece(_end(found[-1 - len(tail)].text, left)))
    return head, tail[::-1]


def brief(value_: object) -> h.Element:
    """The beginning of a value on one line of a list, marked as on its card."""
    shown = value_[: 2 * _BRIEF] if isinstance(value_, str) else value_
    found = list(pieces(literal(shown)))
    head = _beginning(found, _BRIEF)
    whole = head == found and shown == value_
    return h.code(".ask-start", dir="ltr")[list(_marked(head)), None if whole else "…"]


def _beginning(found: list[Piece], most: int) -> list[Piece]:
    head, left = _fitting(found, most)
    if left and len(head) < len(found) and found[len(head)].kind == "plain":
        head.append(Piece(_without_half(found[len(head)].text[:left])))
    return head


def _fitting(found: Iterable[Piece], most: int) -> tuple[list[Piece], int]:
    """The first pieces that fit whole, and how many characters are left."""
    kept: list[Piece] = []
    for piece in found:
        if len(piece.text) > most:
            break
        kept.append(piece)
        most -= len(piece.text)
    return kept, most


def _without_half(text: str) -> str:
    """A plain text without half an escape at its end; `\\"` and a doubled backslash are all it can hold."""
    return text[:-1] if _is_half(text) else text


def _end(text: str, most: int) -> str:
    return text[len(text) - most + _is_half(text[:-most]) :]


def _is_half(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def _length(shown: Row) -> str:
    if isinstance(shown.value, str):
        return count(len(shown.value), "character")
    return count(len(shown.value), "value") if isinstance(shown.value, list) else f"{len(shown.literal)} long"


def _natural(shown: Row) -> h.Node:
    """Text that runs from right to left, also as its readers read it."""
    if not isinstance(shown.value, str) or not reads_backwards(shown.value):
        return None
    return h.details(".ask-natural")[
        h.summary["Shown letter by letter from left to right. As it is read"],
        h.bdi(dir="auto")["".join(one for one in shown.value if one.isprintable())],
    ]


def table(shown: list[Row]) -> h.Node:
    """Values with their names: the first ones, and the rest in a fold."""
    if len(shown) <= MANY:
        return _list(shown)
    more = shown[MANY:]
    return [
        _list(shown[:MANY]),
        h.details(".ask-rest")[
            h.summary[f"{count(len(more), 'more value')}, open to read them"], _list(more)
        ],
    ]


def _list(shown: list[Row]) -> h.Element:
    return h.dl(".ask-values")[(h.div[h.dt[name(row)], h.dd[value(row)]] for row in shown)]


def name(shown: Row) -> h.Node:
    """What a value is called, and its exact place."""
    path = h.code(".ask-name", dir="ltr")[list(_marked(pieces(shown.path)))]
    return [h.span(".ask-label")[shown.label], " ", path] if shown.label else path


def changes(found: list[Change]) -> h.Element:
    """What an edit changes: `status: "archived" → "inactive"`."""
    return h.dl(".ask-values.ask-changes")[(h.div[h.dt[name(one.row)], h.dd[_change(one)]] for one in found)]


def _change(one: Change) -> h.Node:
    arrow = h.span(".ask-arrow")[h.span(".sr-only")[" becomes "], h.span(aria_hidden="true")[" → "]]
    if one.before is None:
        return ["added ", h.ins[value(one.row)]]
    if one.after is None:
        return ["left out, was ", h.del_[value(one.row)]]
    return [h.del_[value(one.before)], arrow, h.ins[value(one.after)]]


def plain(value_: object) -> h.Element:
    """A value inside a sentence."""
    return exact_text(literal(value_))
