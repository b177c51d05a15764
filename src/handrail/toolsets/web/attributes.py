"""The attributes of elements: what hides one, and which of them stay, with links made absolute."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

from handrail.toolsets.web.marks import marked, unmarkable

_READ = frozenset("alt aria-hidden class colspan hidden href open role rowspan src start style".split())
_LONGEST_VALUE = 8192
_LONGEST_STYLE = 65_536
"""To look through a longer one would keep every other thread waiting, so that it counts as hiding."""
_LONGEST_LINK = 2048
_ENDING_LINKS = ' "<>\\`()'
"""What no address holds as it is, and what could end a link in Markdown."""
_BEHIND_HOST = str.maketrans({char: quote(char) for char in f"{_ENDING_LINKS}[]"})
"""A host may stand in brackets; behind it they could be another link."""
_WEB = ("http", "https")
_SCHEMES = {"a": (*_WEB, "mailto", "tel"), "img": _WEB}
_ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>]*+)))?+""")
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:left|top|text-indent)\s*:\s*-\d{3}"
    r"|(?:font-size|opacity)\s*:\s*0(?![.\d]*[1-9])",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"/\*[^*]{0,60}\*/")
_LANGUAGE = re.compile(r"(?:lang|language)-[\w+#-]{1,20}")


def written(name: str, attributes: dict[str, str], base: str) -> str:
    """The attributes of an element that stay, as markup."""
    kept: dict[str, str] = {}
    if name in ("a", "img"):
        key = "href" if name == "a" else "src"
        if (link := link_of(base, attributes.get(key, ""), _SCHEMES[name])) is not None:
            kept[key] = link
        if name == "img":
            kept["alt"] = marked(" ".join(attributes.get("alt", "")[:500].split()))
    elif name in ("code", "pre") and (found := _LANGUAGE.search(attributes.get("class", ""))):
        kept["class"] = found[0]
    elif name in ("td", "th"):
        kept |= {key: attributes[key] for key in ("colspan", "rowspan") if _is_small(attributes.get(key))}
    elif name == "ol" and _is_small(attributes.get("start")):
        kept["start"] = attributes["start"]
    return "".join(f' {key}="{html.escape(value)}"' for key, value in kept.items())


def attributes_of(raw: str) -> dict[str, str]:
    """The attributes that matter, by name; of several with one name the first. A very long one is empty."""
    found: dict[str, str] = {}
    if not raw.strip(" /\t\r\n\f"):
        return found
    for one in _ATTRIBUTE.finditer(raw):
        name = one[1].lower()
        if name not in _READ or name in found:
            continue
        value = one[2] if one[2] is not None else one[3] if one[3] is not None else one[4] or ""
        is_short = len(value) <= (_LONGEST_STYLE if name == "style" else _LONGEST_VALUE)
        found[name] = html.unescape(value) if is_short else ""
        if name == "style" and not is_short:
            found["hidden"] = ""
    return found


def is_hidden(attributes: dict[str, str]) -> bool:
    if not attributes:
        return False
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden", "").lower() == "true"
        or _HIDING.search(_COMMENT.sub("", attributes.get("style", ""))) is not None
    )


def _is_small(number: str | None) -> bool:
    return number is not None and number.isascii() and number.isdigit() and len(number) <= 2


@lru_cache(maxsize=1024)
def link_of(base: str, reference: str, schemes: tuple[str, ...] = _WEB) -> str | None:
    """Where a link leads, absolutely; None where it leads nowhere of these schemes, or to the page itself."""
    if reference.lstrip().startswith("#"):
        return None
    try:
        link = urljoin(base, "".join(char for char in unmarkable(reference) if char >= " ").strip())
        parts = urlsplit(link)
    except ValueError:
        return None
    if len(link) > _LONGEST_LINK or parts.scheme not in schemes:
        return None
    host = parts.netloc
    if (parts.scheme in _WEB and not host) or any(char in host for char in f"@{_ENDING_LINKS}"):
        return None
    at = len(f"{parts.scheme}://{host}") if host else 0
    return link[:at] + link[at:].translate(_BEHIND_HOST)
