"""handrail db: the database itself."""

from __future__ import annotations

from typing import Annotated

import typer

from handrail.doors.cli.options import Database, Debug, Json
from handrail.doors.cli.screen import screen
from handrail.doors.cli.stored import the_store
from handrail.doors.cli.where import need_database, settings_at


def upgrade(
    database: Database = None,
    owner_url: Annotated[
        str | None,
        typer.Option(
            "--owner-url",
            metavar="url",
            help="PostgreSQL: the address of a user who may create tables and roles. "
            "Without it handrail.toml says, or the database's own address.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Bring the database to the schema of this version.

    On PostgreSQL the user of the database's own address is then admitted: it may act as the roles that see
    one tenant at a time, and owns nothing.
    """
    with screen(debug) as here:
        settings = settings_at(database)
        url = need_database(settings)
        owner = owner_url or settings.owner_url or url
        with the_store():
            from handrail.databases import upgrade as bring_up
            from handrail.store.admitting import admit, user_of
            from handrail.store.engines import dialect_of

            bring_up(owner)
            user = user_of(url)
            if dialect_of(owner) == "postgresql" and user is not None and user != user_of(owner):
                admit(owner, user)
            name = _name(url)
        if json:
            here.out.json({"database": name})
        else:
            here.out.say(f"{name} is up to date.")


def _name(url: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True)
