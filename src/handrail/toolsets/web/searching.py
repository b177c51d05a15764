"""SearchProvider: who searches the web, and what comes back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Protocol

from handrail import Context
from handrail.ext import ToolError
from handrail.toolsets.web.decoding import visible
from handrail.toolsets.web.fetching import Answer, Fetcher
from handrail.toolsets.web.retrying import retry_after

_MARKUP = re.compile(r"</?(?:strong|b|em|i|mark|span|br|p)\b[^<>]{0,200}>", re.IGNORECASE)
_LONGEST_SNIPPET = 1_000
_MOST_HITS = 100


@dataclass(frozen=True, slots=True)
class Hit:
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

    async def search(self, query: str, limit: int, ctx: Context, fetcher: Fetcher, /) -> list[Hit]: ...


def has_secret(ctx: Context, name: str) -> bool:
    try:
        return bool(ctx.secret(name))
    except ToolError as error:
        if error.code != "SECRET_MISSING":
            raise
        return False


def json_of(answer: Answer, provider: str) -> Any:
    """What a provider answered, or a ToolError that says why there is nothing."""
    if answer.status != 200:
        raise failed(answer, provider)
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise ToolError(
            f"{provider} answered with something that is no JSON.", code="SEARCH_FAILED"
        ) from None


def objects_at(found: Any, *path: str) -> list[Mapping[str, Any]]:
    """The objects in the list at a path of a provider's answer; nothing where there is no such list."""
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return [one for one in found[:_MOST_HITS] if isinstance(one, dict)] if isinstance(found, list) else []


def hit_of(title: Any, url: Any, snippet: Any, date: Any) -> Hit | None:
    """A hit, if it has an address on the web; whatever else a provider sends is made text."""
    if not isinstance(url, str) or not url.lower().startswith(("http://", "https://")):
        return None
    address = "".join(visible(url).split())
    return Hit(plain(title) or address, address, plain(snippet), plain(date)[:40] or None)


def plain(text: Any) -> str:
    """A provider's text on one line, without its markup."""
    if not isinstance(text, str):
        return ""
    return " ".join(visible(unescape(_MARKUP.sub("", text[: 4 * _LONGEST_SNIPPET]))).split())[
        :_LONGEST_SNIPPET
    ]


def failed(answer: Answer, provider: str) -> ToolError:
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
