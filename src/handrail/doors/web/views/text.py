"""Text on a page: exact, with what cannot be seen written out, folded where it is long; diffs; Markdown."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

import htpy as h
import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from handrail.platform.display_text import DiffLine, diff_lines, has_diff, visible

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from markdown_it.token import Token

LONG = 600
"""Characters from which text is folded."""
LINES = 12
_FOLD_HEAD = 120

_MAX_PRINTED = 10_000
"""Characters of several lines that are shown at once; they scroll."""
_HIDDEN = re.compile(r"[^\n\t\x20-\x7e]")


def visible_text(text: str) -> h.Node:
    """Text in which every character can be seen; one that is written out is marked and says its name."""
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    parts: list[h.Node] = []
    start = 0
    for match in _HIDDEN.finditer(text):
        character = match.group()
        written = visible(character)
        if written != character:
            name = unicodedata.name(character, f"U+{ord(character):04X}").capitalize()
            parts += [text[start : match.start()], h.span(".view-char", title=name)[written]]
            start = match.end()
    return [*parts, text[start:]]


def paragraph(text: str) -> h.Node:
    """Text of any length."""
    if is_long(text):
        return folded_text(text)
    if "\n" in text or "\t" in text:
        return h.pre(".view-text")[visible_text(text)]
    return visible_text(text)


def text_block(text: str) -> h.Node:
    """Text that stands alone. Several lines are set as a terminal would: columns and diffs stay in line."""
    if "\n" not in text.rstrip("\n"):
        return folded_text(text) if is_long(text) else h.pre(".view-text")[visible_text(text)]
    if len(text) > _MAX_PRINTED:
        return folded_text(text)
    return h.pre(".view-text.view-printed", tabindex="0")[visible_text(text)]


def folded_text(text: str) -> h.Node:
    """Long text: its beginning, its length, and the whole one click away."""
    head = " ".join(text[: _FOLD_HEAD * 2].split())[:_FOLD_HEAD]
    lines = text.count("\n") + 1
    size = f"{len(text):,} characters" + (f", {lines:,} lines" if lines > 1 else "")
    return h.details(".view-fold")[
        h.summary[h.span(".view-fold-head")[visible_text(head), "…"], " ", h.span(".view-quiet")[size]],
        h.pre(".view-text", tabindex="0")[visible_text(text)],
    ]


def is_long(text: str) -> bool:
    return len(text) > LONG or text.count("\n") > LINES


def muted(words: str, kind: str = "") -> h.Node:
    """What is said in place of a value."""
    return h.span(f".view-quiet{kind}")[words]


def note(words: str) -> h.Node:
    """What is said about a part."""
    return h.p(".view-note")[words]


MAX_DIFF = 100_000
"""Characters of a text in which lines are told apart; a longer one is shown as any other."""
_ELEMENTS = {"added": h.ins(".view-added"), "removed": h.del_(".view-removed"), "file": h.span(".view-file")}


def output_block(text: str) -> h.Node:
    """What a tool printed, its diffs told apart from the words."""
    lines = diff_lines(text) if len(text) <= MAX_DIFF else []
    if not has_diff(lines):
        return text_block(text)
    return [
        _words(list(group)) if is_text else _diff_block(list(group))
        for is_text, group in groupby(lines, lambda line: line.kind == "text")
    ]


def _words(lines: list[DiffLine]) -> h.Node:
    text = "\n".join(line.text for line in lines).strip("\n")
    return text_block(text) if text else None


def _diff_block(lines: list[DiffLine]) -> h.Node:
    return h.pre(".view-text.view-printed.view-diff", tabindex="0", aria_label="What changes, line by line")[
        h.code[(_diff_line(line) for line in lines)]
    ]


def _diff_line(line: DiffLine) -> h.Node:
    return _ELEMENTS.get(line.kind, h.span(class_=f"view-{line.kind}"))[visible_text(line.text), "\n"]


MAX_MARKDOWN = 200_000
"""Characters of Markdown that are made into HTML; what is longer is shown as text."""

_TAGS = set(
    "a blockquote br code del em h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split()
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}


def render_markdown(text: str) -> h.Node:
    """Markdown as a part of a page."""
    if len(text) > MAX_MARKDOWN:
        return text_block(text)
    clean = nh3.clean(
        _parser().render(visible(text.replace("\r\n", "\n"))),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags=set(),
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        set_tag_attribute_values={"table": {"tabindex": "0"}},
        link_rel="noopener noreferrer nofollow",
    )
    return h.div(".view-markdown")[Markup(clean)]


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    parser.add_render_rule("image", _picture)
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", _heading)
    return parser


def _picture(
    renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    """A link in place of a picture: nothing is fetched until somebody asks for it."""
    token = tokens[at]
    words = token.content or "picture"
    return str(Markup('<a href="{}">{}</a>').format(str(token.attrs.get("src", "")), words))


def _heading(
    renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: MutableMapping[str, Any]
) -> str:
    """Headings of a text stand below those of the page."""
    token = tokens[at]
    depth = min(int(token.tag[1:]) + 2, 6)
    return f"<{'/' if token.nesting < 0 else ''}h{depth}>"
