"""WebOptions: what an operator sets for the web tools."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from handrail.ext import ToolError, UsageError
from handrail.toolsets.web.addresses import Allowed
from handrail.toolsets.web.url import read_url

if TYPE_CHECKING:
    from handrail.toolsets.web.searching import SearchProvider

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Which addresses a name has: (host, port) -> addresses."""
ProviderName = Literal["exa", "brave", "searxng"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebOptions:
    """Limits of the web tools, what they may reach beside the public internet, and who searches."""

    private_networks: Sequence[str] = ()
    """Networks and hosts beside the public internet: `10.0.0.0/8`, `127.0.0.1:8080`, `intranet.example`."""
    timeout: float = 30.0
    """Seconds for one call with all its redirects, unless the call asks for another time."""
    max_bytes: int = 10_000_000
    """The most that is read of an answer, as it comes over the wire and unpacked."""
    redirects: int = 5
    provider: ProviderName | SearchProvider | None = None
    """Who searches; when None, whoever is set up: Exa, Brave, SearXNG, in this order."""
    searxng_url: str | None = None
    """The address of a SearXNG that gives JSON. It is trusted, wherever it stands."""
    exa_url: str = "https://api.exa.ai"
    brave_url: str = "https://api.search.brave.com"
    ca_file: str | None = None
    """Certificates to trust beside those of the system."""
    resolver: Resolver | None = None

    def __post_init__(self) -> None:
        Allowed.of(self.private_networks)
        if self.timeout <= 0 or self.max_bytes <= 0 or self.redirects < 0:
            raise UsageError("The limits of the web tools are numbers above 0.")
        if isinstance(self.provider, str) and self.provider not in ("exa", "brave", "searxng"):
            raise UsageError(f"There is no search provider {self.provider!r}: exa, brave or searxng.")
        if self.ca_file is not None:
            try:
                ssl.create_default_context(cafile=self.ca_file)
            except OSError:
                raise UsageError(f"The file {self.ca_file!r} holds no certificates to trust.") from None
        for url in (self.searxng_url, self.exa_url, self.brave_url):
            if url is not None:
                try:
                    read_url(url)
                except ToolError as error:
                    raise UsageError(f"{url!r} is no address of a search provider. {error}") from None
