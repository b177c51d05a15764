"""handrail mcp: the tools for the program that started this process, over standard input and output."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import typer

from handrail.core.define.principal import Principal
from handrail.doors.cli.acting import acting_as
from handrail.doors.cli.exits import Stop
from handrail.doors.cli.opening import Opener, tools_of
from handrail.doors.cli.options import As, Database, Debug, Tenant, Tools, User
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.stored import the_store
from handrail.doors.cli.where import settings_at
from handrail.settings import PREFIX

if TYPE_CHECKING:
    from handrail.engine import Handrail

KEY = f"{PREFIX}API_KEY"


def serve(
    ctx: typer.Context,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    who: As = "agent",
    debug: Debug = False,
) -> None:
    """Serve the tools over standard input and output, as `handrail mcp` alone does.

    They are for the program that started it, which acts as an agent of the person in the settings, or with
    the key in HANDRAIL_API_KEY. What waits for approval is answered elsewhere, which takes a database: see
    `handrail approvals`.
    """
    with screen(debug) as here:
        settings = settings_at(database, tenant, user)
        acting = acting_as(who, settings)
        if acting.agent is None:
            raise Stop(f"--as {who} is no agent", "give --as agent or --as agent:NAME")
        key = os.environ.get(KEY)
        if key is not None and settings.database is None:
            raise Stop(f"{KEY} is set, and there is no database that knows keys", "name it with --database")
        opener: Opener = ctx.obj
        with the_store():
            hr = opener(settings, tools_of(tools, settings), acting.agent if key is None else None, None)
            asyncio.run(_serve(hr, acting.principal, key, settings.mcp_hold, here))


async def _serve(hr: Handrail, principal: Principal, key: str | None, hold: float, here: Screen) -> None:
    from handrail.doors.mcp.stdio import serve_stdio
    from handrail.identity.errors import NotSignedIn
    from handrail.platform import platform_of

    async with hr:
        platform = platform_of(hr)

        async def who() -> Principal:
            return principal if key is None else await platform.who.principal_of(key, "mcp")

        try:
            await who()
        except NotSignedIn as error:
            raise Stop(f"{KEY}: {error}", "make one with: handrail keys add") from None
        await serve_stdio(platform, who, here.out.stream, hold=hold)
