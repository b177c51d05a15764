"""A page of tools for one of many tenants, where some of what there is of tools stands in rows."""

import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from sqlalchemy import insert

from benchmarks.subject_process import main
from benchmarks.timing import Subject
from handrail import Handrail, Principal, Tool, define
from handrail.core.find.visibility import DEFAULT_TENANT_ID
from handrail.identity.tenant_tools import TenantTools
from handrail.store.database import Database
from handrail.store.migrate import upgrade
from handrail.store.tables.catalogue import tools as table

_PAGE = 50
_FOLDER = tempfile.TemporaryDirectory(prefix="handrail-bench-")
_FOREVER = 1e9


async def subjects() -> Sequence[Subject]:
    return (
        resolving("resolved anew, 50 tools, 1 tenant", *opened("few", 50, 1)),
        resolving("all resolved anew, 5,000 tools, 1,000 tenants in turn", *opened("many", 5_000, 1_000)),
        resolving("first page anew, 5,000 tools, 1,000 tenants in turn", *opened("first", 5_000, 1_000), 1),
        await remembering("remembered, 50 tools, 1 tenant", *opened("few-again", 50, 1)),
        await remembering(
            "remembered, 5,000 tools, 1,000 tenants in turn", *opened("many-again", 5_000, 1_000)
        ),
    )


def opened(name: str, number: int, tenants: int) -> tuple[Handrail, TenantTools, list[Principal]]:
    """Every fifth tool is a system tool that a row for all enables; each tenant changes a few of its own."""
    url = f"sqlite:///{Path(_FOLDER.name) / name}.db"
    upgrade(url)
    db = Database(url)
    tools = [tool(at) for at in range(number)]
    names = [f"tenant{at}" for at in range(tenants)]
    rows = [
        row(DEFAULT_TENANT_ID, system_tool.slug) for system_tool in tools if system_tool.origin == "system"
    ]
    for at, tenant in enumerate(names):
        mine = {tools[(at * 7 + step * 13) % number].slug for step in range(20)}
        rows += [row(tenant, slug, name=f"{slug} of {tenant}") for slug in sorted(mine)]
    with db.system() as conn:
        conn.execute(insert(table), rows)
    hr = Handrail(tools)
    hr._runtime.resolver = resolver = TenantTools(db, hr.registry, staleness=_FOREVER)
    return hr, resolver, [Principal(tenant, "u1", permissions=["*"]) for tenant in names]


def tool(at: int) -> Tool:
    return define(
        f"area{at % 100}.doThing{at}",
        {
            "description": f"Do thing {at} in its area.",
            "params": {"thing_id": {"type": "string"}},
            "level": "read",
            "origin": "system" if at % 5 == 0 else "custom",
            "execute": dict,
        },
    )


def row(tenant: str, slug: str, name: str | None = None) -> dict[str, object]:
    return {"tenant_id": tenant, "slug": slug, "kind": "system_override", "enabled": True, "name": name}


def resolving(
    name: str, hr: Handrail, resolver: TenantTools, who: list[Principal], pages: int | None = None
) -> Subject:
    """Pages of one tenant after the other; at its first page nothing is known of the tenant."""
    pages = pages or len(hr.registry.list()) // _PAGE
    turns = cycle((caller, number) for caller in who for number in range(pages))
    last: str | None = None

    async def loop(number: int) -> object:
        nonlocal last
        for caller, at in islice(turns, number):
            if at == 0:
                resolver.forget(caller.tenant)
                last = None
            page = await hr.tools(caller, after=last, limit=_PAGE)
            last = page[-1].id
        return page

    return Subject(name, loop, _paged)


async def remembering(name: str, hr: Handrail, resolver: TenantTools, who: list[Principal]) -> Subject:
    """The first page of one tenant after the other, when it was asked for before."""
    callers = cycle(who)

    async def loop(number: int) -> object:
        for _ in range(number):
            page = await hr.tools(next(callers), limit=_PAGE)
        return page

    await loop(len(who))
    return Subject(name, loop, _paged)


def _paged(page: object) -> bool:
    return isinstance(page, list) and len(page) == _PAGE


if __name__ == "__main__":
    main(subjects)
