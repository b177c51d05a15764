"""handrail events, verify-log: the record of what happened, and whether anybody changed it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handrail.core.tell.events import Event
from handrail.doors.cli.context import settings_from_options
from handrail.doors.cli.database import open_database, open_event_log
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.output import format_time, show_rows
from handrail.doors.cli.screen import Screen, open_screen
from handrail.platform.display_text import one_line, visible_json

if TYPE_CHECKING:
    from handrail.store.events.log import StoreLog

_PAGE = 500


@dataclass(frozen=True, slots=True)
class EventQuery:
    """Which events are shown."""

    tenant: str
    session: str | None
    tool: str | None
    call: str | None
    after: int

    def number(self, event: Event) -> int:
        """The count of an event: of its session, or of all."""
        return event.seq if self.session is not None else event.position

    def fits(self, event: Event) -> bool:
        return self.tool in (None, event.tool) and self.call in (None, event.call_id)


def list_events(
    session: Annotated[
        str | None, typer.Option("--session", metavar="name", help="Only events of this session.")
    ] = None,
    after: Annotated[
        int, typer.Option("--after", metavar="number", help="Only those after this one: its first column.")
    ] = 0,
    tool: Annotated[
        str | None, typer.Option("--tool", metavar="name", help="Only events of this tool.")
    ] = None,
    call: Annotated[
        str | None, typer.Option("--call", metavar="id", help="Only events of this call.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on with whatever comes, until Ctrl-C.")
    ] = False,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="Each event as JSON on a line of its own: an export.")
    ] = False,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    debug: Debug = False,
) -> None:
    """Show what happened, oldest first.

    The first column counts the events of the session, or without --session those of the tenant; give it to
    --after to go on from there.
    """
    with (
        open_screen(debug) as screen,
        open_event_log(settings := settings_from_options(database, tenant)) as log,
    ):
        query = EventQuery(settings.tenant, session, tool, call, after)
        if follow and json:
            raise CommandError("--follow never ends, and --json is one document", "use --jsonl")
        if json:
            screen.out.json([event.to_dict() for event in _events(log, query)])
        elif follow:
            with suppress(KeyboardInterrupt):
                asyncio.run(_follow(screen, log, query, jsonl))
        else:
            for event in _events(log, query):
                _show(screen, event, query, jsonl)


def _show(screen: Screen, event: Event, query: EventQuery, jsonl: bool) -> None:
    if jsonl:
        screen.out.line(visible_json(event.to_dict()))
        return
    number, at = str(query.number(event)), format_time(event.at, screen)
    cells = (number, at, event.session, event.type, event.tool, event.call_id, event_summary(event))
    screen.out.line("\t".join(map(one_line, cells)))


def event_summary(event: Event) -> str:
    """What an event tells beside who and when, in a few words."""
    result = getattr(event, "result", None)
    if result is not None:
        return "" if result.success else " ".join(filter(None, (result.code, result.error)))
    return str(getattr(event, "reason", None) or getattr(event, "by", None) or "")


def _events(log: StoreLog, query: EventQuery) -> Iterator[Event]:
    """What is there, a page at a time."""
    from handrail.store.events.queries import events_page

    session, tool, call = query.session, query.tool, query.call
    beyond, after = (query.after, 0) if session is None else (0, query.after)
    while True:
        with log.db.reading(query.tenant) as conn:
            page = events_page(
                conn, query.tenant, beyond, _PAGE, session=session, tool=tool, call_id=call, after=after
            )
        yield from page
        if len(page) < _PAGE:
            return
        beyond = page[-1].position


async def _follow(screen: Screen, log: StoreLog, query: EventQuery, jsonl: bool) -> None:
    async for event in log.follow(query.tenant, session=query.session, after=query.after):
        if query.fits(event):
            _show(screen, event, query, jsonl)
            screen.out.flush()


def verify_log(
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
    with (
        open_screen(debug) as screen,
        open_database(settings := settings_from_options(database, tenant)) as db,
    ):
        from handrail.store.events.queries import tenants_with_events
        from handrail.store.events.verify import LogFlaw, verify

        tenants = [settings.tenant]
        if all_tenants:
            with db.system() as conn:
                tenants = tenants_with_events(conn)
        flaws: list[LogFlaw] = []
        checked: list[dict[str, Any]] = []
        for slug in tenants:
            for found in verify(db, slug, session):
                if isinstance(found, LogFlaw):
                    flaws.append(found)
                else:
                    told = {"session": found.session, "events": found.events, "last_hash": found.last_hash}
                    checked.append({"tenant": slug, **told})
        events = sum(one["events"] for one in checked)
        if session is not None and not events:
            raise CommandError(
                f"{settings.tenant} has no session {session!r}", "see: handrail events", ExitCode.REFUSED
            )
        if json:
            told_flaws = [
                {"tenant": one.tenant, "session": one.session, "seq": one.seq, "what": one.what}
                for one in flaws
            ]
            screen.out.json({"ok": not flaws, "events": events, "sessions": checked, "flaws": told_flaws})
        else:
            if hashes:
                rows = [(one["tenant"], one["session"], one["events"], one["last_hash"]) for one in checked]
                show_rows(
                    screen, ("Tenant", "Session", "Events", "Last hash"), rows, "There are no sessions."
                )
            for flaw in flaws:
                screen.err.say(f"{flaw}", "red")
            if not flaws:
                sessions = "1 session" if len(checked) == 1 else f"{len(checked)} sessions"
                screen.err.say(f"{events} events in {sessions}: nothing was changed.")
        if flaws:
            raise typer.Exit(ExitCode.FAILED)
