"""One database with two tenants, and what tests of identity do with it."""

from __future__ import annotations

from typing import Any

from argon2 import PasswordHasher

from handrail import Handrail, Principal, Tool, define
from handrail.core.find.visibility import ToolRow
from handrail.identity.doorkeeper import Doorkeeper
from handrail.identity.granting import console
from handrail.identity.keepsakes import Keepsakes
from handrail.identity.key_office import KeyOffice
from handrail.identity.password_office import PasswordOffice
from handrail.identity.passwords import Hashing
from handrail.identity.people import People
from handrail.identity.tenant_tools import TenantTools
from handrail.store.database import Database
from handrail.store.sealing import Seal
from handrail.store.tools import save_row

ACME, OTHER = "acme", "other"
ANA = Principal(ACME, "ana", permissions=["*"])
BOB = Principal(OTHER, "bob", permissions=["*"])
SEAL = b"s" * 32


class Quick(Hashing):
    """Hashes with as little work as can be, for tests that try many passwords."""

    def __init__(self) -> None:
        super().__init__(lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


class House:
    """Everything of identity over one database."""

    def __init__(self, db: Database) -> None:
        self.door = Doorkeeper(db, SEAL)
        self.people = People(db, self.door.forget)
        self.keys = KeyOffice(db, self.door.forget)
        self.passwords = PasswordOffice(db, self.door, Quick())
        self.keepsakes = Keepsakes(db, Seal([SEAL]))

    async def person(self, *has: str, tenant: str = ACME, email: str = "ana@example.com") -> Principal:
        user = await self.people.add_member(console(tenant), email, has)
        return await self.door.principal_from_session(await self.door.sign_in(user.id, tenant))


def made(name: str, **given: Any) -> Tool:
    return define(name, {"description": f"Do {name}.", "level": "read", "execute": lambda: name, **given})


def opened(db: Database, *tools: Any, **options: Any) -> tuple[Handrail, TenantTools]:
    hr = Handrail(tools)
    resolver = TenantTools(db, hr.registry, **options)
    hr._house.resolver = resolver
    return hr, resolver


def put(db: Database, slug: str, enabled: bool = True, tenant: str = ACME, **fields: Any) -> None:
    row = ToolRow(tenant, slug, fields.pop("kind", "system_override"), enabled, **fields)
    with db.transaction(tenant) as conn:
        save_row(conn, tenant, row, at=1.0, by="ana")


async def sees(hr: Handrail, name: str, who: Principal = ANA) -> bool:
    """Whether a tool is there: every way to it has to agree."""
    listed = name in [tool.id for tool in await hr.tools(who)]
    paged = name in [tool.id for tool in await hr.tools(who, limit=50)]
    exported = name in [one["name"].replace("__", ".") for one in await hr.export("mcp", who)]
    found = name in [one.tool.id for one in await hr.search(name, who)]
    on_menu = f"- {name}:" in await hr.menu(who)
    called = (await hr.call(name, principal=who)).result.code != "TOOL_NOT_FOUND"
    explained = (await hr.explain(name, principal=who)).code != "TOOL_NOT_FOUND"
    answers = {listed, paged, exported, found, on_menu, called, explained}
    assert len(answers) == 1, (name, listed, paged, exported, found, on_menu, called, explained)
    return listed
