"""A page as Markdown, as text or as clean HTML, with its main part alone where it has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from handrail.ext.net import optional_import
from handrail.toolsets.web.html_cleaner import CleanPage, clean_html
from handrail.toolsets.web.html_elements import BLOCKS, INLINE, TABLE, unmask, unmask_escaped, unmask_html

ENOUGH = 32_768
"""Characters from which on a part ends where a block begins that stands in no other."""

MOST = 131_072
"""Characters from which on it ends at any block or row; at twice as many, wherever it is."""

_CONTAINERS = frozenset(
    "address article blockquote div fieldset figure footer header hgroup main search section ul".split()
)
"""Elements that can end and begin again between two blocks without a change in what is read."""
_TAG = re.compile(r"""<(\w+)(?: start="(\d+)")?""")
_VOID = ("br", "hr", "img")


@dataclass(slots=True)
class _OpenTag:
    name: str
    opening: str
    number: int
    """Of the item that comes next, in a list that is numbered."""


def split_html(pieces: Iterable[str]) -> Iterator[str]:
    """Balanced pieces in balanced parts: what is open where a part ends begins again in the next."""
    part: list[str] = []
    size = 0
    open_: list[_OpenTag] = []
    for piece in pieces:
        tag = _TAG.match(piece) if piece[0] == "<" else None
        name = tag[1] if tag else ""
        closes = piece.startswith("</")
        if size >= ENOUGH and not closes and _part_ends(size, name, open_):
            yield "".join([*part, *(f"</{element.name}>" for element in reversed(open_))])
            part = _reopened(open_)
            size = sum(map(len, part))
        part.append(piece)
        size += len(piece)
        if closes:
            open_.pop()
        elif tag and name not in _VOID:
            if name == "li" and open_:
                open_[-1].number += 1
            open_.append(_OpenTag(name, piece, int(tag[2] or 1)))
    if part:
        yield "".join(part)


def _part_ends(size: int, name: str, open_: list[_OpenTag]) -> bool:
    """Whether a part that is long enough ends before what comes next."""
    if size < MOST:
        return name in BLOCKS and all(element.name in _CONTAINERS for element in open_)
    return name in BLOCKS or name == "tr" or size >= 2 * MOST


def _reopened(open_: list[_OpenTag]) -> list[str]:
    """What is open, opened once more; an item that goes on keeps its number."""
    pieces = []
    for place, element in enumerate(open_):
        goes_on = place + 1 < len(open_) and open_[place + 1].name == "li"
        pieces.append(f'<ol start="{element.number - goes_on}">' if element.name == "ol" else element.opening)
    return pieces


Format = Literal["markdown", "text", "html"]
Span = tuple[int, int]

_MIN_MAIN_CHARS = 200
"""Characters from which on a part of a page is taken for what it is about."""
_TAGS = {*BLOCKS, *INLINE.values(), *TABLE, "br", "hr", "img"}

_ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt"},
    "code": {"class"},
    "pre": {"class"},
    "ol": {"start"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}


@dataclass(frozen=True, slots=True)
class ReadablePage:
    """What is to be read of a page."""

    title: str
    text: str
    is_cut: bool


def make_readable(html: str, url: str, form: Format) -> ReadablePage:
    """The page at an address. Scripts, styles, forms and what is hidden are not in it; links are absolute."""
    with optional_import():
        import html_to_markdown
    page = clean_html(html, url)
    pieces = main_content(page)
    if form == "html":
        return ReadablePage(page.title, unmask_html(_sanitize("".join(pieces))).strip(), page.is_cut)
    options = html_to_markdown.ConversionOptions(
        extract_metadata=False,
        bullets="-",
        autolinks=False,
        compact_tables=True,
        output_format="plain" if form == "text" else "markdown",
    )
    # Each conversion keeps every other thread waiting, so none is given a whole page.
    parts = [html_to_markdown.convert(_sanitize(part), options).content or "" for part in split_html(pieces)]
    text = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    return ReadablePage(page.title, (unmask if form == "text" else unmask_escaped)(text).strip(), page.is_cut)


def _sanitize(html: str) -> str:
    """The second of two locks: what was thinned has nothing else in it."""
    with optional_import():
        import nh3
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        link_rel=None,
        url_schemes={"http", "https", "mailto", "tel"},
        url_relative="deny",
    )


def main_content(page: CleanPage) -> list[str]:
    """The main part of a page, else its articles, else all but what stands around; all if that is little."""
    everything = _outermost([(0, len(page.pieces))])
    total = _length(page, everything, ())
    inner = _length(page, everything, page.asides)
    if inner < _MIN_MAIN_CHARS and 4 * inner < total:
        return list(_pieces(page, everything, ()))
    for spans in (page.mains, page.articles):
        outer = _outermost(spans)
        length = _length(page, outer, page.asides)
        if length >= _MIN_MAIN_CHARS or 4 * length >= inner > 0:
            return list(_pieces(page, outer, page.asides))
    return list(_pieces(page, everything, page.asides))


def _outermost(spans: Iterable[Span]) -> list[Span]:
    outer: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not outer or span[0] >= outer[-1][1]:
            outer.append(span)
    return outer


def _pieces(page: CleanPage, spans: list[Span], without: Iterable[Span]) -> Iterator[str]:
    """The pieces of spans, without those of others that lie within them."""
    left_out = _outermost(without)
    place = 0
    for start, end in spans:
        at = start
        while place < len(left_out) and left_out[place][0] < start:
            place += 1
        while place < len(left_out) and left_out[place][1] <= end:
            yield from page.pieces[at : left_out[place][0]]
            at = left_out[place][1]
            place += 1
        yield from page.pieces[at:end]


def _length(page: CleanPage, spans: list[Span], without: Iterable[Span]) -> int:
    return sum(len(piece.strip()) for piece in _pieces(page, spans, without) if piece[0] != "<")
