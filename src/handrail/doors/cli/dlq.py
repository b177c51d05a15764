"""handrail dlq: dead letters, the calls that failed."""

from __future__ import annotations

import time
from typing import Annotated, get_args

import typer

from handrail.core.tell.dead_letters import DeadLetterStatus
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import refuse_conflicts
from handrail.doors.cli.exit_codes import CommandError, not_found
from handrail.doors.cli.options import option, parse_choice, parse_duration, switch
from handrail.doors.cli.output import Answer, listing, moment, outcome_answer, show_facts

_STATUSES: tuple[DeadLetterStatus, ...] = get_args(DeadLetterStatus)

Id = Annotated[str, typer.Argument(help="The dead letter: its id.", show_default=False)]
Tool = Annotated[str | None, option("--tool", "name", "Only calls of this tool.")]
Session = Annotated[str | None, option("--session", "name", "Only calls of this session.")]


@command("json database tenant user tools")
def list_letters(
    cli: Invocation,
    tool: Tool = None,
    session: Session = None,
    status: Annotated[
        str | None, option("--status", "status", f"Only one of {', '.join(_STATUSES)}.")
    ] = None,
) -> Answer:
    """List calls that failed."""
    problem = f"{status!r} is no status of a dead letter"
    state = None if status is None else parse_choice(status, _STATUSES, problem)
    context = cli.with_database()
    letters = cli.run(context.hr.dead_letters.list(context.actor.principal, tool, session, status=state))
    rows = [
        (letter.id, letter.tool, moment(letter.at), letter.status, letter.code, letter.error)
        for letter in letters
    ]
    none = "No call of a tool that you may see has failed." if status is None else "There are none like that."
    labels = ("Id", "Tool", "When", "Status", "Code", "Error")
    return Answer([letter.to_dict() for letter in letters], listing(labels, rows, none))


@command("json database tenant user tools")
def show_letter(cli: Invocation, id: Id) -> Answer:
    """Show one call that failed, and why."""
    context = cli.with_database()
    letter = cli.run(context.hr.dead_letters.get(id, context.actor.principal))
    if letter is None:
        problem = f"there is no dead letter {id!r} that you may see"
        raise not_found(problem, context.command("dlq", "list"))
    facts = letter.to_dict()
    args, replays = facts.pop("args"), facts.pop("replays")
    facts |= {"at": moment(letter.at), "replays": ", ".join(replays)}
    facts["earlier_errors"] = "; ".join(letter.earlier_errors)
    named = {name.replace("_", " "): value for name, value in facts.items()} | {"arguments": args}
    return Answer(letter.to_dict(), lambda screen: show_facts(screen, named))


@command("json database tenant user tools")
def replay_letter(cli: Invocation, id: Id) -> Answer:
    """Make a failed call once more.

    It goes through the whole guard, as whoever made it and under the same idempotency key.
    """
    context = cli.with_database()
    with refuse_conflicts():
        return outcome_answer(cli.run(context.hr.dead_letters.replay(id, by=context.actor.principal)))


@command("json database tenant user tools")
def purge_letters(
    cli: Invocation,
    id: Annotated[str | None, typer.Argument(help="The dead letter; without it, all that fit.")] = None,
    tool: Tool = None,
    session: Session = None,
    older: Annotated[
        str | None, option("--older-than", "time", "Only older ones, such as 30d or 12h.")
    ] = None,
    all_: Annotated[bool, switch("--all", "Really all of them.")] = False,
) -> Answer:
    """Forget failed calls for good."""
    if not all_ and (id, tool, session, older) == (None,) * 4:
        raise CommandError("which ones?", "give an id, --tool, --session or --older-than; or --all")
    before = None if older is None else time.time() - parse_duration(older, "--older-than")
    context = cli.with_database()
    with refuse_conflicts():
        number = cli.run(
            context.hr.dead_letters.purge(
                id, by=context.actor.principal, tool=tool, session=session, before=before
            )
        )
    return Answer({"purged": number}, f"{number} dead letter{'' if number == 1 else 's'} purged.")
