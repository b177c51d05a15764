"""HTML cleaner: a page reduced to what can be read, in one pass whose cost grows with its length alone.

Parsers repair broken HTML, and hostile HTML makes that take hours. What comes out here is balanced, shallow
and made of few kinds of elements, so that nothing is left to repair.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from handrail.toolsets.web.html_elements import (
    ASIDE,
    ASIDE_ROLES,
    BLOCKS,
    CLOSED_BY,
    DROPPED,
    INDENTED,
    INLINE,
    LISTS_AND_TABLES,
    RAW,
    SINGLE_LINE,
    TABLE,
    VOID,
    absolute_link,
    format_attributes,
    is_hidden,
    mask_markup,
    parse_attributes,
    remove_masks,
)

MAX_CHARS = 2_000_000
MOST_TAGS = 100_000
MAX_OUTPUT = 4_000_000
"""Characters of what is made of a page; a long base can make a long address of each short link."""
_MAX_PIECE = 16_384
_MAX_DEPTH = 64
_MAX_OPEN = 160
_MAX_INDENTED = 12
"""Lists and quotes within each other: each stands before every line of what is in it."""
_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+|["'])*+)>""")
_END = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in RAW}


@dataclass(slots=True)
class CleanPage:
    """What is left of a page."""

    title: str = ""
    is_cut: bool = False
    """Whether the page was longer than what is read."""
    pieces: list[str] = field(default_factory=list)
    mains: list[tuple[int, int]] = field(default_factory=list)
    """Where in the pieces the main part of the page stands, if it says so."""
    articles: list[tuple[int, int]] = field(default_factory=list)
    asides: list[tuple[int, int]] = field(default_factory=list)
    """What stands around a page: navigation, footers, forms."""


@dataclass(slots=True)
class _OpenElement:
    """An element that is open."""

    tag: str
    name: str | None
    """The name under which it was written; None for what is not."""
    start: int
    drops: bool = False
    passed: dict[str, int] | None = None
    """What was too deep outside of what is dropped, and is not closed from within."""
    is_aside: bool = False
    is_main: bool = False


def clean_html(text: str, url: str) -> CleanPage:
    """The readable part of a page at an address, as pieces of clean HTML with absolute links."""
    page = _HtmlCleaner(text[:MAX_CHARS], url).run()
    page.is_cut = page.is_cut or len(text) > MAX_CHARS
    return page


class _HtmlCleaner:
    def __init__(self, text: str, url: str) -> None:
        self._text = text
        self._base = url
        self._page = CleanPage()
        self._open: list[_OpenElement] = []
        self._counts: dict[str, int] = {}
        """How many open elements have a tag, so that one that is not open is not looked for."""
        self._names: dict[str, int] = {}
        """How many open elements are written under a name."""
        self._passed: dict[str, int] = {}
        """How many elements are open that stand too deep to be kept track of."""
        self._deep = 0
        self._dropping = 0
        self._left = MOST_TAGS
        self._room = MAX_OUTPUT
        self._is_after_code = False

    def run(self) -> CleanPage:
        text, at, end = self._text, 0, len(self._text)
        while at < end:
            mark = text.find("<", at)
            if mark < 0:
                self._write_text(text[at:])
                break
            if mark > at:
                self._write_text(text[at:mark])
            if self._left <= 0 or self._room <= 0:
                self._page.is_cut = True
                break
            self._left -= 1
            at = self._markup(mark)
        while self._open:
            self._pop()
        return self._page

    def _markup(self, at: int) -> int:
        """Reads what begins with `<` and says where the text goes on; what has no end goes to the end."""
        text = self._text
        following = text[at + 1 : at + 2]
        if following in ("!", "?"):
            closing = "-->" if text.startswith("<!--", at) else ">"
            end = text.find(closing, at + 2)
            return len(text) if end < 0 else end + len(closing)
        if not (following.isascii() and following.isalpha()) and following != "/":
            self._write_text("<")
            return at + 1
        match = _TAG.match(text, at)
        if match is None:
            if following == "/" and not text[at + 2 : at + 3].isalpha():
                end = text.find(">", at)
                return len(text) if end < 0 else end + 1
            return len(text)
        tag = match[2].lower()
        if match[1]:
            self._close(tag)
            return match.end()
        if tag in RAW:
            return self._raw(tag, match.end())
        if tag == "plaintext":
            return len(text)
        self._start(tag, match[3])
        return match.end()

    def _raw(self, tag: str, at: int) -> int:
        """Past an element whose content is no markup. Only a title of it is read."""
        end = _END[tag].search(self._text, at)
        stop = len(self._text) if end is None else end.start()
        if tag == "title" and not self._page.title and not self._dropping:
            self._page.title = " ".join(html.unescape(self._text[at : min(stop, at + 2000)]).split())[:300]
        if end is None:
            return len(self._text)
        close = self._text.find(">", end.end())
        return len(self._text) if close < 0 else close + 1

    def _start(self, tag: str, raw: str) -> None:
        attributes = parse_attributes(raw)
        if tag in VOID:
            self._void(tag, attributes)
            return
        for closed in self._closed_by(tag):
            self._close(closed)
        drops = is_hidden(attributes) or (tag in DROPPED and not (tag == "dialog" and "open" in attributes))
        if len(self._open) >= _MAX_OPEN and (not drops or self._dropping):
            self._passed[tag] = self._passed.get(tag, 0) + 1
            return
        role = attributes.get("role", "").lower()
        opened = _OpenElement(tag, None, len(self._page.pieces), drops)
        opened.is_aside = tag in ASIDE or role in ASIDE_ROLES
        # what stands in code is written as code, and cannot stand for the page without it
        opened.is_main = not self._is_code and (tag in ("main", "article") or role == "main")
        if drops:
            self._dropping += 1
            opened.passed, self._passed = self._passed, {}
        elif not self._dropping:
            opened.name = self._name(tag)
            if opened.name == "code" and self._is_after_code:
                self._write(" ")  # else the backticks of the two would become one
            if opened.name is not None:
                self._write(f"<{opened.name}{format_attributes(opened.name, attributes, self._base)}>")
                self._names[opened.name] = self._names.get(opened.name, 0) + 1
                self._deep += 1
        self._open.append(opened)
        self._counts[tag] = self._counts.get(tag, 0) + 1

    def _name(self, tag: str) -> str | None:
        """Under which name an element is kept, if it is."""
        if self._deep >= _MAX_DEPTH:
            return None
        if tag == "a" and self._names.get("pre"):
            return None  # a block of code has no links, and the converter fails at some
        if (once := INLINE.get(tag)) is not None:
            return None if self._names.get(once) else once
        if tag == "pre" and any(self._names.get(name) for name in SINGLE_LINE):
            return None
        if tag in INDENTED and sum(self._names.get(name, 0) for name in INDENTED) >= _MAX_INDENTED:
            return None
        if self._is_code and (tag == "table" or tag in TABLE):
            return None  # parsers move what stands in a table, and this out of its code
        if tag in BLOCKS:
            return tag
        if tag in TABLE:
            return tag if self._counts.get("table") else None
        return None

    def _closed_by(self, tag: str) -> tuple[str, ...]:
        """Which open elements end where this one begins."""
        if tag in ("a", "option"):
            return (tag,)
        if tag == "pre":
            return tuple(element.tag for element in reversed(self._open) if element.name in SINGLE_LINE)
        if tag in CLOSED_BY:
            if not any(self._counts.get(name) for name in CLOSED_BY[tag]):
                return ()
            within = takewhile(lambda element: element.tag not in LISTS_AND_TABLES, reversed(self._open))
            return tuple(element.tag for element in within if element.tag in CLOSED_BY[tag])
        return ("p",) if tag in BLOCKS and self._counts.get("p") else ()

    def _close(self, tag: str) -> None:
        """Closes the innermost element of a tag. What stands in a cell closes nothing outside its table."""
        if self._passed.get(tag):
            self._passed[tag] -= 1
            return
        if not self._counts.get(tag):
            return
        if self._counts.get("table") and tag not in TABLE and tag != "table":
            for element in reversed(self._open):
                if element.tag == tag:
                    break
                if element.tag in ("td", "th", "caption", "table"):
                    return
        while self._pop() != tag:
            pass

    def _pop(self) -> str:
        last = self._open.pop()
        self._counts[last.tag] -= 1
        if last.drops:
            self._dropping -= 1
            self._passed = last.passed or {}
        elif last.name is not None:
            self._write(f"</{last.name}>")
            self._is_after_code = self._is_after_code or last.name == "code"
            self._names[last.name] -= 1
            self._deep -= 1
        span = (last.start, len(self._page.pieces))
        if last.is_aside and not self._dropping:
            self._page.asides.append(span)
        elif last.is_main and not self._dropping:
            (self._page.articles if last.tag == "article" else self._page.mains).append(span)
        return last.tag

    def _void(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "base" and "href" in attributes:
            self._base = absolute_link(self._base, attributes["href"]) or self._base
        elif not self._dropping and tag in ("br", "hr", "img") and not is_hidden(attributes):
            markup = format_attributes(tag, attributes, self._base)
            if tag != "img" or (' src="' in markup and not self._is_code):
                self._write(f"<{tag}{markup}>")

    @property
    def _is_code(self) -> bool:
        return bool(self._names.get("code") or self._names.get("pre"))

    def _write(self, piece: str) -> None:
        self._page.pieces.append(piece)
        self._room -= len(piece)

    def _write_text(self, text: str) -> None:
        if self._dropping:
            return
        shows = remove_masks if self._is_code else mask_markup
        for some in (text,) if len(text) <= _MAX_PIECE else _slices(text):
            shown = shows(html.unescape(some))
            self._is_after_code = self._is_after_code and not shown
            if shown:
                self._write(html.escape(shown, quote=False))


def _slices(text: str) -> Iterator[str]:
    """Text in pieces that end with a line where they can, and never within an entity."""
    at = 0
    while len(text) - at > _MAX_PIECE:
        end = at + _MAX_PIECE
        line = text.rfind("\n", at + _MAX_PIECE // 2, end)
        end = line + 1 if line > 0 else max(text.rfind("&", end - 40, end), end - 40)
        yield text[at:end]
        at = end
    yield text[at:]
