"""handrail dlq: dead letters, the calls that failed."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

import typer

from handrail.core.define.call import Outcome
from handrail.core.run.approvals.inbox import Conflict
from handrail.core.tell.dead_letters import DeadLetter, DeadLetterStatus
from handrail.doors.cli.context import CommandContext, open_database_context
from handrail.doors.cli.exit_codes import CommandError, ExitCode, exit_code_of
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User, parse_duration
from handrail.doors.cli.output import format_time, outcome_json, show_facts, show_outcome, show_rows
from handrail.doors.cli.screen import open_screen

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
    with open_screen(debug) as screen:
        if status is not None and status not in _STATUSES:
            raise CommandError(
                f"{status!r} is no status of a dead letter", f"use one of: {', '.join(_STATUSES)}"
            )
        context = open_database_context(ctx, database, tenant, user, tools)
        found = asyncio.run(_letters(context, tool, session, status))
        if json:
            screen.out.json([letter.to_dict() for letter in found])
            return
        show_rows(
            screen,
            ("Id", "Tool", "When", "Status", "Code", "Error"),
            [
                (one.id, one.tool, format_time(one.at, screen), one.status, one.code, one.error)
                for one in found
            ],
            "No call of a tool that you may see has failed."
            if status is None
            else "There are none like that.",
        )


async def _letters(
    context: CommandContext, tool: str | None, session: str | None, status: str | None
) -> list[DeadLetter]:
    wanted: DeadLetterStatus | None = next((one for one in _KNOWN if one == status), None)
    async with context.hr as hr:
        return await hr.dead_letters.list(context.actor.principal, tool, session, status=wanted)


_KNOWN: tuple[DeadLetterStatus, ...] = ("open", "replaying", "replayed", "unknown")


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
    with open_screen(debug) as screen:
        context = open_database_context(ctx, database, tenant, user, tools)
        letter = asyncio.run(_letter(context, id))
        if json:
            screen.out.json(letter.to_dict())
            return
        told = letter.to_dict()
        args, replays = told.pop("args"), told.pop("replays")
        told |= {"at": format_time(letter.at, screen), "replays": ", ".join(replays)}
        told["earlier_errors"] = "; ".join(letter.earlier_errors)
        show_facts(
            screen, {name.replace("_", " "): value for name, value in told.items()} | {"arguments": args}
        )


async def _letter(context: CommandContext, letter_id: str) -> DeadLetter:
    async with context.hr as hr:
        letter = await hr.dead_letters.get(letter_id, context.actor.principal)
    if letter is None:
        raise CommandError(
            f"there is no dead letter {letter_id!r} that you may see",
            f"see which there are: {context.command('dlq', 'list')}",
            ExitCode.REFUSED,
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
    with open_screen(debug) as screen:
        context = open_database_context(ctx, database, tenant, user, tools)
        outcome = asyncio.run(_replayed(context, id))
        if json:
            screen.out.json(outcome_json(outcome))
        else:
            show_outcome(screen, outcome, None, None)
        raise typer.Exit(exit_code_of(outcome))


async def _replayed(context: CommandContext, letter_id: str) -> Outcome:
    async with context.hr as hr:
        try:
            return await hr.dead_letters.replay(letter_id, by=context.actor.principal)
        except Conflict as conflict:
            raise CommandError(str(conflict), None, ExitCode.REFUSED) from None


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
    with open_screen(debug) as screen:
        if not all_ and (id, tool, session, older) == (None,) * 4:
            raise CommandError("which ones?", "give an id, --tool, --session or --older-than; or --all")
        before = None if older is None else time.time() - parse_duration(older, "--older-than")
        context = open_database_context(ctx, database, tenant, user, tools)
        number = asyncio.run(_purged(context, id, tool, session, before))
        if json:
            screen.out.json({"purged": number})
        else:
            screen.out.say(f"{number} dead letter{'' if number == 1 else 's'} purged.")


async def _purged(
    context: CommandContext,
    letter_id: str | None,
    tool: str | None,
    session: str | None,
    before: float | None,
) -> int:
    async with context.hr as hr:
        try:
            return await hr.dead_letters.purge(
                letter_id, by=context.actor.principal, tool=tool, session=session, before=before
            )
        except Conflict as conflict:
            raise CommandError(str(conflict), None, ExitCode.REFUSED) from None
