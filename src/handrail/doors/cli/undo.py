"""handrail undo: the effect of a call taken back, or a file or a turn of the workspace."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from handrail.core.errors import ToolError
from handrail.core.run.undo import Undo
from handrail.doors.cli.approval_prompt import TerminalApprover, TerminalInput
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import CommandContext, actor_of
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import option, switch
from handrail.doors.cli.output import Answer, outcome_answer, show_facts


@command("json database tenant user tools")
def undo(
    cli: Invocation,
    call: Annotated[
        str | None, typer.Argument(metavar="[CALL_ID]", help="The call to undo.", show_default=False)
    ] = None,
    file: Annotated[
        str | None, option("--file", "path", "Undo the last change of this file of the workspace.")
    ] = None,
    turn: Annotated[int | None, option("--turn", "number", "Undo what a turn changed in files.")] = None,
    session: Annotated[
        str | None, option("--session", "name", "With --turn: the session of the turn.")
    ] = None,
    preview: Annotated[bool, switch("--preview", "Only show what would happen.")] = False,
) -> Answer:
    """Take back what a call did.

    The tool of the call says which other call takes it back; that one goes through the whole guard, once.
    --file and --turn undo changes of files instead.
    """
    if [call, file, turn].count(None) != 2:
        raise CommandError("undo what?", "give the id of a call, or --file PATH, or --turn NUMBER")
    approver = TerminalApprover(TerminalInput(cli.screen.err), actor_of(None, cli.settings))
    context = cli.with_tools(approver) if call is None else cli.with_database(approver)
    if call is not None:
        return cli.run(_undo_call(context, approver, call, preview))
    name, args = ("undo_turn", {"turn": turn}) if file is None else ("undo_file", {"path": file})
    return cli.run(_undo_files(context, approver, name, {**args, "preview": preview}, session))


async def _undo_call(
    context: CommandContext, approver: TerminalApprover, call_id: str, preview: bool
) -> Answer:
    hr, actor = context.hr, context.actor
    try:
        shown = await hr.undo(call_id, principal=actor.principal, source=actor.source, preview=True)
        approver.tool = hr.registry.get(shown.tool)
        if not preview:
            shown = await hr.undo(call_id, principal=actor.principal, source=actor.source)
    except ToolError as error:
        hint = f"see what ran: {context.command('runs', 'list')}" if error.code == "CALL_NOT_FOUND" else None
        raise CommandError(f"{error.code}: {error}", hint, ExitCode.REFUSED) from None
    document = _preview_json(shown)
    if shown.outcome is not None:
        answer = outcome_answer(shown.outcome, approver.tool)
        return replace(answer, document=document | {"outcome": answer.document})
    facts = {"undoes": call_id, "by calling": shown.tool, "arguments": dict(shown.args)}
    facts["the guard says"] = f"{shown.decision.verdict}, {shown.decision.reason}"
    return Answer(document | {"outcome": None}, lambda screen: show_facts(screen, facts))


def _preview_json(shown: Undo) -> dict[str, Any]:
    return {
        "undoes": shown.call_id,
        "tool": shown.tool,
        "arguments": dict(shown.args),
        "decision": shown.decision.to_dict(),
    }


async def _undo_files(
    context: CommandContext, approver: TerminalApprover, name: str, args: dict[str, Any], session: str | None
) -> Answer:
    """To the tools of a workspace, which know what became of files."""
    hr, actor = context.hr, context.actor
    try:
        described = await hr.describe(name, actor.principal, source=actor.source)
    except ToolError:
        remedy = "give the id of a call, or set up a workspace in handrail.toml"
        raise CommandError(f"there is no tool {name} here", remedy, ExitCode.REFUSED) from None
    approver.tool = described.tool
    outcome = await hr.call(name, args, principal=actor.principal, source=actor.source, session=session)
    return outcome_answer(outcome, described.tool)
