"""web_search: where on the web something is to be found."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.ext.net import Fetcher
from handrail.toolsets.web.options import WEB_TOOL, WebOptions
from handrail.toolsets.web.page import frame_untrusted
from handrail.toolsets.web.search_providers import Brave, Exa, SearchHit, SearchProvider, SearXNG

_NO_PROVIDER = (
    "Nobody is set up to search the web. An administrator has to set the secret EXA_API_KEY or BRAVE_API_KEY,"
    " or the setting searxng_url."
)


class WebHit(BaseModel):
    """A page that was found."""

    title: str = Field(description="The page's title")
    url: str = Field(description="Its address")
    snippet: str = Field(description="What the page says about it")
    date: str | None = Field(description="When it was published, if that is known")


class WebHits(BaseModel):
    """The pages that were found, the best first."""

    provider: str = Field(description="Who searched")
    results: list[WebHit] = Field(description="The pages, the best first")


def web_search(options: WebOptions | None = None) -> Tool:
    """The tool, with the provider of its options, or whoever is set up."""
    chosen = options or WebOptions()
    fetcher = Fetcher(chosen)
    providers: dict[str, SearchProvider] = {
        "exa": Exa(chosen.exa_url),
        "brave": Brave(chosen.brave_url),
        "searxng": SearXNG(chosen.searxng_url),
    }

    def provider_for(ctx: Context) -> SearchProvider:
        if chosen.provider is not None:
            return providers[chosen.provider] if isinstance(chosen.provider, str) else chosen.provider
        for provider in providers.values():
            if provider.is_set_up(ctx):
                return provider
        raise ToolError(_NO_PROVIDER, code="NO_SEARCH_PROVIDER")

    @tool("web_search", **WEB_TOOL, aliases=["webSearch"], icon="search", output=WebHits)
    async def web_search(
        query: Annotated[
            str,
            Field(description="What to look for, in words or as a question", min_length=1, max_length=400),
        ],
        limit: Annotated[int, Field(description="How many pages to name at most", ge=1, le=20)] = 8,
        *,
        ctx: Context,
    ) -> Result:
        provider = provider_for(ctx)
        async with fetcher.time_limit():
            hits = (await provider.search(query, limit, ctx, fetcher))[:limit]
        rows = [WebHit(title=hit.title, url=hit.url, snippet=hit.snippet, date=hit.date) for hit in hits]
        count = "1 page" if len(hits) == 1 else f"{len(hits)} pages"
        return Result(
            data=WebHits(provider=provider.name, results=rows),
            summary=f"Found {count} with {provider.name}",
            output=_format_hits(hits, provider.name),
        )

    return web_search


def _format_hits(hits: list[SearchHit], provider: str) -> str:
    if not hits:
        return f"{provider} found nothing. Try other words, or fewer."
    blocks = []
    for number, hit in enumerate(hits, 1):
        lines = [f"{number}. {hit.title}", f"   {hit.url}" + (f" ({hit.date})" if hit.date else "")]
        blocks.append("\n".join([*lines, f"   {hit.snippet}"] if hit.snippet else lines))
    return frame_untrusted("\n".join(blocks), f"Found by {provider}; read a page with webfetch")
