"""ViewContext: where a result is rendered and for whom; what every part of it needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class ViewContext:
    """Where something is drawn: the ids of its elements, its addresses, and how its reader writes numbers."""

    id: str
    language: str = "en"
    downloads: str | None = None
    """The address under which the result is to be had: `.json`, and `.csv?section=` for a table."""
    frames: str | None = None
    """The address under which custom blocks are served, each by its section's key."""
    files: str | None = None
    """The address under which attachments are served, each by its number from 0 on."""
    charts: str | None = None
    """The address of the script that draws charts again; without it they stay as they come."""
    here: str = ""
    """The address of the page, for links that draw it another way; empty for the page one is on."""
    query: Mapping[str, str] | None = None
    """What the page was asked for: `sort.<section>`, `all.<section>`, and what others put there.
    None where the page cannot be drawn another way, as it answers what was posted: no links then."""

    def inside(self, part: str | int) -> ViewContext:
        """The same for a part, with an id of its own."""
        return replace(self, id=f"{self.id}-{part}")

    def link(self, anchor: str, **changes: str | None) -> str:
        """The same page drawn another way; None takes a parameter away."""
        wanted = {**(self.query or {}), **changes}
        pairs = [
            f"{url_quote(name)}={url_quote(value)}" for name, value in wanted.items() if value is not None
        ]
        return f"{self.here}?{'&'.join(pairs)}#{url_quote(anchor)}"


def url_quote(text: str) -> str:
    """Text as a part of an address, whatever is in it."""
    return quote(text, safe="", errors="surrogatepass")
