"""handrail approvals: what waits for a person, and the person's answer."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import typer

from handrail.core.guard.approval_request import ApprovalRequest
from handrail.data_files import parse_json
from handrail.doors.cli.arguments import json_arguments
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import CommandContext, refuse_conflicts
from handrail.doors.cli.exit_codes import CommandError, ExitCode, not_found
from handrail.doors.cli.options import option, switch
from handrail.doors.cli.output import (
    Answer,
    describe_repair,
    listing,
    moment,
    outcome_answer,
    show_facts,
    show_text,
)
from handrail.doors.cli.screen import Screen

EmailsById = Mapping[str, str]
"""Addresses by user id."""
Id = Annotated[str, typer.Argument(help="The approval: its id.", show_default=False)]


@command("json database tenant user")
def list_approvals(cli: Invocation) -> Answer:
    """List what waits for an answer."""
    context = cli.without_tools()
    requests = cli.run(context.hr.approvals.list(context.actor.principal))
    emails = cli.run(_emails(context))
    rows = [
        (
            request.id,
            request.tool,
            _caller(request, emails),
            moment(request.created_at),
            moment(request.expires_at),
            request.reason,
        )
        for request in requests
    ]
    labels = ("Id", "Tool", "For", "Asked", "Until", "Why")
    text = listing(labels, rows, "Nothing waits for an answer.")
    return Answer([request_json(request) for request in requests], text)


async def _emails(context: CommandContext) -> EmailsById:
    """Where the members of the tenant are written to, by their ids."""
    from handrail.platform import platform_of

    members = await platform_of(context.hr).members(context.actor.principal.tenant)
    return {user.id: user.email for user in members}


@command("json database tenant user")
def show_approval(cli: Invocation, id: Id) -> Answer:
    """Show one question with its exact arguments."""
    context = cli.without_tools()
    request = cli.run(_require_request(context, id))
    emails = cli.run(_emails(context))
    answer = f"Answer it: {context.command('approvals', 'approve', id)}"
    return Answer(
        request_json(request),
        lambda screen: show_request(screen, request, emails),
        note=answer if request.status == "pending" else None,
    )


async def _require_request(context: CommandContext, approval_id: str) -> ApprovalRequest:
    """The request of that id, or a stop that says where to look."""
    request = await context.hr.approvals.get(approval_id, context.actor.principal)
    if request is None:
        problem = f"there is no approval {approval_id!r} for {context.actor.principal.tenant}"
        raise not_found(problem, context.command("approvals", "list"))
    return request


def show_request(screen: Screen, request: ApprovalRequest, emails: EmailsById) -> None:
    """Everything that a person needs to know before the answer."""
    votes = ", ".join(emails.get(vote.user, vote.user) for vote in request.votes)
    decider = request.decided_by
    show_facts(
        screen,
        {
            "approval": request.id,
            "status": request.status,
            "tool": request.tool,
            "for": _caller(request, emails),
            "source": request.call.source,
            "session": request.call.session,
            "call": request.call.id,
            "level": request.level,
            "danger": request.danger,
            "why": request.reason,
            "asked": moment(request.created_at),
            "until": moment(request.expires_at),
            "needs": None if request.quorum == 1 else f"{request.quorum} persons",
            "four eyes": "yes" if request.four_eyes else None,
            "approved by": votes,
            "decided by": emails.get(decider, decider) if decider else None,
            "arguments": request.args,
            "edited to": request.edited.shown if request.edited else None,
        },
    )
    for repair in request.repairs:
        screen.out.line(describe_repair(repair))
    if request.preview:
        screen.out.line("What it would change, as of when it was asked:")
        show_text(screen.out, request.preview)


def _caller(request: ApprovalRequest, emails: EmailsById) -> str:
    who = request.principal
    user = emails.get(who.user, who.user) if who.user else None
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


Wait = Annotated[
    float | None, option("--wait", "seconds", "Wait so long for the outcome of the call, and show it.")
]


@command("json database tenant user tools")
def approve(
    cli: Invocation,
    id: Id,
    edit: Annotated[
        str | None,
        option(
            "--edit",
            "json",
            "Run it with these arguments instead: all of them, as a JSON object, @FILE, or -.",
        ),
    ] = None,
    for_session: Annotated[
        bool,
        switch(
            "--for-session", "Do not ask again for this tool in this session. Never for what is dangerous."
        ),
    ] = False,
    wait: Wait = None,
) -> Answer:
    """Let a call run that waits."""
    edits = None if edit is None else json_arguments(edit, "--edit")
    context = cli.with_database()
    decide = partial(context.hr.approvals.approve, edits=edits, for_session=for_session)
    return _settle(cli, context, id, decide, wait)


@command("json database tenant user")
def reject(
    cli: Invocation,
    id: Id,
    reason: Annotated[str | None, option("--reason", "text", "What the caller is told.")] = None,
) -> Answer:
    """Refuse a call that waits."""
    context = cli.without_tools()
    return _settle(cli, context, id, partial(context.hr.approvals.reject, reason=reason), None)


@command("json database tenant user tools")
def respond(
    cli: Invocation,
    id: Id,
    result: Annotated[
        str,
        typer.Option(
            "--result", metavar="json", help="The result that the caller gets, as JSON.", show_default=False
        ),
    ],
    wait: Wait = None,
) -> Answer:
    """Answer in the place of the tool."""
    data = parse_json(result, "--result")
    context = cli.with_database()
    return _settle(cli, context, id, partial(context.hr.approvals.respond, result=data), wait)


def _settle(
    cli: Invocation,
    context: CommandContext,
    approval_id: str,
    decide: Callable[..., Coroutine[Any, Any, ApprovalRequest]],
    wait: float | None,
) -> Answer:
    """Decide an approval; with `wait`, what came of its call is the answer."""
    if wait is not None and not wait > 0:
        raise CommandError(f"--wait {wait:g} is no time", "give seconds above 0")
    cli.run(_require_request(context, approval_id))
    with refuse_conflicts():
        settled = cli.run(decide(approval_id, by=context.actor.principal))
    if wait is None or settled.status == "pending":
        return Answer(request_json(settled), _status_sentence(settled))
    call_id = settled.call.id
    try:
        answer = outcome_answer(cli.run(context.hr.wait(call_id, timeout=wait)))
    except TimeoutError:
        raise CommandError(
            f"{approval_id} is {settled.status}, and its call has not ended in {wait:g} s",
            f"look again: {context.command('runs', 'show', call_id)}",
            ExitCode.WAITING,
        ) from None
    return replace(answer, document=request_json(settled) | {"outcome": answer.document})


def _status_sentence(settled: ApprovalRequest) -> str:
    if settled.status == "pending":
        missing = settled.quorum - len(settled.votes)
        return f"{settled.id} has your yes; {missing} more must approve."
    if settled.status == "approved":
        call = settled.call.id
        return f"{settled.id} is approved; {settled.tool} runs as soon as a worker takes it (call {call})."
    return f"{settled.id} is {settled.status}; {settled.tool} does not run."
