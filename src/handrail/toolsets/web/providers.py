"""Exa, Brave and SearXNG: three who search, each in its own format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import urlencode

from handrail import Context
from handrail.ext import ToolError
from handrail.toolsets.web.addresses import Allowed
from handrail.toolsets.web.fetching import Fetcher, Request
from handrail.toolsets.web.searching import Hit, has_secret, hit_of, json_of, objects_at
from handrail.toolsets.web.url import Url, read_url

_EXA_KEY = "EXA_API_KEY"
_BRAVE_KEY = "BRAVE_API_KEY"
_SNIPPET = 500


@dataclass(frozen=True, slots=True)
class Exa:
    """https://exa.ai: finds pages by meaning."""

    url: str
    name: str = "Exa"

    def is_set_up(self, ctx: Context, /) -> bool:
        return has_secret(ctx, _EXA_KEY)

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[Hit]:
        asked = {
            "query": query,
            "numResults": limit,
            "type": "auto",
            "contents": {"highlights": {"maxCharacters": _SNIPPET}},
        }
        headers = {"x-api-key": ctx.secret(_EXA_KEY), "Content-Type": "application/json"}
        request = Request(_below(self.url, "search"), "POST", headers, json.dumps(asked).encode())
        found = objects_at(json_of(await fetcher.exchange(request), self.name), "results")
        hits = []
        for one in found:
            highlights = one.get("highlights")
            told = (
                " … ".join(text for text in highlights if isinstance(text, str))
                if isinstance(highlights, list)
                else ""
            )
            date = str(one.get("publishedDate") or "")[:10]
            hits.append(hit_of(one.get("title"), one.get("url"), told or one.get("text"), date))
        return [hit for hit in hits if hit is not None]


@dataclass(frozen=True, slots=True)
class Brave:
    """https://brave.com/search/api: an index of the web of its own."""

    url: str
    name: str = "Brave"

    def is_set_up(self, ctx: Context, /) -> bool:
        return has_secret(ctx, _BRAVE_KEY)

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[Hit]:
        asked = urlencode({"q": query, "count": limit, "text_decorations": "false"})
        headers = {"X-Subscription-Token": ctx.secret(_BRAVE_KEY), "Accept": "application/json"}
        request = Request(_below(self.url, f"res/v1/web/search?{asked}"), headers=headers)
        answer = await fetcher.exchange(request)
        if answer.status == 422 and b"SUBSCRIPTION_TOKEN_INVALID" in answer.body:
            raise ToolError(
                "Brave does not accept the key that is set up. An administrator has to set a valid one.",
                code="SEARCH_KEY_REFUSED",
            )
        found = objects_at(json_of(answer, self.name), "web", "results")
        hits = [
            hit_of(
                one.get("title"),
                one.get("url"),
                one.get("description"),
                str(one.get("page_age") or "")[:10] or one.get("age"),
            )
            for one in found
        ]
        return [hit for hit in hits if hit is not None]


@dataclass(frozen=True, slots=True)
class SearXNG:
    """https://docs.searxng.org: asks many others, and can be run by oneself."""

    url: str | None
    name: str = "SearXNG"

    def is_set_up(self, ctx: Context, /) -> bool:
        return self.url is not None

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[Hit]:
        if self.url is None:
            raise ToolError(
                "SearXNG is chosen to search, and the setting searxng_url does not say where it is.",
                code="NO_SEARCH_PROVIDER",
            )
        url = _below(self.url, "search?" + urlencode({"q": query, "format": "json"}))
        trusted = Allowed.of([f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"])
        answer = await fetcher.exchange(Request(url, headers={"Accept": "application/json"}), trusted=trusted)
        if answer.status == 403:
            raise ToolError(
                "SearXNG gives no JSON. An administrator has to add json to search.formats in its settings.",
                code="SEARCH_FAILED",
            )
        told = json_of(answer, self.name)
        found = objects_at(told, "results")
        if not found and isinstance(told, dict) and told.get("unresponsive_engines"):
            raise ToolError(
                "SearXNG found nothing, and engines that it asks did not answer. Try again later.",
                code="SEARCH_FAILED",
            )
        hits = [
            hit_of(
                one.get("title"), one.get("url"), one.get("content"), str(one.get("publishedDate") or "")[:10]
            )
            for one in found
        ]
        return [hit for hit in hits if hit is not None]


def _below(base: str, reference: str) -> Url:
    return read_url(f"{base.rstrip('/')}/{reference}")
