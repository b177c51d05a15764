"""A page as a tree of elements and names of attributes, and what must not stand in any."""

from __future__ import annotations

from html.parser import HTMLParser

_ADDRESSES = frozenset(
    "href src action formaction hx-get hx-post hx-put hx-delete hx-patch hx-sse:connect data-src xlink:href "
    "poster background srcset".split()
)
_NEVER = frozenset({"style", "srcdoc", "hx-vars", "hx-headers", "ping"})
_STRANGE = frozenset({"base", "embed", "object", "style", "math", "template", "applet", "frame", "marquee"})


class HtmlTree(HTMLParser):
    """What stands in a page, without its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, ...]] = []
        self.wrong: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, *sorted(name for name, _ in attrs)))
        if tag in _STRANGE:
            self.wrong.append(f"<{tag}>")
        if tag == "script" and not str(dict(attrs).get("src", "")).startswith("/static/"):
            self.wrong.append(f"<script> {attrs}")
        again = str(dict(attrs).get("content")).partition(";url=")[2]
        if tag == "meta" and "http-equiv" in dict(attrs) and not is_ours(again):
            self.wrong.append(f"<meta> {attrs}")  # without script a page may ask for itself again
        for name, value in attrs:
            if (
                name in _NEVER
                or name.startswith(("on", "hx-on"))
                or (name in _ADDRESSES and not is_ours(value or ""))
            ):
                self.wrong.append(f"{name}={value!r} on <{tag}>")

    def handle_endtag(self, tag: str) -> None:
        self.found.append((f"/{tag}",))

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"a comment {data[:40]!r}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"an instruction {data[:40]!r}")


def is_ours(address: str) -> bool:
    """A path, a part or a query of ours; the picture of nothing."""
    return (
        address in ("", "data:,")
        or address.startswith(("#", "?"))
        or (address.startswith("/") and address[1:2] not in ("/", "\\"))
    )
