"""The elements of HTML, by what becomes of them where a page is made readable."""

from __future__ import annotations

BLOCKS = frozenset(
    "address article blockquote dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 "
    "header hgroup li main ol p pre search section summary table ul".split()
)
ONCE = {
    "b": "b",
    "strong": "b",
    "i": "i",
    "em": "i",
    "code": "code",
    "tt": "code",
    "kbd": "code",
    "samp": "code",
}
ONCE |= {"del": "del", "s": "del", "strike": "del", "a": "a", "q": "q", "sub": "sub", "sup": "sup"}
"""Inline elements, by the name under which they are kept; none stands inside another of its name."""
LINES = frozenset((*ONCE.values(), *"h1 h2 h3 h4 h5 h6 summary figcaption caption".split()))
"""What is written on one line, where no block of code can stand."""
INDENTED = frozenset("blockquote dl ol ul".split())
TABLE = frozenset("caption thead tbody tfoot tr td th".split())
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
RAW = frozenset("iframe noembed noframes script style textarea title xmp".split())
DROPPED = frozenset(
    "audio button canvas datalist dialog map math meter object optgroup option progress select svg template "
    "video".split()
)
ASIDE = frozenset("nav footer aside form".split())
ASIDE_ROLES = frozenset("navigation banner contentinfo complementary search".split())
CLOSED_BY = {
    "li": ("li",),
    "dt": ("dt", "dd"),
    "dd": ("dt", "dd"),
    "tr": ("tr", "td", "th"),
    "td": ("td", "th"),
    "th": ("td", "th"),
}
FENCES = frozenset("ul ol dl table".split())
