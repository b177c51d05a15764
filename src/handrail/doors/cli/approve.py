"""handrail approvals approve, reject, respond: a person's answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import typer

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.guard.approval import ApprovalRequest
from handrail.core.run.approvals import Approvals, Conflict
from handrail.documents import parse_json
from handrail.doors.cli.approvals import Id, as_json, need
from handrail.doors.cli.exits import Exit, Stop, exit_of
from handrail.doors.cli.line import whole
from handrail.doors.cli.opening import Opened
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.result import outcome_json, show_outcome
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.where import open_at, open_bare

Answer = Callable[[Approvals, Principal], Awaitable[ApprovalRequest]]
Wait = Annotated[
    float | None,
    typer.Option("--wait", metavar="seconds", help="Wait so long for the outcome of the call, and show it."),
]


def approve(
    ctx: typer.Context,
    id: Id,
    edit: Annotated[
        str | None,
        typer.Option(
            "--edit",
            metavar="json",
            help="Run it with these arguments instead: all of them, as a JSON object, @FILE, or -.",
        ),
    ] = None,
    for_session: Annotated[
        bool,
        typer.Option(
            "--for-session",
            help="Do not ask again for this tool in this session. Never for what is dangerous.",
        ),
    ] = False,
    wait: Wait = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Let a call run that waits."""
    with screen(debug) as here:
        edits = None if edit is None else whole(edit, "--edit")
        opened = open_at(ctx, database, tenant, user, tools)
        _answer(
            here,
            opened,
            id,
            lambda inbox, by: inbox.approve(id, by=by, edits=edits, for_session=for_session),
            wait,
            json,
        )


def reject(
    ctx: typer.Context,
    id: Id,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="text", help="What the caller is told.")
    ] = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    debug: Debug = False,
) -> None:
    """Refuse a call that waits."""
    with screen(debug) as here:
        opened = open_bare(ctx, database, tenant, user)
        _answer(here, opened, id, lambda inbox, by: inbox.reject(id, by=by, reason=reason), None, json)


def respond(
    ctx: typer.Context,
    id: Id,
    result: Annotated[
        str,
        typer.Option(
            "--result", metavar="json", help="The result that the caller gets, as JSON.", show_default=False
        ),
    ],
    wait: Wait = None,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    tools: Tools = None,
    debug: Debug = False,
) -> None:
    """Answer in the place of the tool."""
    with screen(debug) as here:
        given = parse_json(result, "--result")
        opened = open_at(ctx, database, tenant, user, tools)
        _answer(here, opened, id, lambda inbox, by: inbox.respond(id, by=by, result=given), wait, json)


def _answer(
    here: Screen, opened: Opened, approval_id: str, answer: Answer, wait: float | None, json: bool
) -> None:
    if wait is not None and not wait > 0:
        raise Stop(f"--wait {wait:g} is no time", "give seconds above 0")
    settled, outcome = asyncio.run(_settle(opened, approval_id, answer, wait))
    if json:
        told: dict[str, Any] = as_json(settled)
        here.out.json(told if outcome is None else told | {"outcome": outcome_json(outcome)})
    elif outcome is not None:
        show_outcome(here, outcome, None, None)
    else:
        here.out.say(_said(settled))
    if outcome is not None:
        raise typer.Exit(exit_of(outcome))


async def _settle(
    opened: Opened, approval_id: str, answer: Answer, wait: float | None
) -> tuple[ApprovalRequest, Outcome | None]:
    async with opened.hr as hr:
        await need(opened, hr, approval_id)
        try:
            settled = await answer(hr.approvals, opened.acting.principal)
        except Conflict as conflict:
            raise Stop(str(conflict), None, Exit.REFUSED) from None
        if wait is None or settled.status == "pending":
            return settled, None
        assert settled.call.id is not None
        try:
            return settled, await hr.wait(settled.call.id, timeout=wait)
        except TimeoutError:
            raise Stop(
                f"{approval_id} is {settled.status}, and its call has not ended in {wait:g} s",
                f"look again: {opened.command('runs', 'show', settled.call.id)}",
                Exit.WAITING,
            ) from None


def _said(settled: ApprovalRequest) -> str:
    if settled.status == "pending":
        left = settled.quorum - len(settled.votes)
        return f"{settled.id} has your yes; {left} more must approve."
    if settled.status == "approved":
        call = settled.call.id
        return f"{settled.id} is approved; {settled.tool} runs as soon as a worker takes it (call {call})."
    return f"{settled.id} is {settled.status}; {settled.tool} does not run."
