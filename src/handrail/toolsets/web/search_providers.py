"""SearchProvider: who searches the web; Exa, Brave and SearXNG are three."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Protocol
from urllib.parse import urlencode

from handrail import Context, ToolError
from handrail.ext.net import (
    AddressAllowlist,
    Fetcher,
    FetchRequest,
    FetchResponse,
    Url,
    parse_url,
    remove_invisible,
    retry_after,
)

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


def objects_at_path(value: Any, *path: str) -> list[Mapping[str, Any]]:
    """The objects in the list at a path of a provider's answer; nothing where there is no such list."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return [row for row in value[:_MAX_HITS] if isinstance(row, dict)] if isinstance(value, list) else []


def search_hits(rows: Iterable[Mapping[str, Any]], snippet: str, date: str, age: str = "") -> list[SearchHit]:
    """The rows that have an address on the web; whatever else a provider sends is made text.

    `snippet`, `date` and `age` name the fields that hold these; of a date the day is shown, or else the age.
    """
    hits = []
    for row in rows:
        url = row.get("url")
        if isinstance(url, str) and url.lower().startswith(("http://", "https://")):
            address = "".join(remove_invisible(url).split())
            day = plain_text(str(row.get(date) or "")[:10] or row.get(age))[:40] or None
            title = plain_text(row.get("title")) or address
            hits.append(SearchHit(title, address, plain_text(row.get(snippet)), day))
    return hits


def plain_text(text: Any) -> str:
    """A provider's text on one line, without its markup."""
    if not isinstance(text, str):
        return ""
    return " ".join(remove_invisible(unescape(_MARKUP.sub("", text[: 4 * _MAX_SNIPPET]))).split())[
        :_MAX_SNIPPET
    ]


def key_refused(provider: str) -> ToolError:
    return ToolError(
        f"{provider} does not accept the key that is set up. An administrator has to set a valid one.",
        code="SEARCH_KEY_REFUSED",
    )


def provider_error(answer: FetchResponse, provider: str) -> ToolError:
    """A status of a provider in words. Nothing of its answer is passed on: it may quote the key."""
    status = answer.status
    if status in (401, 403):
        return key_refused(provider)
    if status == 429:
        wait = retry_after(answer.headers)
        later = "later" if wait is None else f"in {wait:.0f} seconds"
        return ToolError(
            f"{provider} has had too many searches for now. Try again {later}.",
            code="SEARCH_LIMITED",
            retry_after=wait,
        )
    if status == 402:
        message = f"The credit with {provider} is used up. An administrator has to add some."
    elif 300 <= status < 400 or status in (404, 405):
        message = (
            f"{provider} is not at the address that is set up: it answered with the status {status}. "
            "An administrator has to correct the address."
        )
    elif status >= 500:
        message = f"{provider} is not working at the moment. Try again later."
    else:
        message = f"{provider} refused the search with the status {status}. Try simpler and fewer words."
    return ToolError(message, code="SEARCH_FAILED")


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
        body = {
            "query": query,
            "numResults": limit,
            "type": "auto",
            "contents": {"highlights": {"maxCharacters": _EXA_SNIPPET}},
        }
        headers = {"x-api-key": ctx.secret(_EXA_KEY), "Content-Type": "application/json"}
        request = FetchRequest(_url_below(self.url, "search"), "POST", headers, json.dumps(body).encode())
        rows = objects_at_path(json_body(await fetcher.send(request), self.name), "results")
        excerpts = [{**row, "excerpt": _joined(row.get("highlights")) or row.get("text")} for row in rows]
        return search_hits(excerpts, "excerpt", "publishedDate")


def _joined(highlights: Any) -> str:
    texts = highlights if isinstance(highlights, list) else []
    return " … ".join(text for text in texts if isinstance(text, str))


@dataclass(frozen=True, slots=True)
class Brave:
    """https://brave.com/search/api: an index of the web of its own."""

    url: str
    name: str = "Brave"

    def is_set_up(self, ctx: Context, /) -> bool:
        return has_secret(ctx, _BRAVE_KEY)

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[SearchHit]:
        words = urlencode({"q": query, "count": limit, "text_decorations": "false"})
        headers = {"X-Subscription-Token": ctx.secret(_BRAVE_KEY), "Accept": "application/json"}
        request = FetchRequest(_url_below(self.url, f"res/v1/web/search?{words}"), headers=headers)
        answer = await fetcher.send(request)
        if answer.status == 422 and b"SUBSCRIPTION_TOKEN_INVALID" in answer.body:
            raise key_refused(self.name)
        rows = objects_at_path(json_body(answer, self.name), "web", "results")
        return search_hits(rows, "description", "page_age", "age")


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
        body = json_body(answer, self.name)
        rows = objects_at_path(body, "results")
        if not rows and isinstance(body, dict) and body.get("unresponsive_engines"):
            raise ToolError(
                "SearXNG found nothing, and engines that it asks did not answer. Try again later.",
                code="SEARCH_FAILED",
            )
        return search_hits(rows, "content", "publishedDate")


def _url_below(base: str, reference: str) -> Url:
    return parse_url(f"{base.rstrip('/')}/{reference}")
