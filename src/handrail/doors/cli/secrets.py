"""handrail secrets: what tools are told in confidence. Values go in, and never come out here."""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.doors.cli.context import settings_from_options
from handrail.doors.cli.database import open_database
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.output import format_time, show_rows
from handrail.doors.cli.screen import open_screen
from handrail.settings import Settings

if TYPE_CHECKING:
    from handrail.engine.admin import SecretAdmin

Name = Annotated[str, typer.Argument(help="What tools call it, such as BANK_TOKEN.", show_default=False)]
For = Annotated[
    str | None,
    typer.Option("--for", metavar="user", help="The user whose credential it is; without, the tenant's own."),
]


@contextmanager
def _secrets_admin(settings: Settings) -> Iterator[SecretAdmin]:
    with open_database(settings) as db:
        from handrail.databases import database_seal
        from handrail.engine.admin import SecretAdmin
        from handrail.store.secrets import StoreSecrets

        yield SecretAdmin(StoreSecrets(db, database_seal(db)))


def list_(json: Json = False, database: Database = None, tenant: Tenant = None, debug: Debug = False) -> None:
    """List which secrets a tenant has.

    Never what they are.
    """
    with (
        open_screen(debug) as screen,
        _secrets_admin(settings := settings_from_options(database, tenant)) as admin,
    ):
        from handrail.identity.permissions import console_principal

        found = asyncio.run(admin.list(console_principal(settings.tenant)))
        if json:
            screen.out.json(
                [{"name": one.name, "user": one.user, "updated_at": one.updated_at} for one in found]
            )
            return
        rows = [(one.name, one.user or "", format_time(one.updated_at, screen)) for one in found]
        none = f"{settings.tenant} has no secrets: handrail secrets set NAME --tenant {settings.tenant}"
        show_rows(screen, ("Name", "Of user", "Kept"), rows, none)


def set_(
    name: Name,
    for_: For = None,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Keep a secret.

    Its value is asked for, or read from standard input: one line.
    """
    with (
        open_screen(debug) as screen,
        _secrets_admin(settings := settings_from_options(database, tenant)) as admin,
    ):
        from handrail.identity.permissions import console_principal

        value = getpass.getpass("Value: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
        if not value:
            raise CommandError("there is no value", "type it, or give it on standard input")
        asyncio.run(admin.set(name, value, by=console_principal(settings.tenant), user=for_))
        screen.err.say(f"{name} is kept. Tools read it with ctx.secret({name!r}).")


def remove(
    name: Name,
    for_: For = None,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Forget a secret for good."""
    with (
        open_screen(debug) as screen,
        _secrets_admin(settings := settings_from_options(database, tenant)) as admin,
    ):
        from handrail.identity.permissions import console_principal

        if not asyncio.run(admin.delete(name, by=console_principal(settings.tenant), user=for_)):
            remedy = f"see which there are: handrail secrets list --tenant {settings.tenant}"
            raise CommandError(f"{settings.tenant} has no secret {name!r}", remedy, ExitCode.REFUSED)
        screen.err.say(f"{name} is forgotten.")
