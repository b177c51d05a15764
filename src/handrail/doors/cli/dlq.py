"""handrail dlq: dead letters, the calls that failed."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import typer

from handrail.core.define.call import Outcome
from handrail.core.run.approvals import Conflict
from handrail.core.tell.letters import DeadLetter, LetterStatus
from handrail.doors.cli.exits import Exit, Stop, exit_of
from handrail.doors.cli.opening import Opened
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.result import outcome_json, show_outcome
from handrail.doors.cli.rows import show_facts, show_rows, when
from handrail.doors.cli.screen import screen
from handrail.doors.cli.spans import seconds_of
from handrail.doors.cli.where import open_at

_STATUSES = ("open", "replaying", "replayed", "unknown")

Id = Annotated[str, typer.Argument(help="The dead letter: its id.", show_default=False)]
Tool = Annotated[str | None, typer.Option("--tool", metavar="name", help="Only calls of this tool.")]
Session = Annotated[str | None, typer.Option("--session", metavar="name", help="Only calls of this session.")]


def list_(
    ctx: typer.Context,
    tool: Tool = None,
    session: Session = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="status", help=f"Only one of {', '.join(_STATUSES)}.")
    ] = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """List calls that failed."""
    with screen(debug) as here:
        if status is not None and status not in _STATUSES:
            raise Stop(f"{status!r} is no status of a dead letter", f"use one of: {', '.join(_STATUSES)}")
        opened = open_at(ctx, database, tenant, user, tools)
        found = asyncio.run(_letters(opened, tool, session, status))
        if json:
            here.out.json([letter.to_dict() for letter in found])
            return
        show_rows(
            here,
            ("Id", "Tool", "When", "Status", "Code", "Error"),
            [(one.id, one.tool, when(one.at, here), one.status, one.code, one.error) for one in found],
            "No call of a tool that you may see has failed."
            if status is None
            else "There are none like that.",
        )


async def _letters(
    opened: Opened, tool: str | None, session: str | None, status: str | None
) -> list[DeadLetter]:
    wanted: LetterStatus | None = next((one for one in _KNOWN if one == status), None)
    async with opened.hr as hr:
        return await hr.dead_letters.list(opened.acting.principal, tool, session, status=wanted)


_KNOWN: tuple[LetterStatus, ...] = ("open", "replaying", "replayed", "unknown")


def show(
    ctx: typer.Context,
    id: Id,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Show one call that failed, and why."""
    with screen(debug) as here:
        opened = open_at(ctx, database, tenant, user, tools)
        letter = asyncio.run(_letter(opened, id))
        if json:
            here.out.json(letter.to_dict())
            return
        told = letter.to_dict()
        args, replays = told.pop("args"), told.pop("replays")
        told |= {"at": when(letter.at, here), "replays": ", ".join(replays)}
        told["earlier_errors"] = "; ".join(letter.earlier_errors)
        show_facts(
            here, {name.replace("_", " "): value for name, value in told.items()} | {"arguments": args}
        )


async def _letter(opened: Opened, letter_id: str) -> DeadLetter:
    async with opened.hr as hr:
        letter = await hr.dead_letters.get(letter_id, opened.acting.principal)
    if letter is None:
        raise Stop(
            f"there is no dead letter {letter_id!r} that you may see",
            f"see which there are: {opened.command('dlq', 'list')}",
            Exit.REFUSED,
        )
    return letter


def replay(
    ctx: typer.Context,
    id: Id,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Make a failed call once more.

    It goes through the whole guard, as whoever made it and under the same idempotency key.
    """
    with screen(debug) as here:
        opened = open_at(ctx, database, tenant, user, tools)
        outcome = asyncio.run(_replayed(opened, id))
        if json:
            here.out.json(outcome_json(outcome))
        else:
            show_outcome(here, outcome, None, None)
        raise typer.Exit(exit_of(outcome))


async def _replayed(opened: Opened, letter_id: str) -> Outcome:
    async with opened.hr as hr:
        try:
            return await hr.dead_letters.replay(letter_id, by=opened.acting.principal)
        except Conflict as conflict:
            raise Stop(str(conflict), None, Exit.REFUSED) from None


def purge(
    ctx: typer.Context,
    id: Annotated[str | None, typer.Argument(help="The dead letter; without it, all that fit.")] = None,
    tool: Tool = None,
    session: Session = None,
    older: Annotated[
        str | None, typer.Option("--older-than", metavar="time", help="Only older ones, such as 30d or 12h.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Really all of them.")] = False,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Forget failed calls for good."""
    with screen(debug) as here:
        if not all_ and (id, tool, session, older) == (None,) * 4:
            raise Stop("which ones?", "give an id, --tool, --session or --older-than; or --all")
        before = None if older is None else time.time() - seconds_of(older, "--older-than")
        opened = open_at(ctx, database, tenant, user, tools)
        number = asyncio.run(_purged(opened, id, tool, session, before))
        if json:
            here.out.json({"purged": number})
        else:
            here.out.say(f"{number} dead letter{'' if number == 1 else 's'} purged.")


async def _purged(
    opened: Opened, letter_id: str | None, tool: str | None, session: str | None, before: float | None
) -> int:
    async with opened.hr as hr:
        try:
            return await hr.dead_letters.purge(
                letter_id, by=opened.acting.principal, tool=tool, session=session, before=before
            )
        except Conflict as conflict:
            raise Stop(str(conflict), None, Exit.REFUSED) from None
