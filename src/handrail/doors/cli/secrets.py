"""handrail secrets: what tools are told in confidence. Values go in, and never come out here."""

from __future__ import annotations

import asyncio
import getpass
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.doors.cli.exits import Exit, Stop
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.rows import show_rows, when
from handrail.doors.cli.screen import screen
from handrail.doors.cli.stored import database_at
from handrail.doors.cli.where import settings_at
from handrail.settings import Settings

if TYPE_CHECKING:
    from handrail.core.run.secret_office import SecretOffice

Name = Annotated[str, typer.Argument(help="What tools call it, such as BANK_TOKEN.", show_default=False)]
For = Annotated[
    str | None,
    typer.Option("--for", metavar="user", help="The user whose credential it is; without, the tenant's own."),
]


@contextmanager
def _office(settings: Settings) -> Iterator[SecretOffice]:
    with database_at(settings) as db:
        from handrail.core.run.secret_office import SecretOffice
        from handrail.databases import seal_of
        from handrail.store.secrets import StoreSecrets

        yield SecretOffice(StoreSecrets(db, seal_of(db)))


def list_(json: Json = False, database: Database = None, tenant: Tenant = None, debug: Debug = False) -> None:
    """List which secrets a tenant has.

    Never what they are.
    """
    with screen(debug) as here, _office(settings := settings_at(database, tenant)) as office:
        from handrail.identity.granting import console

        found = asyncio.run(office.list(console(settings.tenant)))
        if json:
            here.out.json(
                [{"name": one.name, "user": one.user, "updated_at": one.updated_at} for one in found]
            )
            return
        rows = [(one.name, one.user or "", when(one.updated_at, here)) for one in found]
        none = f"{settings.tenant} has no secrets: handrail secrets set NAME --tenant {settings.tenant}"
        show_rows(here, ("Name", "Of user", "Kept"), rows, none)


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
    with screen(debug) as here, _office(settings := settings_at(database, tenant)) as office:
        from handrail.identity.granting import console

        value = getpass.getpass("Value: ") if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
        if not value:
            raise Stop("there is no value", "type it, or give it on standard input")
        asyncio.run(office.set(name, value, by=console(settings.tenant), user=for_))
        here.err.say(f"{name} is kept. Tools read it with ctx.secret({name!r}).")


def remove(
    name: Name,
    for_: For = None,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Forget a secret for good."""
    with screen(debug) as here, _office(settings := settings_at(database, tenant)) as office:
        from handrail.identity.granting import console

        if not asyncio.run(office.delete(name, by=console(settings.tenant), user=for_)):
            remedy = f"see which there are: handrail secrets list --tenant {settings.tenant}"
            raise Stop(f"{settings.tenant} has no secret {name!r}", remedy, Exit.REFUSED)
        here.err.say(f"{name} is forgotten.")
