"""handrail events: the record of what happened, as it stands or as it grows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.core.tell.events import Event
from handrail.doors.cli.exits import Stop
from handrail.doors.cli.options import Database, Debug, Json, Tenant
from handrail.doors.cli.rows import when
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.stored import log_at
from handrail.doors.cli.where import settings_at
from handrail.doors.visible import exact, one_line

if TYPE_CHECKING:
    from handrail.store.events.log import StoreLog

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Wanted:
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


def command(
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
    with screen(debug) as here, log_at(settings := settings_at(database, tenant)) as log:
        wanted = Wanted(settings.tenant, session, tool, call, after)
        if follow and json:
            raise Stop("--follow never ends, and --json is one document", "use --jsonl")
        if json:
            here.out.json([event.to_dict() for event in _events(log, wanted)])
        elif follow:
            with suppress(KeyboardInterrupt):
                asyncio.run(_follow(here, log, wanted, jsonl))
        else:
            for event in _events(log, wanted):
                _show(here, event, wanted, jsonl)


def _show(here: Screen, event: Event, wanted: Wanted, jsonl: bool) -> None:
    if jsonl:
        here.out.line(exact(event.to_dict()))
        return
    number, at = str(wanted.number(event)), when(event.at, here)
    cells = (number, at, event.session, event.type, event.tool, event.call_id, said(event))
    here.out.line("\t".join(map(one_line, cells)))


def said(event: Event) -> str:
    """What an event tells beside who and when, in a few words."""
    result = getattr(event, "result", None)
    if result is not None:
        return "" if result.success else " ".join(filter(None, (result.code, result.error)))
    return str(getattr(event, "reason", None) or getattr(event, "by", None) or "")


def _events(log: StoreLog, wanted: Wanted) -> Iterator[Event]:
    """What is there, a page at a time."""
    from handrail.store.events.reading import events_page

    session, tool, call = wanted.session, wanted.tool, wanted.call
    beyond, after = (wanted.after, 0) if session is None else (0, wanted.after)
    while True:
        with log.db.reading(wanted.tenant) as conn:
            page = events_page(
                conn, wanted.tenant, beyond, _PAGE, session=session, tool=tool, call_id=call, after=after
            )
        yield from page
        if len(page) < _PAGE:
            return
        beyond = page[-1].position


async def _follow(here: Screen, log: StoreLog, wanted: Wanted, jsonl: bool) -> None:
    async for event in log.follow(wanted.tenant, session=wanted.session, after=wanted.after):
        if wanted.fits(event):
            _show(here, event, wanted, jsonl)
            here.out.flush()
