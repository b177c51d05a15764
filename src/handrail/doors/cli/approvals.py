"""handrail approvals: what waits for a person, and the person's answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import typer

from handrail.core.define.call import Outcome
from handrail.core.define.principal import Principal
from handrail.core.guard.approval_request import ApprovalRequest
from handrail.core.run.approvals.inbox import Approvals, Conflict
from handrail.data_files import parse_json
from handrail.doors.cli.arguments import json_arguments
from handrail.doors.cli.context import CommandContext, open_context_without_tools, open_database_context
from handrail.doors.cli.exit_codes import CommandError, ExitCode, exit_code_of
from handrail.doors.cli.options import Database, Debug, Json, Tenant, Tools, User
from handrail.doors.cli.output import (
    describe_repair,
    format_time,
    outcome_json,
    show_facts,
    show_outcome,
    show_rows,
    show_text,
)
from handrail.doors.cli.screen import Screen, open_screen

EmailsById = Mapping[str, str]
"""Addresses by user id."""
Id = Annotated[str, typer.Argument(help="The approval: its id.", show_default=False)]


def list_(
    ctx: typer.Context,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    debug: Debug = False,
) -> None:
    """List what waits for an answer."""
    with open_screen(debug) as screen:
        found, people = asyncio.run(_pending(open_context_without_tools(ctx, database, tenant, user)))
        if json:
            screen.out.json([request_json(one) for one in found])
            return
        show_rows(
            screen,
            ("Id", "Tool", "For", "Asked", "Until", "Why"),
            [
                (
                    one.id,
                    one.tool,
                    _caller(one, people),
                    format_time(one.created_at, screen),
                    format_time(one.expires_at, screen),
                    one.reason,
                )
                for one in found
            ],
            "Nothing waits for an answer.",
        )


async def _pending(context: CommandContext) -> tuple[list[ApprovalRequest], EmailsById]:
    async with context.hr as hr:
        return await hr.approvals.list(context.actor.principal), await _emails(context)


async def _emails(context: CommandContext) -> EmailsById:
    """Where the members of the tenant are written to, by their ids."""
    services = context.hr.services
    if services is None:
        return {}
    from handrail.identity.services import Services  # what has a database has loaded it
    from handrail.store.users import list_members

    assert isinstance(services, Services)
    tenant = context.actor.principal.tenant
    found = await services.db.read(tenant, lambda conn: list_members(conn, tenant))
    return {one.id: one.email for one, _ in found}


def show(
    ctx: typer.Context,
    id: Id,
    json: Json = False,
    database: Database = None,
    tenant: Tenant = None,
    user: User = None,
    debug: Debug = False,
) -> None:
    """Show one question with its exact arguments."""
    with open_screen(debug) as screen:
        context = open_context_without_tools(ctx, database, tenant, user)
        request, people = asyncio.run(_request(context, id))
        if json:
            screen.out.json(request_json(request))
        else:
            show_request(screen, request, people)
            if request.status == "pending":
                screen.out.flush()
                screen.err.say(f"Answer it: {context.command('approvals', 'approve', id)}")


async def _request(context: CommandContext, approval_id: str) -> tuple[ApprovalRequest, EmailsById]:
    async with context.hr as hr:
        return await require_request(context, hr, approval_id), await _emails(context)


async def require_request(context: CommandContext, hr: Any, approval_id: str) -> ApprovalRequest:
    """The request of that id, or a stop that says where to look."""
    request: ApprovalRequest | None = await hr.approvals.get(approval_id, context.actor.principal)
    if request is None:
        raise CommandError(
            f"there is no approval {approval_id!r} for {context.actor.principal.tenant}",
            f"see which there are: {context.command('approvals', 'list')}",
            ExitCode.REFUSED,
        )
    return request


def show_request(screen: Screen, request: ApprovalRequest, people: EmailsById) -> None:
    """Everything that a person needs to know before the answer."""
    votes = ", ".join(people.get(vote.user, vote.user) for vote in request.votes)
    decider = request.decided_by
    show_facts(
        screen,
        {
            "approval": request.id,
            "status": request.status,
            "tool": request.tool,
            "for": _caller(request, people),
            "source": request.call.source,
            "session": request.call.session,
            "call": request.call.id,
            "level": request.level,
            "danger": request.danger,
            "why": request.reason,
            "asked": format_time(request.created_at, screen),
            "until": format_time(request.expires_at, screen),
            "needs": None if request.quorum == 1 else f"{request.quorum} persons",
            "four eyes": "yes" if request.four_eyes else None,
            "approved by": votes,
            "decided by": people.get(decider, decider) if decider else None,
            "arguments": request.args,
            "edited to": request.edited.shown if request.edited else None,
        },
    )
    for repair in request.repairs:
        screen.out.line(describe_repair(repair))
    if request.preview:
        screen.out.line("What it would change, as of when it was asked:")
        show_text(screen.out, request.preview)


def _caller(request: ApprovalRequest, people: EmailsById) -> str:
    who = request.principal
    user = people.get(who.user, who.user) if who.user else None
    return " for ".join(name for name in (who.agent, user) if name)


def request_json(request: ApprovalRequest) -> dict[str, Any]:
    """A request as JSON data; secrets are masked."""
    call, who = request.call, request.principal
    return {
        "id": request.id,
        "status": request.status,
        "tool": request.tool,
        "level": request.level,
        "danger": request.danger,
        "reason": request.reason,
        "args": dict(request.args),
        "preview": request.preview,
        "tenant": who.tenant,
        "user": who.user,
        "agent": who.agent,
        "source": call.source,
        "session": call.session,
        "call_id": call.id,
        "created_at": request.created_at,
        "expires_at": request.expires_at,
        "quorum": request.quorum,
        "four_eyes": request.four_eyes,
        "votes": [vote.user for vote in request.votes],
        "decided_by": request.decided_by,
        "edited_args": dict(request.edited.shown) if request.edited else None,
        "decision": request.decision.to_dict(),
    }


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
    with open_screen(debug) as screen:
        edits = None if edit is None else json_arguments(edit, "--edit")
        context = open_database_context(ctx, database, tenant, user, tools)
        _answer(
            screen,
            context,
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
    with open_screen(debug) as screen:
        context = open_context_without_tools(ctx, database, tenant, user)
        _answer(screen, context, id, lambda inbox, by: inbox.reject(id, by=by, reason=reason), None, json)


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
    with open_screen(debug) as screen:
        given = parse_json(result, "--result")
        context = open_database_context(ctx, database, tenant, user, tools)
        _answer(screen, context, id, lambda inbox, by: inbox.respond(id, by=by, result=given), wait, json)


def _answer(
    screen: Screen, context: CommandContext, approval_id: str, answer: Answer, wait: float | None, json: bool
) -> None:
    if wait is not None and not wait > 0:
        raise CommandError(f"--wait {wait:g} is no time", "give seconds above 0")
    settled, outcome = asyncio.run(_settle(context, approval_id, answer, wait))
    if json:
        told: dict[str, Any] = request_json(settled)
        screen.out.json(told if outcome is None else told | {"outcome": outcome_json(outcome)})
    elif outcome is not None:
        show_outcome(screen, outcome, None, None)
    else:
        screen.out.say(_status_sentence(settled))
    if outcome is not None:
        raise typer.Exit(exit_code_of(outcome))


async def _settle(
    context: CommandContext, approval_id: str, answer: Answer, wait: float | None
) -> tuple[ApprovalRequest, Outcome | None]:
    async with context.hr as hr:
        await require_request(context, hr, approval_id)
        try:
            settled = await answer(hr.approvals, context.actor.principal)
        except Conflict as conflict:
            raise CommandError(str(conflict), None, ExitCode.REFUSED) from None
        if wait is None or settled.status == "pending":
            return settled, None
        assert settled.call.id is not None
        try:
            return settled, await hr.wait(settled.call.id, timeout=wait)
        except TimeoutError:
            raise CommandError(
                f"{approval_id} is {settled.status}, and its call has not ended in {wait:g} s",
                f"look again: {context.command('runs', 'show', settled.call.id)}",
                ExitCode.WAITING,
            ) from None


def _status_sentence(settled: ApprovalRequest) -> str:
    if settled.status == "pending":
        left = settled.quorum - len(settled.votes)
        return f"{settled.id} has your yes; {left} more must approve."
    if settled.status == "approved":
        call = settled.call.id
        return f"{settled.id} is approved; {settled.tool} runs as soon as a worker takes it (call {call})."
    return f"{settled.id} is {settled.status}; {settled.tool} does not run."
