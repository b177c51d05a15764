"""handrail verify-log: has anybody changed the record?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from handrail.doors.cli.exits import Exit, Stop
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.rows import show_rows
from handrail.doors.cli.screen import screen
from handrail.doors.cli.stored import database_at
from handrail.doors.cli.where import settings_at


def command(
    session: Annotated[
        str | None, typer.Option("--session", metavar="name", help="Only this session.")
    ] = None,
    all_tenants: Annotated[
        bool, typer.Option("--all-tenants", help="The logs of all tenants, not of one.")
    ] = False,
    hashes: Annotated[
        bool, typer.Option("--hashes", help="Show the last hash of each session, to be kept elsewhere.")
    ] = False,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Check that nobody changed the record of what happened.

    Every event is bound to the one before it in its session. An event that was changed, put in or taken out
    is named, and the exit code is 1.
    """
    with screen(debug) as here, database_at(settings := settings_at(database, tenant)) as db:
        from handrail.store.census import tenants_with_events
        from handrail.store.events.verify import Flaw, verify

        tenants = [settings.tenant]
        if all_tenants:
            with db.system() as conn:
                tenants = tenants_with_events(conn)
        flaws: list[Flaw] = []
        checked: list[dict[str, Any]] = []
        for slug in tenants:
            for found in verify(db, slug, session):
                if isinstance(found, Flaw):
                    flaws.append(found)
                else:
                    told = {"session": found.session, "events": found.events, "last_hash": found.last_hash}
                    checked.append({"tenant": slug, **told})
        events = sum(one["events"] for one in checked)
        if session is not None and not events:
            raise Stop(f"{settings.tenant} has no session {session!r}", "see: handrail events", Exit.REFUSED)
        if json:
            told_flaws = [
                {"tenant": one.tenant, "session": one.session, "seq": one.seq, "what": one.what}
                for one in flaws
            ]
            here.out.json({"ok": not flaws, "events": events, "sessions": checked, "flaws": told_flaws})
        else:
            if hashes:
                rows = [(one["tenant"], one["session"], one["events"], one["last_hash"]) for one in checked]
                show_rows(here, ("Tenant", "Session", "Events", "Last hash"), rows, "There are no sessions.")
            for flaw in flaws:
                here.err.say(f"{flaw}", "red")
            if not flaws:
                sessions = "1 session" if len(checked) == 1 else f"{len(checked)} sessions"
                here.err.say(f"{events} events in {sessions}: nothing was changed.")
        if flaws:
            raise typer.Exit(Exit.FAILED)
