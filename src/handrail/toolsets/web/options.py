"""WebOptions: what an operator sets for the web tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from handrail import ToolError
from handrail.ext.errors import UsageError
from handrail.ext.net import FetchOptions, parse_url
from handrail.toolsets.web.search_providers import SearchProvider

WEB_TOOL: Mapping[str, Any] = {
    "level": "read",
    "capabilities": ["network"],
    "concurrency": "parallel",
    "category": "web",
    "origin": "system",
}
"""Options of every tool here."""

ProviderName = Literal["exa", "brave", "searxng"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions(FetchOptions):
    """Limits of the web tools, what they may reach beside the public internet, and who searches."""

    provider: ProviderName | SearchProvider | None = None
    """Who searches; when None, whoever is set up: Exa, Brave, SearXNG, in this order."""
    searxng_url: str | None = None
    """The address of a SearXNG that gives JSON. It is trusted, wherever it stands."""
    exa_url: str = "https://api.exa.ai"
    brave_url: str = "https://api.search.brave.com"

    def __post_init__(self) -> None:
        FetchOptions.__post_init__(self)
        if isinstance(self.provider, str) and self.provider not in ("exa", "brave", "searxng"):
            raise UsageError(f"There is no search provider {self.provider!r}: exa, brave or searxng.")
        for url in (self.searxng_url, self.exa_url, self.brave_url):
            if url is not None:
                try:
                    parse_url(url)
                except ToolError as error:
                    raise UsageError(f"{url!r} is no address of a search provider. {error}") from None
