"""handrail plan: what plan mode holds back, to be looked at, run or discarded."""

from __future__ import annotations

from typing import Annotated

from handrail.core.define.call import Outcome
from handrail.core.define.tool import Tool
from handrail.core.guard.plans import PlannedCall
from handrail.doors.cli.approval_prompt import TerminalApprover, TerminalInput
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import Actor, actor_of
from handrail.doors.cli.exit_codes import ExitCode, exit_code_of
from handrail.doors.cli.options import option, switch
from handrail.doors.cli.output import Answer, listing, moment, outcome_json, show_outcome
from handrail.doors.cli.screen import Screen
from handrail.platform.display_text import one_line, visible_json

_EMPTY = (
    "The plan is empty. Put a call into it with `handrail run --plan NAME`, or all calls that change "
    "something with `plan = true` under [policy] in handrail.toml."
)
_BUSY = "Somebody else runs this plan right now. See what is left of it with `handrail plan show`."
Session = Annotated[str | None, option("--session", "name", "Only calls of this session.")]


@command("json database tenant user")
def show_plan(cli: Invocation, session: Session = None) -> Answer:
    """Show what is planned, in the order in which it would run."""
    context = cli.without_tools()
    calls = cli.run(context.hr.planned(context.actor.principal, session))
    rows = [
        (
            planned.call.id,
            planned.tool,
            visible_json(planned.args),
            planned.principal.agent or planned.principal.user,
            moment(planned.at),
            planned.call.session,
        )
        for planned in calls
    ]
    labels = ("Call", "Tool", "Arguments", "By", "When", "Session")
    return Answer([planned.to_dict() for planned in calls], listing(labels, rows, _EMPTY))


@command("json database tenant user tools")
def run_plan(
    cli: Invocation,
    session: Session = None,
    stop_on_failure: Annotated[
        bool,
        switch(
            "--stop-on-failure",
            "Stop after the first call that does not succeed; what follows stays planned.",
        ),
    ] = False,
) -> Answer:
    """Run what is planned, in order, each call through the whole guard.

    A call that fails, is refused or waits for a person does not stop the rest, unless --stop-on-failure is
    given. The exit code is that of the first call that did not succeed.
    """
    approver = TerminalApprover(TerminalInput(cli.screen.err), actor_of(None, cli.settings))
    context = cli.with_database(approver)
    hr, who = context.hr, context.actor.principal
    outcomes: list[Outcome] = []
    calls = cli.run(hr.planned(who, session))
    for planned in calls:  # each by itself, so that its end is seen before the next one begins
        tool = cli.run(context.find(planned.tool))
        approver.actor = Actor(planned.principal, planned.call.source, context.actor.person)
        approver.tool = tool if isinstance(tool, Tool) else None
        for outcome in cli.run(hr.run_plan(who, session, calls=[planned.call.id])):
            outcomes.append(outcome)
            if not cli.options.json:
                _show_call(cli.screen, planned, outcome, approver.tool)
        if stop_on_failure and outcomes and not outcomes[-1].ok:
            break

    def show_rest(screen: Screen) -> None:
        if not outcomes:
            screen.err.say(_BUSY if calls else _EMPTY)

    code = next((exit_code_of(outcome) for outcome in outcomes if not outcome.ok), ExitCode.DONE)
    return Answer([outcome_json(outcome) for outcome in outcomes], show_rest, code=code)


def _show_call(screen: Screen, planned: PlannedCall, outcome: Outcome, tool: Tool | None) -> None:
    screen.err.say(f"{planned.tool} {one_line(visible_json(planned.args))}", "bold")
    approval = outcome.approval_id
    hint = approval and f"It goes on when somebody answers: handrail approvals approve {approval}"
    show_outcome(screen, outcome, tool, hint)


@command("json database tenant user")
def discard_plan(cli: Invocation, session: Session = None) -> Answer:
    """Forget what is planned; none of it runs."""
    context = cli.without_tools()
    number = cli.run(context.hr.discard_plan(context.actor.principal, session))
    calls = "call was" if number == 1 else "calls were"
    return Answer({"discarded": number}, f"{number} planned {calls} discarded.")
