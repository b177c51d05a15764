"""The elements of HTML, their attributes and their text: what of each stays where a page is made readable."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

from handrail.ext.net import remove_invisible

_MASKED = "<[`~\\"
_MASKS = {char: chr(0xE000 + place) for place, char in enumerate(_MASKED)}


def mask_markup(text: str) -> str:
    """Text of a page, with marks in place of what could begin markup."""
    text = remove_masks(text)
    for char, mark in _MASKS.items():
        text = text.replace(char, mark)
    return text


def remove_masks(text: str) -> str:
    """Text of a page in which nothing passes for a mark.

    What nobody sees is dropped here, too: dropped from the Markdown, it would join what stands around it.
    """
    text = remove_invisible(text)
    if not text.isascii():
        for mark in _MASKS.values():
            text = text.replace(mark, "")
    return text


def unmask_escaped(text: str) -> str:
    """Markdown in which each mark is its character, escaped."""
    for char, mark in _MASKS.items():
        text = text.replace(mark, f"\\{char}")
    return text


def unmask(text: str) -> str:
    """Text in which each mark is its character."""
    for char, mark in _MASKS.items():
        text = text.replace(mark, char)
    return text


def unmask_html(text: str) -> str:
    """HTML in which each mark is its character, and none of them a tag."""
    return unmask(text.replace(_MASKS["<"], "&lt;"))


BLOCKS = frozenset(
    "address article blockquote dd details div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6 "
    "header hgroup li main ol p pre search section summary table ul".split()
)

_INLINE = {"b": "b strong", "i": "i em", "code": "code tt kbd samp", "del": "del s strike"}
INLINE = {tag: name for name, tags in _INLINE.items() for tag in tags.split()}
INLINE |= {name: name for name in ("a", "q", "sub", "sup")}
"""Inline elements, by the name under which they are kept; none stands inside another of its name."""

SINGLE_LINE = frozenset((*INLINE.values(), *"h1 h2 h3 h4 h5 h6 summary figcaption caption".split()))
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
LISTS_AND_TABLES = frozenset("ul ol dl table".split())


_RELEVANT = frozenset("alt aria-hidden class colspan hidden href open role rowspan src start style".split())
_MAX_VALUE = 8192

_MAX_STYLE = 65_536
"""To look through a longer one would keep every other thread waiting, so that it counts as hiding."""
_MAX_LINK = 2048

_ENDING_LINKS = ' "<>\\`()'
"""What no address holds as it is, and what could end a link in Markdown."""

_BEHIND_HOST = str.maketrans({char: quote(char) for char in f"{_ENDING_LINKS}[]"})
"""A host may stand in brackets; behind it they could be another link."""
_WEB = ("http", "https")
_SCHEMES = {"a": (*_WEB, "mailto", "tel"), "img": _WEB}
_ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+""")

_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:left|top|text-indent)\s*:\s*-\d{3}"
    r"|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9])",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*[^*]{0,60}\*/")
_LANGUAGE = re.compile(r"(?:lang|language)-[\w+#-]{1,20}")


def format_attributes(name: str, attributes: dict[str, str], base: str) -> str:
    """The attributes of an element that stay, as markup."""
    shown: dict[str, str] = {}
    if name in ("a", "img"):
        key = "href" if name == "a" else "src"
        if (link := absolute_link(base, attributes.get(key, ""), _SCHEMES[name])) is not None:
            shown[key] = link
        if name == "img":
            shown["alt"] = mask_markup(" ".join(attributes.get("alt", "")[:500].split()))
    elif name in ("code", "pre") and (match := _LANGUAGE.search(attributes.get("class", ""))):
        shown["class"] = match[0]
    elif name in ("td", "th"):
        shown |= {key: attributes[key] for key in ("colspan", "rowspan") if _is_small(attributes.get(key))}
    elif name == "ol" and _is_small(attributes.get("start")):
        shown["start"] = attributes["start"]
    return "".join(f' {key}="{html.escape(value)}"' for key, value in shown.items())


def parse_attributes(raw: str) -> dict[str, str]:
    """The attributes that matter, by name; of several with one name the first. A very long one is empty."""
    attributes: dict[str, str] = {}
    if not raw.strip(" /\t\r\n\f"):
        return attributes
    for match in _ATTRIBUTE.finditer(raw):
        name = match[1].lower()
        if name not in _RELEVANT or name in attributes:
            continue
        value = match[2] if match[2] is not None else match[3] if match[3] is not None else match[4] or ""
        is_short = len(value) <= (_MAX_STYLE if name == "style" else _MAX_VALUE)
        attributes[name] = html.unescape(value) if is_short else ""
        if name == "style" and not is_short:
            attributes["hidden"] = ""
    return attributes


def is_hidden(attributes: dict[str, str]) -> bool:
    if not attributes:
        return False
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or _HIDING_STYLE.search(_COMMENT.sub("", attributes.get("style", ""))) is not None
    )


def _is_small(number: str | None) -> bool:
    return number is not None and number.isascii() and number.isdigit() and len(number) <= 2


@lru_cache(maxsize=1024)
def absolute_link(base: str, reference: str, schemes: tuple[str, ...] = _WEB) -> str | None:
    """Where a link leads, absolutely; None where it leads nowhere of these schemes, or to the page itself."""
    if reference.lstrip().startswith("#"):
        return None
    try:
        link = urljoin(base, "".join(char for char in remove_masks(reference) if char >= " ").strip())
        parts = urlsplit(link)
    except ValueError:
        return None
    if len(link) > _MAX_LINK or parts.scheme not in schemes:
        return None
    host = parts.netloc
    if (parts.scheme in _WEB and not host) or any(char in host for char in f"@{_ENDING_LINKS}"):
        return None
    at = len(f"{parts.scheme}://{host}") if host else 0
    return link[:at] + link[at:].translate(_BEHIND_HOST)
