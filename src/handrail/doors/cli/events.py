"""handrail events, verify-log: the record of what happened, and whether anybody changed it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

from handrail.core.tell.events import Event
from handrail.core.tell.log import EventFilter
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import option, switch
from handrail.doors.cli.output import Answer, format_time, show_rows
from handrail.doors.cli.screen import Screen
from handrail.platform.display_text import one_line, visible_json

if TYPE_CHECKING:
    from handrail.store.events.log import StoreLog
    from handrail.store.events.verify import LogFlaw

_PAGE = 500


@command("json database tenant")
def list_events(
    cli: Invocation,
    session: Annotated[str | None, option("--session", "name", "Only events of this session.")] = None,
    after: Annotated[int, option("--after", "number", "Only those after this one: its first column.")] = 0,
    tool: Annotated[str | None, option("--tool", "name", "Only events of this tool.")] = None,
    call: Annotated[str | None, option("--call", "id", "Only events of this call.")] = None,
    follow: Annotated[bool, switch("--follow", "Go on with whatever comes, until Ctrl-C.")] = False,
    jsonl: Annotated[bool, switch("--jsonl", "Each event as JSON on a line of its own: an export.")] = False,
) -> None:
    """Show what happened, oldest first.

    The first column counts the events of the session, or without --session those of the tenant; give it to
    --after to go on from there.
    """
    log, screen = cli.event_log(), cli.screen
    tenant, which = cli.settings.tenant, EventFilter(session, tool, call_id=call)
    if follow and cli.options.json:
        raise CommandError("--follow never ends, and --json is one document", "use --jsonl")
    if follow:
        with suppress(KeyboardInterrupt):
            cli.run(_follow(screen, log, tenant, which, after, jsonl))
    elif cli.options.json:
        screen.out.json([event.to_dict() for event in _events(log, tenant, which, after)])
    else:
        for event in _events(log, tenant, which, after):
            _show(screen, event, which, jsonl)


def _show(screen: Screen, event: Event, which: EventFilter, jsonl: bool) -> None:
    if jsonl:
        screen.out.line(visible_json(event.to_dict()))
        return
    number = event.position if which.session is None else event.seq
    at = format_time(event.at, screen)
    cells = (str(number), at, event.session, event.type, event.tool, event.call_id, event_summary(event))
    screen.out.line("\t".join(map(one_line, cells)))


def event_summary(event: Event) -> str:
    """What an event tells beside who and when, in a few words."""
    result = getattr(event, "result", None)
    if result is not None:
        return "" if result.success else " ".join(filter(None, (result.code, result.error)))
    return str(getattr(event, "reason", None) or getattr(event, "by", None) or "")


def _events(log: StoreLog, tenant: str, which: EventFilter, after: int) -> Iterator[Event]:
    """What is there, a page at a time."""
    from handrail.store.events.queries import events_page

    position, seq = (after, 0) if which.session is None else (0, after)
    while True:
        with log.db.reading(tenant) as conn:
            page = events_page(conn, tenant, position, _PAGE, which, seq)
        yield from page
        if len(page) < _PAGE:
            return
        position = page[-1].position


async def _follow(
    screen: Screen, log: StoreLog, tenant: str, which: EventFilter, after: int, jsonl: bool
) -> None:
    within_session = replace(which, session=None)
    async for event in log.follow(tenant, session=which.session, after=after):
        if within_session.fits(event):
            _show(screen, event, which, jsonl)
            screen.out.flush()


@command("json database tenant")
def verify_log(
    cli: Invocation,
    session: Annotated[str | None, option("--session", "name", "Only this session.")] = None,
    all_tenants: Annotated[bool, switch("--all-tenants", "The logs of all tenants, not of one.")] = False,
    hashes: Annotated[
        bool, switch("--hashes", "Show the last hash of each session, to be kept elsewhere.")
    ] = False,
) -> Answer:
    """Check that nobody changed the record of what happened.

    Every event is bound to the one before it in its session. An event that was changed, put in or taken out
    is named, and the exit code is 1.
    """
    db, tenant = cli.database(), cli.settings.tenant
    from handrail.store.events.queries import tenants_with_events
    from handrail.store.events.verify import LogFlaw, verify

    tenants = [tenant]
    if all_tenants:
        with db.system() as conn:
            tenants = tenants_with_events(conn)
    results = [(slug, result) for slug in tenants for result in verify(db, slug, session)]
    flaws = [result for _, result in results if isinstance(result, LogFlaw)]
    sessions: list[dict[str, Any]] = [
        {"tenant": slug, "session": row.session, "events": row.events, "last_hash": row.last_hash}
        for slug, row in results
        if not isinstance(row, LogFlaw)
    ]
    events = sum(row["events"] for row in sessions)
    if session is not None and not events:
        raise CommandError(f"{tenant} has no session {session!r}", "see: handrail events", ExitCode.REFUSED)
    document = {
        "ok": not flaws,
        "events": events,
        "sessions": sessions,
        "flaws": [asdict(flaw) for flaw in flaws],
    }
    code = ExitCode.FAILED if flaws else ExitCode.DONE
    return Answer(document, lambda screen: _show_checks(screen, sessions, flaws, hashes), code=code)


def _show_checks(screen: Screen, sessions: list[dict[str, Any]], flaws: list[LogFlaw], hashes: bool) -> None:
    if hashes:
        labels = ("Tenant", "Session", "Events", "Last hash")
        show_rows(screen, labels, [tuple(row.values()) for row in sessions], "There are no sessions.")
    for flaw in flaws:
        screen.err.say(f"{flaw}", "red")
    if not flaws:
        count = "1 session" if len(sessions) == 1 else f"{len(sessions)} sessions"
        events = sum(row["events"] for row in sessions)
        screen.err.say(f"{events} events in {count}: nothing was changed.")
