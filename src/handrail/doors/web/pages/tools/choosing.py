"""Choosing: which tools stand in the library, a leaf at a time, and by what they can be chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.doors.http.routing import source_of
from handrail.doors.http.tools import KindOf, kinds
from handrail.doors.web.routing import Reader

PAGE = 48
"""Tools of one page."""
_BATCH = 200
_FOUND = 60
"""The most that a search shows."""
_LONGEST = 200
_RECENT = 6
_LOOKED = 60
"""How many of the newest runs are looked through for recent tools."""

ORIGINS: Mapping[str, str] = {
    "system": "Built in",
    "custom": "Written here",
    "tenant_custom": "Made by your team",
    "bundle": "From a bundle",
    "mcp": "From another server",
}
KINDS: Mapping[str, str] = {
    "code": "As written",
    "system_override": "Adjusted for your team",
    "tenant_custom": "Kept by your team",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody looks for in the library."""

    words: str = ""
    origin: str = ""
    kind: str = ""
    category: str = ""
    after: str = ""

    @property
    def is_open(self) -> bool:
        """Whether nothing in particular is looked for."""
        return not (self.words or self.origin or self.kind or self.category or self.after)

    def url(self, **changes: str) -> str:
        """The address of the library as it is wished for."""
        wanted = {"q": self.words, "origin": self.origin, "kind": self.kind, "category": self.category}
        pairs = {name: value for name, value in (wanted | changes).items() if value}
        return f"/tools?{urlencode(pairs)}" if pairs else "/tools"


def wish_of(query: Mapping[str, str]) -> Wish:
    """What an address asks for; what there is none of counts for nothing."""
    given = {name: query.get(name, "").strip()[:_LONGEST] for name in ("q", "category", "after")}
    origin, kind = query.get("origin", ""), query.get("kind", "")
    return Wish(
        given["q"],
        origin if origin in ORIGINS else "",
        kind if kind in KINDS else "",
        given["category"],
        given["after"],
    )


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page of the library."""

    tools: tuple[Tool, ...]
    following: str | None = None
    """After which tool the next page begins, if there is one."""
    cut: bool = False
    """Whether a search found more than is shown."""


async def leaf_of(reader: Reader, wish: Wish) -> Leaf:
    """The tools that fit, of those this reader may see: the best first, or by id."""
    kind_of = await kinds(reader.platform, reader.who) if wish.kind else None
    if wish.words:
        found = await reader.hr.search(
            wish.words, reader.who, limit=_FOUND * 4, source=source_of(reader.request)
        )
        fitting = [one.tool for one in found if one.tool.ready and _fits(one.tool, wish, kind_of)]
        return Leaf(tuple(fitting[:_FOUND]), cut=len(fitting) > _FOUND)
    return await _page(reader, wish, kind_of)


async def _page(reader: Reader, wish: Wish, kind_of: KindOf | None) -> Leaf:
    found: list[Tool] = []
    after = wish.after or None
    while len(found) <= PAGE:
        batch = await reader.hr.tools(reader.who, source=source_of(reader.request), after=after, limit=_BATCH)
        found += [tool for tool in batch if _fits(tool, wish, kind_of)]
        if len(batch) < _BATCH:
            break
        after = batch[-1].id
    return Leaf(tuple(found[:PAGE]), found[PAGE - 1].id if len(found) > PAGE else None)


def _fits(tool: Tool, wish: Wish, kind_of: KindOf | None) -> bool:
    return (
        (not wish.origin or tool.origin == wish.origin)
        and (not wish.category or tool.category == wish.category)
        and (kind_of is None or kind_of(tool) == wish.kind)
    )


@dataclass(frozen=True, slots=True)
class Choices:
    """By what this reader's tools can be told apart."""

    total: int
    origins: tuple[str, ...]
    categories: tuple[str, ...]


async def choices_of(reader: Reader) -> Choices:
    """Of all that this reader may see, however much that is."""
    there = await reader.hr.tools(reader.who, source=source_of(reader.request))
    origins = {tool.origin for tool in there}
    categories = {tool.category for tool in there if tool.category}
    return Choices(
        len(there),
        tuple(one for one in ORIGINS if one in origins),
        tuple(sorted(categories, key=str.casefold)),
    )


async def recent_of(reader: Reader) -> list[Tool]:
    """What this reader ran last, each tool once."""
    if reader.who.user is None:
        return []
    runs = await reader.hr.runs(reader.who, user=reader.who.user, limit=_LOOKED)
    mine = dict.fromkeys(run.tool for run in runs if run.agent == reader.who.agent)
    return await seen(reader, mine, _RECENT)


async def seen(reader: Reader, ids: Iterable[str], most: int) -> list[Tool]:
    """The tools of these ids that this reader may see."""
    found: list[Tool] = []
    for id in ids:
        if len(found) == most:
            break
        try:
            found.append((await reader.hr.describe(id, reader.who, source=source_of(reader.request))).tool)
        except ToolError:
            continue
    return found
