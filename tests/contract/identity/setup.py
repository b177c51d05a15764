"""One database with two tenants, and what tests of identity do with it."""

from __future__ import annotations

from typing import Any

from argon2 import PasswordHasher

from handrail import Handrail, Principal, Tool, define
from handrail.core.find.visibility import ToolRow
from handrail.identity.api_keys import KeyAdmin
from handrail.identity.authenticator import Authenticator
from handrail.identity.members import MemberAdmin
from handrail.identity.passwords import Argon2Hasher, PasswordAdmin
from handrail.identity.permissions import console_principal
from handrail.identity.preferences import Preferences
from handrail.identity.tenant_tools import TenantTools
from handrail.store.database import Database
from handrail.store.encryption import Seal
from handrail.store.tools import save_tool_row

ACME, OTHER = "acme", "other"
ANA = Principal(ACME, "ana", permissions=["*"])
BOB = Principal(OTHER, "bob", permissions=["*"])
SEAL = b"s" * 32


class FastHasher(Argon2Hasher):
    """Hashes with as little work as can be, for tests that try many passwords."""

    def __init__(self) -> None:
        super().__init__(lambda: PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))


class IdentitySetup:
    """Everything of identity over one database."""

    def __init__(self, db: Database) -> None:
        self.authenticator = Authenticator(db, SEAL)
        self.people = MemberAdmin(db, self.authenticator.forget)
        self.keys = KeyAdmin(db, self.authenticator.forget)
        self.passwords = PasswordAdmin(db, self.authenticator, FastHasher())
        self.preferences = Preferences(db, Seal([SEAL]))

    async def person(self, *has: str, tenant: str = ACME, email: str = "ana@example.com") -> Principal:
        user = await self.people.add_member(console_principal(tenant), email, has)
        return await self.authenticator.principal_from_session(
            await self.authenticator.sign_in(user.id, tenant)
        )


def make_tool(name: str, **given: Any) -> Tool:
    return define(name, {"description": f"Do {name}.", "level": "read", "execute": lambda: name, **given})


def open_handrail(db: Database, *tools: Any, **options: Any) -> tuple[Handrail, TenantTools]:
    hr = Handrail(tools)
    resolver = TenantTools(db, hr.registry, **options)
    hr._runtime.resolver = resolver
    return hr, resolver


def put_tool_row(db: Database, slug: str, enabled: bool = True, tenant: str = ACME, **fields: Any) -> None:
    row = ToolRow(tenant, slug, fields.pop("kind", "system_override"), enabled, **fields)
    with db.transaction(tenant) as conn:
        save_tool_row(conn, tenant, row, at=1.0, by="ana")


async def is_visible(hr: Handrail, name: str, who: Principal = ANA) -> bool:
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
