"""handrail plan: what plan mode holds back, to be looked at, run or discarded."""

from __future__ import annotations

from typing import Annotated

import typer

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.core.guard.plan import Planned
from handrail.doors.cli.acting import Acting
from handrail.doors.cli.exits import Exit, exit_of
from handrail.doors.cli.opening import Opened, open_with
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.prompt import Asking, Terminal
from handrail.doors.cli.result import outcome_json, show_outcome
from handrail.doors.cli.rows import show_rows, when
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.where import carried_at, need_database, open_bare, settings_at
from handrail.doors.visible import exact, one_line

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
    with screen(debug) as here:
        opened = open_bare(ctx, database, tenant, user)
        found = opened.run(opened.hr.planned(opened.acting.principal, session))
        if json:
            here.out.json([one.to_dict() for one in found])
            return
        show_rows(
            here,
            ("Call", "Tool", "Arguments", "By", "When", "Session"),
            [
                (
                    one.call.id,
                    one.tool,
                    exact(one.args),
                    one.principal.agent or one.principal.user,
                    when(one.at, here),
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
    with screen(debug) as here:
        asking = Asking(Terminal(here.err))
        settings = settings_at(database, tenant, user)
        need_database(settings)
        opened = open_with(ctx, settings, tools, None, asking, carried_at(database, tenant, user))
        there, outcomes = opened.run(_carried_out(opened, asking, session, stop_on_failure, json, here))
        if json:
            here.out.json([outcome_json(one) for one in outcomes])
        elif not outcomes:
            here.err.say(_BUSY if there else _EMPTY)
        here.out.flush()
        raise typer.Exit(next((exit_of(one) for one in outcomes if not one.ok), Exit.DONE))


async def _carried_out(
    opened: Opened, asking: Asking, session: str | None, stop: bool, json: bool, here: Screen
) -> tuple[int, list[Outcome]]:
    """Each call by itself, so that its end is seen before the next one begins; how many there were."""
    hr, who = opened.hr, opened.acting.principal
    outcomes: list[Outcome] = []
    there = await hr.planned(who, session)
    for planned in there:
        asking.acting = Acting(planned.principal, planned.call.source, opened.acting.person)
        found = await opened.find(planned.tool)
        asking.tool = found if isinstance(found, Tool) else None
        assert planned.call.id is not None
        for outcome in await hr.run_plan(who, session, calls=[planned.call.id]):
            outcomes.append(outcome)
            if not json:
                _tell(here, planned, outcome, asking)
        if stop and outcomes and not outcomes[-1].ok:
            break
    return len(there), outcomes


def _tell(here: Screen, planned: Planned, outcome: Outcome, asking: Asking) -> None:
    here.err.say(f"{planned.tool} {one_line(exact(planned.args))}", "bold")
    waits = outcome.approval_id
    hint = None if waits is None else f"It goes on when somebody answers: handrail approvals approve {waits}"
    show_outcome(here, outcome, asking.tool, hint)


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
    with screen(debug) as here:
        opened = open_bare(ctx, database, tenant, user)
        number = opened.run(opened.hr.discard_plan(opened.acting.principal, session))
        if json:
            here.out.json({"discarded": number})
        else:
            here.out.say(f"{number} planned {'call was' if number == 1 else 'calls were'} discarded.")
