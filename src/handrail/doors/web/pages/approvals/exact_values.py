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

    steps: ValuePath
    value: Any
    label: str | None = None
    """What the schema calls it."""
    choice: str | None = None
    """What the schema calls this very value."""

    @property
    def path(self) -> str:
        return path_text(self.steps)

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


def _rows(value: Any, steps: ValuePath, schemas: list[JsonSchema], root: JsonSchema) -> Iterator[ValueRow]:
    nodes = [node for schema in schemas for node in branches(schema, root)]
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            below = [(node.get("properties") or {}).get(name) for node in nodes]
            yield from _rows(part, (*steps, name), _objects(below), root)
    elif isinstance(value, list) and any(isinstance(item, (Mapping, list)) for item in value):
        items = _objects([node.get("items") for node in nodes])
        for at, part in enumerate(value):
            yield from _rows(part, (*steps, at), items, root)
    else:
        yield ValueRow(steps, value, _title(schemas) if steps else None, _choice(value, nodes))


def _objects(values: list[Any]) -> list[JsonSchema]:
    return [value for value in values if isinstance(value, dict)]


def _title(schemas: Iterable[Mapping[str, Any]]) -> str | None:
    return next((schema["title"] for schema in schemas if isinstance(schema.get("title"), str)), None)


def _choice(value: Any, nodes: list[Mapping[str, Any]]) -> str | None:
    """The title of the choice that this value is, where there are several with titles."""
    literal = json_literal(value)
    return _title(node for node in nodes if "const" in node and json_literal(node["const"]) == literal)


def json_literal(value: Any) -> str:
    """A value as JSON on one line."""
    if isinstance(value, str):
        inside = json.dumps(value, ensure_ascii=False)[1:-1]
        lead = _INDENTED.match(inside)
        start = 0 if lead is None else lead.end()
        rest = _SPACES.sub(lambda spaces: _SPACE * len(spaces[0]), inside[start:])
        return f'"{inside[:start]}{rest}"'
    if isinstance(value, list):
        return f"[{', '.join(map(json_literal, value))}]"
    if isinstance(value, Mapping):
        return (
            f"{{{', '.join(f'{json_literal(name)}: {json_literal(part)}' for name, part in value.items())}}}"
        )
    return json.dumps(value)


def path_text(steps: ValuePath) -> str:
    """Where a value stands: `items[0].name`; a name that is no plain word in brackets, as JSON."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif _PLAIN_NAME.match(step):
            text += f".{step}" if text else step
        else:
            text += f"[{json_literal(step)}]"
    return text


class ArgumentChange(NamedTuple):
    """One value that is not as it was; None is not there, before or after."""

    row: ValueRow
    """Whichever there is, to name it by."""
    before: ValueRow | None
    after: ValueRow | None


def argument_changes(before: Any, after: Any, schema: JsonSchema | None = None) -> list[ArgumentChange]:
    """What is not the same, in the order of the old values, then of the new ones."""
    old = {row.steps: row for row in value_rows(before, schema)}
    new = {row.steps: row for row in value_rows(after, schema)}
    changed = [
        ArgumentChange(new.get(steps, row), row, new.get(steps))
        for steps, row in old.items()
        if steps not in new or new[steps].literal != row.literal
    ]
    return changed + [ArgumentChange(row, None, row) for steps, row in new.items() if steps not in old]


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


def _marked(pieces: Iterable[TextPiece]) -> Iterator[h.Node]:
    for piece in pieces:
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
    pieces = list(text_pieces(text))
    head = _beginning(pieces, _START)
    tail, rest = _fitting(reversed(pieces), _END)
    following = pieces[-1 - len(tail)]
    if rest and following.kind == "plain":
        tail.append(TextPiece(_end(following.text, rest)))
    return head, tail[::-1]


def brief_value(value: object) -> h.Element:
    """The beginning of a value on one line of a list, marked as on its card."""
    shown = value[: 2 * _BRIEF] if isinstance(value, str) else value
    pieces = list(text_pieces(json_literal(shown)))
    head = _beginning(pieces, _BRIEF)
    is_complete = head == pieces and shown == value
    return h.code(".ask-start", dir="ltr")[list(_marked(head)), None if is_complete else "…"]


def _beginning(pieces: list[TextPiece], limit: int) -> list[TextPiece]:
    head, rest = _fitting(pieces, limit)
    if rest and len(head) < len(pieces) and pieces[len(head)].kind == "plain":
        head.append(TextPiece(_without_half(pieces[len(head)].text[:rest])))
    return head


def _fitting(pieces: Iterable[TextPiece], limit: int) -> tuple[list[TextPiece], int]:
    """The first pieces that fit whole, and how many more characters would."""
    fitting: list[TextPiece] = []
    for piece in pieces:
        if len(piece.text) > limit:
            break
        fitting.append(piece)
        limit -= len(piece.text)
    return fitting, limit


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
    is_list = isinstance(shown.value, list)
    return pluralize(len(shown.value), "value") if is_list else f"{len(shown.literal)} long"


def _natural(shown: ValueRow) -> h.Node:
    """Text that runs from right to left, also as its readers read it."""
    if not isinstance(shown.value, str) or not is_right_to_left(shown.value):
        return None
    return h.details(".ask-natural")[
        h.summary["Shown letter by letter from left to right. As it is read"],
        h.bdi(dir="auto")["".join(filter(str.isprintable, shown.value))],
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


def render_changes(changes: list[ArgumentChange]) -> h.Element:
    """What an edit changes: `status: "archived" → "inactive"`."""
    return h.dl(".ask-values.ask-changes")[
        (h.div[h.dt[render_name(change.row)], h.dd[_change(change)]] for change in changes)
    ]


def _change(change: ArgumentChange) -> h.Node:
    arrow = h.span(".ask-arrow")[h.span(".sr-only")[" becomes "], h.span(aria_hidden="true")[" → "]]
    if change.before is None:
        return ["added ", h.ins[render_value(change.row)]]
    if change.after is None:
        return ["left out, was ", h.del_[render_value(change.row)]]
    return [h.del_[render_value(change.before)], arrow, h.ins[render_value(change.after)]]


def inline_value(value: object) -> h.Element:
    """A value inside a sentence."""
    return exact_text(json_literal(value))
