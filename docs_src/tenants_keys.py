"""tenants.md: tenants, people, keys, and which tools a tenant has."""

import asyncio
import secrets
import tempfile
from pathlib import Path

from handrail import Handrail, tool
from handrail.databases import upgrade
from handrail.store.database import Database


async def people_and_keys(db: Database) -> None:
    # region people
    from handrail.identity.api_keys import KeyAdmin
    from handrail.identity.authenticator import Authenticator
    from handrail.identity.members import MemberAdmin
    from handrail.identity.permissions import console_principal

    authenticator = Authenticator(
        db, key=secrets.token_bytes(32)
    )  # keep that key: sessions are signed with it
    people, keys = MemberAdmin(db, authenticator.forget), KeyAdmin(db, authenticator.forget)

    await people.create_tenant("acme", "Acme Ltd")
    ana = await people.add_member(console_principal("acme"), "ana@example.com", ["admin"])
    admin = await authenticator.principal_from_session(await authenticator.sign_in(ana.id, "acme"))
    # endregion
    # region key
    text, _ = await keys.make(admin, "nightly reports", "agent", tools=["reports.*"], ceiling="read")
    agent = await authenticator.principal_of(text.reveal())  # hr_acme_<id>_<secret>: show it once
    assert (agent.tenant, agent.scope, agent.ceiling) == ("acme", ("reports.*",), "read")
    # endregion


async def which_tools(db: Database) -> None:
    from handrail.identity.permissions import console_principal

    admin = console_principal("acme")
    # region tools
    from handrail.identity.tenant_tools import TenantTools
    from handrail.identity.tool_admin import ToolAdmin

    @tool("reports.read", level="read")
    async def read_report(name: str) -> str:
        """Read a report that was stored before."""
        return f"the report {name}"

    @tool("reports.export", level="read", origin="system")
    async def export_report(name: str) -> str:
        """Export a report to a file of its own."""
        return f"{name}.pdf"

    hr = Handrail([read_report, export_report])
    tools = TenantTools(db, hr.registry)
    assert await tools.get_available_tool("reports-export", "acme") is None

    tool_admin = ToolAdmin(tools)
    await tool_admin.override(admin, "reports-export", {"enabled": True})
    await tool_admin.override(admin, "reports-read", {"permission_policy": "always_ask"})
    for row in await tools.resolve_all_tools_for_tenant("acme"):
        print(row.slug, row.kind, row.origin, row.permission_policy)
    # endregion


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'handrail.db'}"
        upgrade(url)
        db = Database(url)
        await people_and_keys(db)
        await which_tools(db)
        db.close()


if __name__ == "__main__":
    asyncio.run(main())
