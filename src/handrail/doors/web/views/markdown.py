"""Markdown of tools: made into HTML, then cleaned; a picture from elsewhere becomes a link to it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import nh3
from htpy import Node, div
from markdown_it import MarkdownIt
from markupsafe import Markup

from handrail.doors.visible import visible
from handrail.doors.web.views.text import block_of_text

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from markdown_it.token import Token

MOST = 200_000
"""Characters of Markdown that are made into HTML; what is longer is shown as text."""

_TAGS = set(
    "a blockquote br code del em h3 h4 h5 h6 hr li ol p pre s strong table tbody td th thead tr ul".split()
)
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}


def rendered(text: str) -> Node:
    """Markdown as a part of a page."""
    if len(text) > MOST:
        return block_of_text(text)
    made = _parser().render(visible(text.replace("\r\n", "\n")))
    clean = nh3.clean(
        made,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        clean_content_tags=set(),
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        set_tag_attribute_values={"table": {"tabindex": "0"}},
        link_rel="noopener noreferrer nofollow",
    )
    return div(".view-markdown")[Markup(clean)]


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
