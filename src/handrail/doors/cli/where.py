"""Where: the database that a command works on, whose data it means there, and who sits at the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from handrail.doors.cli.exits import Stop
from handrail.doors.cli.opening import Opened, open_with
from handrail.settings import Settings, address, load_settings

_HOW = "name one with --database sqlite:///handrail.db, or under `database` in handrail.toml"


def settings_at(database: str | None, tenant: str | None = None, user: str | None = None) -> Settings:
    """The settings, with what the command line says on top."""
    settings = load_settings()
    if database is not None:
        if "://" not in database:
            raise Stop(
                f"--database {database!r} is no address", "write sqlite:///FILE or postgresql://HOST/NAME"
            )
        settings = replace(settings, database=address(database, Path.cwd()))
    return replace(settings, tenant=tenant or settings.tenant, user=user or settings.user)


def need_database(settings: Settings, how: str = _HOW) -> str:
    """The address of the database, or a stop that says how to name one."""
    if settings.database_url is None:
        raise Stop("there is no database here, and nothing outlives a command without one", how)
    return settings.database_url


def open_at(
    ctx: typer.Context,
    database: str | None,
    tenant: str | None,
    user: str | None,
    tools: Sequence[str] | None = None,
) -> Opened:
    """Handrail over the database, with the tools that are named, for the person at the terminal."""
    settings = settings_at(database, tenant, user)
    need_database(settings)
    return open_with(ctx, settings, tools, carried=carried_at(database, tenant, user))


def open_bare(ctx: typer.Context, database: str | None, tenant: str | None, user: str | None) -> Opened:
    """The same without tools, for what is to be had from the database alone."""
    settings = replace(settings_at(database, tenant, user), tools=())
    need_database(settings)
    return open_with(ctx, settings, None, carried=carried_at(database, tenant, user))


def carried_at(database: str | None, tenant: str | None, user: str | None) -> list[str]:
    """The same options again, for another command about the same."""
    options = (("--database", database), ("--tenant", tenant), ("--user", user))
    return [word for option, given in options if given is not None for word in (option, given)]
