"""Search and listing with few and many tools and rules, for a principal that may not see them all."""

from collections.abc import Sequence
from itertools import cycle, islice, product

from benchmarks.subject_process import main
from benchmarks.subjects.scale import rules_about_other_tools
from benchmarks.timing import Subject
from handrail import Handrail, Policy, Principal, Tool, ToolMatch, define

SOMEBODY = Principal(tenant="acme", user="u1")

_VERBS = "create get list update delete search send export import archive".split()
_THINGS = "Record Invoice File Event Contact Order Branch Issue Report Message".split()
_QUERIES = (
    "search records",
    "delete file",
    "how do I send a message to a customer",
    "serch recrods",
    "area3.getRecord",
    "archive",
    "list all open issues of an area",
    "export invoices to a file",
)
_PAGE = 50


async def subjects() -> Sequence[Subject]:
    few, many = tools(1), tools(100)
    rules = rules_about_other_tools(100)
    return (
        await searching("search, 100 tools", few, Policy()),
        await searching("search, 10,000 tools, 100 rules", many, Policy(rules=rules)),
        await listing("page of 50, 100 tools", few, Policy()),
        await listing("page of 50, 10,000 tools, 100 rules", many, Policy(rules=rules)),
    )


def tools(areas: int) -> list[Tool]:
    """A hundred for each area; every tenth belongs to somebody else."""
    named = product(range(areas), _VERBS, _THINGS)
    return [
        define(
            f"area{area}.{verb}{thing}",
            {
                "description": f"{verb.title()} one or more of the {thing.lower()}s in area {area}.",
                "params": {f"{thing.lower()}_id": {"type": "string"}, "limit": {"type": "integer"}},
                "level": "read",
                "tenants": ["other"] if number % 10 == 9 else [],
                "execute": dict,
            },
        )
        for number, (area, verb, thing) in enumerate(named)
    ]


async def searching(name: str, among: Sequence[Tool], policy: Policy) -> Subject:
    """Searches in turn, round after round: names, words that all tools have, that few have, that none has."""
    hr = Handrail(among, policy=policy)
    queries = cycle(_QUERIES)

    async def loop(number: int) -> object:
        for words in islice(queries, number):
            matches = await hr.search(words, SOMEBODY)
        return matches

    await loop(len(_QUERIES))  # what is made once is no cost of a search
    return Subject(name, loop, _is_match_list)


async def listing(name: str, among: Sequence[Tool], policy: Policy) -> Subject:
    hr = Handrail(among, policy=policy)

    async def loop(number: int) -> object:
        for _ in range(number):
            page = await hr.tools(SOMEBODY, after="area0.list", limit=_PAGE)
        return page

    await loop(1)
    return Subject(name, loop, _paged)


def _is_match_list(matches: object) -> bool:
    return (
        isinstance(matches, list)
        and 0 < len(matches) <= 10
        and all(isinstance(match, ToolMatch) and not match.tool.tenants for match in matches)
    )


def _paged(page: object) -> bool:
    return isinstance(page, list) and 0 < len(page) <= _PAGE and not any(tool.tenants for tool in page)


if __name__ == "__main__":
    main(subjects)
