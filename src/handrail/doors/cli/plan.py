"""handrail plan: what plan mode holds back, to be looked at, run or discarded."""

from __future__ import annotations

from typing import Annotated

import typer

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.core.guard.plans import PlannedCall
from handrail.doors.cli.approval_prompt import TerminalApprover, TerminalInput
from handrail.doors.cli.context import (
    Actor,
    CommandContext,
    database_options,
    open_context_with,
    open_context_without_tools,
    require_database,
    settings_from_options,
)
from handrail.doors.cli.exit_codes import ExitCode, exit_code_of
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.output import format_time, outcome_json, show_outcome, show_rows
from handrail.doors.cli.screen import Screen, open_screen
from handrail.platform.display_text import one_line, visible_json

_EMPTY = (
    "The plan is empty. Put a call into it with `handrail run --plan NAME`, or all calls that change "
    "something with `plan = true` under [policy] in handrail.toml."
)
_BUSY = "Somebody else runs this plan right now. See what is left of it with `handrail plan show`."
Session = Annotated[str | None, typer.Option("--session", metavar="name", help="Only calls of this session.")]


def show(
    ctx: typer.Context,
    session: Session = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    debug: Debug = False,
) -> None:
    """Show what is planned, in the order in which it would run."""
    with open_screen(debug) as screen:
        context = open_context_without_tools(ctx, database, tenant, user)
        found = context.run(context.hr.planned(context.actor.principal, session))
        if json:
            screen.out.json([one.to_dict() for one in found])
            return
        show_rows(
            screen,
            ("Call", "Tool", "Arguments", "By", "When", "Session"),
            [
                (
                    one.call.id,
                    one.tool,
                    visible_json(one.args),
                    one.principal.agent or one.principal.user,
                    format_time(one.at, screen),
                    one.call.session,
                )
                for one in found
            ],
            _EMPTY,
        )


def run(
    ctx: typer.Context,
    session: Session = None,
    stop_on_failure: Annotated[
        bool,
        typer.Option(
            "--stop-on-failure",
            help="Stop after the first call that does not succeed; what follows stays planned.",
        ),
    ] = False,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Run what is planned, in order, each call through the whole guard.

    A call that fails, is refused or waits for a person does not stop the rest, unless --stop-on-failure is
    given. The exit code is that of the first call that did not succeed.
    """
    with open_screen(debug) as screen:
        approver = TerminalApprover(TerminalInput(screen.err))
        settings = settings_from_options(database, tenant, user)
        require_database(settings)
        context = open_context_with(
            ctx, settings, tools, None, approver, database_options(database, tenant, user)
        )
        there, outcomes = context.run(_run_plan(context, approver, session, stop_on_failure, json, screen))
        if json:
            screen.out.json([outcome_json(one) for one in outcomes])
        elif not outcomes:
            screen.err.say(_BUSY if there else _EMPTY)
        screen.out.flush()
        raise typer.Exit(next((exit_code_of(one) for one in outcomes if not one.ok), ExitCode.DONE))


async def _run_plan(
    context: CommandContext,
    approver: TerminalApprover,
    session: str | None,
    stop: bool,
    json: bool,
    screen: Screen,
) -> tuple[int, list[Outcome]]:
    """Each call by itself, so that its end is seen before the next one begins; how many there were."""
    hr, who = context.hr, context.actor.principal
    outcomes: list[Outcome] = []
    there = await hr.planned(who, session)
    for planned in there:
        approver.actor = Actor(planned.principal, planned.call.source, context.actor.person)
        found = await context.find(planned.tool)
        approver.tool = found if isinstance(found, Tool) else None
        assert planned.call.id is not None
        for outcome in await hr.run_plan(who, session, calls=[planned.call.id]):
            outcomes.append(outcome)
            if not json:
                _show_call(screen, planned, outcome, approver)
        if stop and outcomes and not outcomes[-1].ok:
            break
    return len(there), outcomes


def _show_call(screen: Screen, planned: PlannedCall, outcome: Outcome, approver: TerminalApprover) -> None:
    screen.err.say(f"{planned.tool} {one_line(visible_json(planned.args))}", "bold")
    waits = outcome.approval_id
    hint = None if waits is None else f"It goes on when somebody answers: handrail approvals approve {waits}"
    show_outcome(screen, outcome, approver.tool, hint)


def discard(
    ctx: typer.Context,
    session: Session = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    debug: Debug = False,
) -> None:
    """Forget what is planned; none of it runs."""
    with open_screen(debug) as screen:
        context = open_context_without_tools(ctx, database, tenant, user)
        number = context.run(context.hr.discard_plan(context.actor.principal, session))
        if json:
            screen.out.json({"discarded": number})
        else:
            screen.out.say(f"{number} planned {'call was' if number == 1 else 'calls were'} discarded.")
