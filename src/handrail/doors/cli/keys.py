"""handrail keys: API keys of a tenant. For whoever has the database in hand."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handrail.core.define.levels import LEVELS
from handrail.doors.cli.context import settings_from_options
from handrail.doors.cli.database import open_database
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import Database, Debug, Json, Tenant, parse_duration
from handrail.doors.cli.output import format_time, show_rows
from handrail.doors.cli.screen import open_screen

if TYPE_CHECKING:
    from handrail.core.define.levels import Level
    from handrail.core.define.principal import KeyKind
    from handrail.store.api_keys import ApiKey

_KINDS: tuple[KeyKind, ...] = ("agent", "person", "service")


def list_(json: Json = False, database: Database = None, tenant: Tenant = None, debug: Debug = False) -> None:
    """List the API keys of a tenant."""
    with (
        open_screen(debug) as screen,
        open_database(settings := settings_from_options(database, tenant)) as db,
    ):
        from handrail.identity.api_keys import KeyAdmin
        from handrail.identity.permissions import console_principal

        found = asyncio.run(KeyAdmin(db).list(console_principal(settings.tenant)))
        if json:
            screen.out.json([_as_json(one) for one in found])
            return
        now = db.clock.now()
        rows = [
            (one.id, one.name, one.kind, _state(one, now), format_time(one.last_used_at, screen), _reach(one))
            for one in found
        ]
        none = f"{settings.tenant} has no keys: handrail keys add NAME --tenant {settings.tenant}"
        show_rows(screen, ("Id", "Name", "Kind", "State", "Last used", "Reaches"), rows, none)


def add(
    name: Annotated[str, typer.Argument(help="What the key is for, in a word or two.", show_default=False)],
    kind: Annotated[
        str, typer.Option("--kind", metavar="kind", help=f"Who uses it: {', '.join(_KINDS)}.")
    ] = "agent",
    for_: Annotated[
        str | None, typer.Option("--for", metavar="user", help="The user on whose behalf it calls: their id.")
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="name", help="The agent that calls with it.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="name", help="What this role gives. May be repeated."),
    ] = None,
    permission: Annotated[
        list[str] | None,
        typer.Option("--permission", metavar="name", help="A permission it gives. May be repeated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="tool", help="A tool, or a pattern such as stock.*. May be repeated."),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="level", help=f"The gravest it reaches: {', '.join(LEVELS)}."),
    ] = None,
    audience: Annotated[
        str | None,
        typer.Option("--audience", metavar="door", help="The door it opens: api or mcp. Both if left out."),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="time", help="When it ends, such as 90d.")
    ] = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Make an API key, and show it once.

    The key alone is on standard output, so that a script can keep it. It cannot be shown again: only a digest
    of it is stored.
    """
    with open_screen(debug) as screen:
        settings = settings_from_options(database, tenant)
        wanted = _one_of(kind, _KINDS, "--kind")
        ceiling: Level | None = None if level is None else _one_of(level, LEVELS, "--level")
        lifetime = None if expires is None else parse_duration(expires, "--expires")
        with open_database(settings) as db:
            from handrail.identity.api_keys import KeyAdmin
            from handrail.identity.members import MemberAdmin
            from handrail.identity.permissions import console_principal, permissions_of

            async def made() -> tuple[str, ApiKey]:
                by = console_principal(settings.tenant)
                _must_be(settings.tenant, [one.id for one in await MemberAdmin(db).tenants()])
                granted: frozenset[str] | None = None
                if role or permission:
                    known = await MemberAdmin(db).roles(by)
                    for one in role or ():
                        _one_of(one, tuple(known), "--role")
                    granted = permissions_of(role or (), known) | frozenset(permission or ())
                text, key = await KeyAdmin(db).make(
                    by,
                    name,
                    wanted,
                    user=for_,
                    agent=agent,
                    permissions=granted,
                    tools=only,
                    ceiling=ceiling,
                    audience=audience,
                    lifetime=lifetime,
                )
                return text.reveal(), key

            shown, key = asyncio.run(made())
        if json:
            screen.out.json(_as_json(key) | {"key": shown})
        else:
            screen.out.line(shown)
            screen.err.say(f"Keep it now: it is not shown again. End it with: handrail keys revoke {key.id}")


def revoke(
    id: Annotated[str, typer.Argument(help="The key: its id, as `keys list` shows it.", show_default=False)],
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """End an API key for good."""
    with (
        open_screen(debug) as screen,
        open_database(settings := settings_from_options(database, tenant)) as db,
    ):
        from handrail.identity.api_keys import KeyAdmin
        from handrail.identity.permissions import console_principal

        if not asyncio.run(KeyAdmin(db).revoke(console_principal(settings.tenant), id)):
            remedy = f"see which there are: handrail keys list --tenant {settings.tenant}"
            raise CommandError(f"{settings.tenant} has no key {id!r} that is alive", remedy, ExitCode.REFUSED)
        if json:
            screen.out.json({"id": id, "revoked": True})
        else:
            screen.out.say(f"{id} opens nothing any more.")


def _must_be(tenant: str, known: list[str]) -> None:
    if tenant not in known:
        remedy = f"add it: handrail tenants add {tenant}; there are: {', '.join(known) or 'none'}"
        raise CommandError(f"there is no tenant {tenant!r}", remedy)


def _one_of(given: str, known: tuple[Any, ...], option: str) -> Any:
    if given not in known:
        raise CommandError(f"{option} {given!r} is none", f"use one of: {', '.join(known)}")
    return given


def _state(key: ApiKey, now: float) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "alive" if key.is_live(now) else "expired"


def _reach(key: ApiKey) -> str:
    tools = "all tools" if key.tools is None else ", ".join(key.tools) or "no tools"
    reach = tools if key.ceiling is None else f"{tools}, up to {key.ceiling}"
    return reach if key.audience is None else f"{reach}, by {key.audience}"


def _as_json(key: ApiKey) -> dict[str, Any]:
    """What is known of a key; its level by the name of the option."""
    told = key.to_dict()
    return {("level" if name == "ceiling" else name): value for name, value in told.items()}
