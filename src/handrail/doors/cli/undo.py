"""handrail undo: the effect of a call taken back, or a file or a turn of the workspace."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from handrail.core.errors import ToolError
from handrail.core.run.undo import Undo
from handrail.doors.cli.approval_prompt import TerminalApprover, TerminalInput
from handrail.doors.cli.context import (
    CommandContext,
    database_options,
    open_context_with,
    require_database,
    settings_from_options,
)
from handrail.doors.cli.exit_codes import CommandError, ExitCode, exit_code_of
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.output import outcome_json, show_facts, show_outcome
from handrail.doors.cli.screen import Screen, open_screen


def command(
    ctx: typer.Context,
    call: Annotated[
        str | None, typer.Argument(metavar="[CALL_ID]", help="The call to undo.", show_default=False)
    ] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="path", help="Undo the last change of this file of the workspace."),
    ] = None,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="number", help="Undo what a turn changed in files.")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="name", help="With --turn: the session of the turn.")
    ] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would happen.")] = False,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Take back what a call did.

    The tool of the call says which other call takes it back; that one goes through the whole guard, once.
    --file and --turn undo changes of files instead.
    """
    with open_screen(debug) as screen:
        if [call, file, turn].count(None) != 2:
            raise CommandError("undo what?", "give the id of a call, or --file PATH, or --turn NUMBER")
        approver = TerminalApprover(TerminalInput(screen.err))
        settings = settings_from_options(database, tenant, user)
        if call is not None:
            require_database(settings)
        context = open_context_with(
            ctx, settings, tools, None, approver, database_options(database, tenant, user)
        )
        approver.actor = context.actor
        if call is not None:
            code = context.run(_undo_call(context, approver, call, preview, json, screen))
        else:
            name, args = ("undo_turn", {"turn": turn}) if file is None else ("undo_file", {"path": file})
            code = context.run(
                _undo_files(context, approver, name, {**args, "preview": preview}, session, json, screen)
            )
        screen.out.flush()
        raise typer.Exit(code)


async def _undo_call(
    context: CommandContext,
    approver: TerminalApprover,
    call_id: str,
    preview: bool,
    json: bool,
    screen: Screen,
) -> ExitCode:
    hr, actor = context.hr, context.actor
    try:
        shown = await hr.undo(call_id, principal=actor.principal, source=actor.source, preview=True)
        approver.tool = hr.registry.get(shown.tool)
        if not preview:
            shown = await hr.undo(call_id, principal=actor.principal, source=actor.source)
    except ToolError as error:
        seen = f"see what ran: {context.command('runs', 'list')}" if error.code == "CALL_NOT_FOUND" else None
        raise CommandError(f"{error.code}: {error}", seen, ExitCode.REFUSED) from None
    if json:
        screen.out.json(_as_json(shown))
    elif shown.outcome is not None:
        show_outcome(screen, shown.outcome, approver.tool, None)
    else:
        facts = {"undoes": call_id, "by calling": shown.tool, "arguments": dict(shown.args)}
        show_facts(screen, facts | {"the guard says": f"{shown.decision.verdict}, {shown.decision.reason}"})
    return ExitCode.DONE if shown.outcome is None else exit_code_of(shown.outcome)


def _as_json(shown: Undo) -> dict[str, Any]:
    return {
        "undoes": shown.call_id,
        "tool": shown.tool,
        "arguments": dict(shown.args),
        "decision": shown.decision.to_dict(),
        "outcome": None if shown.outcome is None else outcome_json(shown.outcome),
    }


async def _undo_files(
    context: CommandContext,
    approver: TerminalApprover,
    name: str,
    args: dict[str, Any],
    session: str | None,
    json: bool,
    screen: Screen,
) -> ExitCode:
    """To the tools of a workspace, which know what became of files."""
    hr, actor = context.hr, context.actor
    try:
        described = await hr.describe(name, actor.principal, source=actor.source)
    except ToolError:
        remedy = "give the id of a call, or set up a workspace in handrail.toml"
        raise CommandError(f"there is no tool {name} here", remedy, ExitCode.REFUSED) from None
    approver.tool = described.tool
    outcome = await hr.call(name, args, principal=actor.principal, source=actor.source, session=session)
    if json:
        screen.out.json(outcome_json(outcome))
    else:
        show_outcome(screen, outcome, described.tool, None)
    return exit_code_of(outcome)
