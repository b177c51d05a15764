"""handrail undo: the effect of a call taken back, or a file or a turn of the workspace."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from handrail.core.errors import ToolError
from handrail.core.run.undo import Undoing
from handrail.doors.cli.exits import Exit, Stop, exit_of
from handrail.doors.cli.opening import Opened, open_with
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.prompt import Asking, Terminal
from handrail.doors.cli.result import outcome_json, show_outcome
from handrail.doors.cli.rows import show_facts
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.where import carried_at, need_database, settings_at


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
    with screen(debug) as here:
        if [call, file, turn].count(None) != 2:
            raise Stop("undo what?", "give the id of a call, or --file PATH, or --turn NUMBER")
        asking = Asking(Terminal(here.err))
        settings = settings_at(database, tenant, user)
        if call is not None:
            need_database(settings)
        opened = open_with(ctx, settings, tools, None, asking, carried_at(database, tenant, user))
        asking.acting = opened.acting
        if call is not None:
            code = opened.run(_undone(opened, asking, call, preview, json, here))
        else:
            name, args = ("undo_turn", {"turn": turn}) if file is None else ("undo_file", {"path": file})
            code = opened.run(
                _handed_on(opened, asking, name, {**args, "preview": preview}, session, json, here)
            )
        here.out.flush()
        raise typer.Exit(code)


async def _undone(
    opened: Opened, asking: Asking, call_id: str, preview: bool, json: bool, here: Screen
) -> Exit:
    hr, acting = opened.hr, opened.acting
    try:
        shown = await hr.undo(call_id, principal=acting.principal, source=acting.source, preview=True)
        asking.tool = hr.registry.get(shown.tool)
        if not preview:
            shown = await hr.undo(call_id, principal=acting.principal, source=acting.source)
    except ToolError as error:
        seen = f"see what ran: {opened.command('runs', 'list')}" if error.code == "CALL_NOT_FOUND" else None
        raise Stop(f"{error.code}: {error}", seen, Exit.REFUSED) from None
    if json:
        here.out.json(_as_json(shown))
    elif shown.outcome is not None:
        show_outcome(here, shown.outcome, asking.tool, None)
    else:
        facts = {"undoes": call_id, "by calling": shown.tool, "arguments": dict(shown.args)}
        show_facts(here, facts | {"the guard says": f"{shown.decision.verdict}, {shown.decision.reason}"})
    return Exit.DONE if shown.outcome is None else exit_of(shown.outcome)


def _as_json(shown: Undoing) -> dict[str, Any]:
    return {
        "undoes": shown.call_id,
        "tool": shown.tool,
        "arguments": dict(shown.args),
        "decision": shown.decision.to_dict(),
        "outcome": None if shown.outcome is None else outcome_json(shown.outcome),
    }


async def _handed_on(
    opened: Opened,
    asking: Asking,
    name: str,
    args: dict[str, Any],
    session: str | None,
    json: bool,
    here: Screen,
) -> Exit:
    """To the tools of a workspace, which know what became of files."""
    hr, acting = opened.hr, opened.acting
    try:
        described = await hr.describe(name, acting.principal, source=acting.source)
    except ToolError:
        remedy = "give the id of a call, or set up a workspace in handrail.toml"
        raise Stop(f"there is no tool {name} here", remedy, Exit.REFUSED) from None
    asking.tool = described.tool
    outcome = await hr.call(name, args, principal=acting.principal, source=acting.source, session=session)
    if json:
        here.out.json(outcome_json(outcome))
    else:
        show_outcome(here, outcome, described.tool, None)
    return exit_of(outcome)
