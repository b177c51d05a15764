"""Exact values on a card: rows that hold the whole value, what an edit changes, how both look."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import htpy as h

from handrail.core.define.redaction import MASK
from handrail.core.define.schema import JsonSchema, branches
from handrail.doors.web.humanize import pluralize
from handrail.doors.web.pages.approvals.confusables import TextPiece, is_right_to_left, text_pieces

ValuePath = tuple[str | int, ...]
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_SPACES = re.compile(r"^ +| +$|(?<!\\n)(?<! ) {2,}")
_SPACE = "\\u0020"
_INDENTED = re.compile(r" {2,24}(?=[^ ])")


class ValueRow(NamedTuple):
    """One value and where it stands."""

    place: ValuePath
    value: Any
    label: str | None = None
    """What the schema calls it."""
    choice: str | None = None
    """What the schema calls this very value."""

    @property
    def path(self) -> str:
        return path_text(self.place)

    @property
    def literal(self) -> str:
        return json_literal(self.value)

    @property
    def masked(self) -> bool:
        return bool(self.value == MASK)


def value_rows(value: Any, schema: JsonSchema | None = None) -> list[ValueRow]:
    """A value as rows. Objects, and lists that hold any, are taken apart; an empty one is a row itself."""
    root = schema or {}
    return list(_rows(value, (), [root], root))


def _rows(value: Any, place: ValuePath, known: list[JsonSchema], root: JsonSchema) -> Iterator[ValueRow]:
    nodes = [node for one in known for node in branches(one, root)]
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            below = [(node.get("properties") or {}).get(name) for node in nodes]
            yield from _rows(part, (*place, name), _schemas(below), root)
    elif isinstance(value, list) and any(isinstance(one, (Mapping, list)) for one in value):
        items = _schemas([node.get("items") for node in nodes])
        for at, part in enumerate(value):
            yield from _rows(part, (*place, at), items, root)
    else:
        title = next((one["title"] for one in known if place and isinstance(one.get("title"), str)), None)
        yield ValueRow(place, value, title, _choice(value, nodes))


def _schemas(found: list[Any]) -> list[JsonSchema]:
    return [one for one in found if isinstance(one, dict)]


def _choice(value: Any, nodes: list[Mapping[str, Any]]) -> str | None:
    """The title of the choice that this value is, where there are several with titles."""
    fits = (one for one in nodes if "const" in one and json_literal(one["const"]) == json_literal(value))
    return next((one["title"] for one in fits if isinstance(one.get("title"), str)), None)


def json_literal(value: Any) -> str:
    """A value as JSON on one line."""
    if isinstance(value, str):
        inside = json.dumps(value, ensure_ascii=False)[1:-1]
        lead = _INDENTED.match(inside)
        start = 0 if lead is None else lead.end()
        rest = _SPACES.sub(lambda found: _SPACE * len(found[0]), inside[start:])
        return f'"{inside[:start]}{rest}"'
    if isinstance(value, list):
        return f"[{', '.join(map(json_literal, value))}]"
    if isinstance(value, Mapping):
        return (
            f"{{{', '.join(f'{json_literal(name)}: {json_literal(part)}' for name, part in value.items())}}}"
        )
    return json.dumps(value)


def path_text(place: ValuePath) -> str:
    """Where a value stands: `items[0].name`; a name that is no plain word in brackets, as JSON."""
    found = ""
    for step in place:
        if isinstance(step, int):
            found += f"[{step}]"
        elif _PLAIN_NAME.match(step):
            found += f".{step}" if found else step
        else:
            found += f"[{json_literal(step)}]"
    return found


class ArgumentChange(NamedTuple):
    """One value that is not as it was; None is not there, before or after."""

    place: ValuePath
    before: ValueRow | None
    after: ValueRow | None

    @property
    def row(self) -> ValueRow:
        """Whichever there is, to name it by."""
        found = self.after or self.before
        assert found is not None
        return found


def argument_changes(before: Any, after: Any, schema: JsonSchema | None = None) -> list[ArgumentChange]:
    """What is not the same, in the order of the old values, then of the new ones."""
    old = {row.place: row for row in value_rows(before, schema)}
    new = {row.place: row for row in value_rows(after, schema)}
    changed = [
        ArgumentChange(place, row, new.get(place))
        for place, row in old.items()
        if place not in new or new[place].literal != row.literal
    ]
    return changed + [ArgumentChange(place, None, row) for place, row in new.items() if place not in old]


MAX_UNFOLDED = 320
"""Characters beyond which a value is folded."""

MAX_ROWS = 30
"""Rows beyond which the rest is folded."""
_START, _END = 160, 60
_BRIEF = 80


def exact_text(text: str) -> h.Element:
    """A JSON text as it is, with what cannot be seen written out."""
    return h.code(".ask-exact", dir="ltr")[list(_marked(text_pieces(text)))]


def visible_sentence(text: str) -> h.Element:
    """Words that may quote what somebody sent, with what cannot be seen written out."""
    return h.span(dir="ltr")[list(_marked(text_pieces(text)))]


def _marked(found: Iterable[TextPiece]) -> Iterator[h.Node]:
    for piece in found:
        if piece.kind == "plain":
            yield piece.text
        else:
            yield h.mark(class_=f"ask-{piece.kind}", title=piece.about)[piece.text]
            if piece.text == "\\n":
                yield "\n"


def render_value(shown: ValueRow) -> h.Node:
    """One value: whole, or folded with its length."""
    if shown.masked:
        return h.span(".ask-masked")[h.code(".ask-exact")[shown.literal], " a secret, shown to nobody"]
    text = shown.literal
    drawn: h.Node = exact_text(text)
    if len(text) > MAX_UNFOLDED:
        head, tail = fold_ends(text)
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


def fold_ends(text: str) -> tuple[list[TextPiece], list[TextPiece]]:
    """The beginning and the end of a long JSON text, marked as in the whole. Only a plain piece is cut."""
    found = list(text_pieces(text))
    head = _beginning(found, _START)
    tail, left = _fitting(reversed(found), _END)
    if left and found[-1 - len(tail)].kind == "plain":
        tail.append(TextPiece(_end(found[-1 - len(tail)].text, left)))
    return head, tail[::-1]


def brief_value(value_: object) -> h.Element:
    """The beginning of a value on one line of a list, marked as on its card."""
    shown = value_[: 2 * _BRIEF] if isinstance(value_, str) else value_
    found = list(text_pieces(json_literal(shown)))
    head = _beginning(found, _BRIEF)
    whole = head == found and shown == value_
    return h.code(".ask-start", dir="ltr")[list(_marked(head)), None if whole else "…"]


def _beginning(found: list[TextPiece], most: int) -> list[TextPiece]:
    head, left = _fitting(found, most)
    if left and len(head) < len(found) and found[len(head)].kind == "plain":
        head.append(TextPiece(_without_half(found[len(head)].text[:left])))
    return head


def _fitting(found: Iterable[TextPiece], most: int) -> tuple[list[TextPiece], int]:
    """The first pieces that fit whole, and how many characters are left."""
    kept: list[TextPiece] = []
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


def _length(shown: ValueRow) -> str:
    if isinstance(shown.value, str):
        return pluralize(len(shown.value), "character")
    return (
        pluralize(len(shown.value), "value")
        if isinstance(shown.value, list)
        else f"{len(shown.literal)} long"
    )


def _natural(shown: ValueRow) -> h.Node:
    """Text that runs from right to left, also as its readers read it."""
    if not isinstance(shown.value, str) or not is_right_to_left(shown.value):
        return None
    return h.details(".ask-natural")[
        h.summary["Shown letter by letter from left to right. As it is read"],
        h.bdi(dir="auto")["".join(one for one in shown.value if one.isprintable())],
    ]


def render_rows(shown: list[ValueRow]) -> h.Node:
    """Values with their names: the first ones, and the rest in a fold."""
    if len(shown) <= MAX_ROWS:
        return _list(shown)
    more = shown[MAX_ROWS:]
    return [
        _list(shown[:MAX_ROWS]),
        h.details(".ask-rest")[
            h.summary[f"{pluralize(len(more), 'more value')}, open to read them"], _list(more)
        ],
    ]


def _list(shown: list[ValueRow]) -> h.Element:
    return h.dl(".ask-values")[(h.div[h.dt[render_name(row)], h.dd[render_value(row)]] for row in shown)]


def render_name(shown: ValueRow) -> h.Node:
    """What a value is called, and its exact place."""
    path = h.code(".ask-name", dir="ltr")[list(_marked(text_pieces(shown.path)))]
    return [h.span(".ask-label")[shown.label], " ", path] if shown.label else path


def render_changes(found: list[ArgumentChange]) -> h.Element:
    """What an edit changes: `status: "archived" → "inactive"`."""
    return h.dl(".ask-values.ask-changes")[
        (h.div[h.dt[render_name(one.row)], h.dd[_change(one)]] for one in found)
    ]


def _change(one: ArgumentChange) -> h.Node:
    arrow = h.span(".ask-arrow")[h.span(".sr-only")[" becomes "], h.span(aria_hidden="true")[" → "]]
    if one.before is None:
        return ["added ", h.ins[render_value(one.row)]]
    if one.after is None:
        return ["left out, was ", h.del_[render_value(one.row)]]
    return [h.del_[render_value(one.before)], arrow, h.ins[render_value(one.after)]]


def inline_value(value_: object) -> h.Element:
    """A value inside a sentence."""
    return exact_text(json_literal(value_))
