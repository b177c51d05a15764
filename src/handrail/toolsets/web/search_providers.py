"""SearchProvider: who searches the web; Exa, Brave and SearXNG are three."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Protocol
from urllib.parse import urlencode

from handrail import Context
from handrail.ext import ToolError
from handrail.net.addresses import AddressAllowlist
from handrail.net.body import remove_invisible
from handrail.net.fetcher import Fetcher, FetchRequest, FetchResponse, retry_after
from handrail.net.url import Url, parse_url

_MARKUP = re.compile(r"</?(?:strong|b|em|i|mark|span|br|p)\b[^<>]{0,200}>", re.IGNORECASE)
_MAX_SNIPPET = 1_000
_MAX_HITS = 100


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page that was found."""

    title: str
    url: str
    snippet: str = ""
    date: str | None = None
    """When it was published, as the provider says it."""


class SearchProvider(Protocol):
    """Searches the web. Raises ToolError with words for whoever asked, and never with a key in them."""

    @property
    def name(self) -> str: ...

    def is_set_up(self, ctx: Context, /) -> bool:
        """Whether it has what it needs, such as a key of this tenant."""
        ...

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[SearchHit]: ...


def has_secret(ctx: Context, name: str) -> bool:
    try:
        return bool(ctx.secret(name))
    except ToolError as error:
        if error.code != "SECRET_MISSING":
            raise
        return False


def json_body(answer: FetchResponse, provider: str) -> Any:
    """What a provider answered, or a ToolError that says why there is nothing."""
    if answer.status != 200:
        raise provider_error(answer, provider)
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise ToolError(
            f"{provider} answered with something that is no JSON.", code="SEARCH_FAILED"
        ) from None


def objects_at_path(found: Any, *path: str) -> list[Mapping[str, Any]]:
    """The objects in the list at a path of a provider's answer; nothing where there is no such list."""
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return [one for one in found[:_MAX_HITS] if isinstance(one, dict)] if isinstance(found, list) else []


def make_hit(title: Any, url: Any, snippet: Any, date: Any) -> SearchHit | None:
    """A hit, if it has an address on the web; whatever else a provider sends is made text."""
    if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
        return None
    address = "".join(remove_invisible(url).split())
    return SearchHit(
        plain_text(title) or address, address, plain_text(snippet), plain_text(date)[:40] or None
    )


def plain_text(text: Any) -> str:
    """A provider's text on one line, without its markup."""
    if not isinstance(text, str):
        return ""
    return " ".join(remove_invisible(unescape(_MARKUP.sub("", text[: 4 * _MAX_SNIPPET]))).split())[
        :_MAX_SNIPPET
    ]


def provider_error(answer: FetchResponse, provider: str) -> ToolError:
    """A status of a provider in words. Nothing of its answer is passed on: it may quote the key."""
    if answer.status in (401, 403):
        return ToolError(
            f"{provider} does not accept the key that is set up. An administrator has to set a valid one.",
            code="SEARCH_KEY_REFUSED",
        )
    if answer.status == 429:
        wait = retry_after(answer.headers)
        later = "later" if wait is None else f"in {wait:.0f} seconds"
        return ToolError(
            f"{provider} has had too many searches for now. Try again {later}.",
            code="SEARCH_LIMITED",
            retry_after=wait,
        )
    if answer.status == 402:
        return ToolError(
            f"The credit with {provider} is used up. An administrator has to add some.", code="SEARCH_FAILED"
        )
    if 300 <= answer.status < 400 or answer.status in (404, 405):
        return ToolError(
            f"{provider} is not at the address that is set up: it answered with the status {answer.status}. "
            "An administrator has to correct the address.",
            code="SEARCH_FAILED",
        )
    if answer.status >= 500:
        return ToolError(f"{provider} is not working at the moment. Try again later.", code="SEARCH_FAILED")
    return ToolError(
        f"{provider} refused the search with the status {answer.status}. Try simpler and fewer words.",
        code="SEARCH_FAILED",
    )


_EXA_KEY = "EXA_API_KEY"
_BRAVE_KEY = "BRAVE_API_KEY"
_EXA_SNIPPET = 500


@dataclass(frozen=True, slots=True)
class Exa:
    """https://exa.ai: finds pages by meaning."""

    url: str
    name: str = "Exa"

    def is_set_up(self, ctx: Context, /) -> bool:
        return has_secret(ctx, _EXA_KEY)

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[SearchHit]:
        asked = {
            "query": query,
            "numResults": limit,
            "type": "auto",
            "contents": {"highlights": {"maxCharacters": _EXA_SNIPPET}},
        }
        headers = {"x-api-key": ctx.secret(_EXA_KEY), "Content-Type": "application/json"}
        request = FetchRequest(_url_below(self.url, "search"), "POST", headers, json.dumps(asked).encode())
        found = objects_at_path(json_body(await fetcher.send(request), self.name), "results")
        hits = []
        for one in found:
            highlights = one.get("highlights")
            told = (
                " … ".join(text for text in highlights if isinstance(text, str))
                if isinstance(highlights, list)
                else ""
            )
            date = str(one.get("publishedDate") or "")[:10]
            hits.append(make_hit(one.get("title"), one.get("url"), told or one.get("text"), date))
        return [hit for hit in hits if hit is not None]


@dataclass(frozen=True, slots=True)
class Brave:
    """https://brave.com/search/api: an index of the web of its own."""

    url: str
    name: str = "Brave"

    def is_set_up(self, ctx: Context, /) -> bool:
        return has_secret(ctx, _BRAVE_KEY)

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[SearchHit]:
        asked = urlencode({"q": query, "count": limit, "text_decorations": "false"})
        headers = {"X-Subscription-Token": ctx.secret(_BRAVE_KEY), "Accept": "application/json"}
        request = FetchRequest(_url_below(self.url, f"res/v1/web/search?{asked}"), headers=headers)
        answer = await fetcher.send(request)
        if answer.status == 422 and b"SUBSCRIPTION_TOKEN_INVALID" in answer.body:
            raise ToolError(
                "Brave does not accept the key that is set up. An administrator has to set a valid one.",
                code="SEARCH_KEY_REFUSED",
            )
        found = objects_at_path(json_body(answer, self.name), "web", "results")
        hits = [
            make_hit(
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

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[SearchHit]:
        if self.url is None:
            raise ToolError(
                "SearXNG is chosen to search, and the setting searxng_url does not say where it is.",
                code="NO_SEARCH_PROVIDER",
            )
        url = _url_below(self.url, "search?" + urlencode({"q": query, "format": "json"}))
        trusted = AddressAllowlist.of(
            [f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"]
        )
        answer = await fetcher.send(
            FetchRequest(url, headers={"Accept": "application/json"}), trusted=trusted
        )
        if answer.status == 403:
            raise ToolError(
                "SearXNG gives no JSON. An administrator has to add json to search.formats in its settings.",
                code="SEARCH_FAILED",
            )
        told = json_body(answer, self.name)
        found = objects_at_path(told, "results")
        if not found and isinstance(told, dict) and told.get("unresponsive_engines"):
            raise ToolError(
                "SearXNG found nothing, and engines that it asks did not answer. Try again later.",
                code="SEARCH_FAILED",
            )
        hits = [
            make_hit(
                one.get("title"), one.get("url"), one.get("content"), str(one.get("publishedDate") or "")[:10]
            )
            for one in found
        ]
        return [hit for hit in hits if hit is not None]


def _url_below(base: str, reference: str) -> Url:
    return parse_url(f"{base.rstrip('/')}/{reference}")
