"""split: clean HTML in parts that stand for themselves, none so long that to convert it holds up others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from handrail.toolsets.web.elements import BLOCKS

ENOUGH = 32_768
"""Characters from which on a part ends where a block begins that stands in no other."""
MOST = 131_072
"""Characters from which on it ends at any block or row; at twice as many, wherever it is."""
_AROUND = frozenset(
    "address article blockquote div fieldset figure footer header hgroup main search section ul".split()
)
"""Elements that can end and begin again between two blocks without a change in what is read."""
_TAG = re.compile(r"""<(\w+)(?: start="(\d+)")?""")
_ALONE = ("br", "hr", "img")


@dataclass(slots=True)
class _Open:
    name: str
    opening: str
    number: int
    """Of the item that comes next, in a list that is numbered."""


def split(pieces: Iterable[str]) -> Iterator[str]:
    """Balanced pieces in balanced parts: what is open where a part ends begins again in the next."""
    part: list[str] = []
    size = 0
    open_: list[_Open] = []
    for piece in pieces:
        tag = _TAG.match(piece) if piece[0] == "<" else None
        name = tag[1] if tag else ""
        closes = piece.startswith("</")
        if size >= ENOUGH and not closes and _ends(size, name, open_):
            yield "".join([*part, *(f"</{one.name}>" for one in reversed(open_))])
            part = _again(open_)
            size = sum(map(len, part))
        part.append(piece)
        size += len(piece)
        if closes:
            open_.pop()
        elif tag and name not in _ALONE:
            if name == "li" and open_:
                open_[-1].number += 1
            open_.append(_Open(name, piece, int(tag[2] or 1)))
    if part:
        yield "".join(part)


def _ends(size: int, name: str, open_: list[_Open]) -> bool:
    """Whether a part that is long enough ends before what comes next."""
    if size < MOST:
        return name in BLOCKS and all(one.name in _AROUND for one in open_)
    return name in BLOCKS or name == "tr" or size >= 2 * MOST


def _again(open_: list[_Open]) -> list[str]:
    """What is open, opened once more; an item that goes on keeps its number."""
    made = []
    for place, one in enumerate(open_):
        goes_on = place + 1 < len(open_) and open_[place + 1].name == "li"
        made.append(f'<ol start="{one.number - goes_on}">' if one.name == "ol" else one.opening)
    return made
