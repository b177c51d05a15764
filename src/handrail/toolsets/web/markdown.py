"""readable: a page as Markdown, as text or as clean HTML, with its main part alone where it has one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from handrail.toolsets.web.elements import BLOCKS, ONCE, TABLE
from handrail.toolsets.web.marks import escaped, in_html, plain
from handrail.toolsets.web.needs import needs
from handrail.toolsets.web.splitting import split
from handrail.toolsets.web.thinning import Thin, thin

Format = Literal["markdown", "text", "html"]
Span = tuple[int, int]
_ENOUGH = 200
"""Characters from which on a part of a page is taken for what it is about."""
_TAGS = {*BLOCKS, *ONCE.values(), *TABLE, "br", "hr", "img"}
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
class Readable:
    """What is to be read of a page."""

    title: str
    text: str
    is_cut: bool


def readable(html: str, url: str, form: Format) -> Readable:
    """The page at an address. Scripts, styles, forms and what is hidden are not in it; links are absolute."""
    with needs():
        import html_to_markdown
    thinned = thin(html, url)
    pieces = chosen(thinned)
    if form == "html":
        return Readable(thinned.title, in_html(_clean("".join(pieces))).strip(), thinned.is_cut)
    options = html_to_markdown.ConversionOptions(
        extract_metadata=False,
        bullets="-",
        autolinks=False,
        compact_tables=True,
        output_format="plain" if form == "text" else "markdown",
    )
    # Each conversion keeps every other thread waiting, so none is given a whole page.
    made = [html_to_markdown.convert(_clean(part), options).content or "" for part in split(pieces)]
    text = "\n\n".join(part.strip("\n") for part in made if part.strip())
    return Readable(thinned.title, (plain if form == "text" else escaped)(text).strip(), thinned.is_cut)


def _clean(html: str) -> str:
    """The second of two locks: what was thinned has nothing else in it."""
    with needs():
        import nh3
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        link_rel=None,
        url_schemes={"http", "https", "mailto", "tel"},
        url_relative="deny",
    )


def chosen(page: Thin) -> list[str]:
    """The main part of a page, else its articles, else all but what stands around; all if that is little."""
    everything = _outermost([(0, len(page.pieces))])
    whole = _length(page, everything, ())
    inner = _length(page, everything, page.asides)
    if inner < _ENOUGH and 4 * inner < whole:
        return _joined(page, everything, ())
    for spans in (page.mains, page.articles):
        found = _outermost(spans)
        length = _length(page, found, page.asides)
        if length >= _ENOUGH or 4 * length >= inner > 0:
            return _joined(page, found, page.asides)
    return _joined(page, everything, page.asides)


def _outermost(spans: Iterable[Span]) -> list[Span]:
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _parts(page: Thin, spans: list[Span], without: Iterable[Span]) -> Iterable[list[str]]:
    """The pieces of spans, without those of others that lie within them."""
    left_out = _outermost(without)
    place = 0
    for start, end in spans:
        at = start
        while place < len(left_out) and left_out[place][0] < start:
            place += 1
        while place < len(left_out) and left_out[place][1] <= end:
            yield page.pieces[at : left_out[place][0]]
            at = left_out[place][1]
            place += 1
        yield page.pieces[at:end]


def _length(page: Thin, spans: list[Span], without: Iterable[Span]) -> int:
    return sum(
        len(piece.strip()) for part in _parts(page, spans, without) for piece in part if piece[0] != "<"
    )


def _joined(page: Thin, spans: list[Span], without: Iterable[Span]) -> list[str]:
    return [piece for part in _parts(page, spans, without) for piece in part]
