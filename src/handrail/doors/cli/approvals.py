"""handrail approvals list, show: what waits for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from handrail.core.guard.approval import ApprovalRequest
from handrail.doors.cli.exits import Exit, Stop
from handrail.doors.cli.opening import Opened
from handrail.doors.cli.options import Database, Debug, Json, Tenant, User
from handrail.doors.cli.result import show_text, told
from handrail.doors.cli.rows import show_facts, show_rows, when
from handrail.doors.cli.screen import Screen, screen
from handrail.doors.cli.where import open_bare

People = Mapping[str, str]
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
    with screen(debug) as here:
        found, people = asyncio.run(_waiting(open_bare(ctx, database, tenant, user)))
        if json:
            here.out.json([as_json(one) for one in found])
            return
        show_rows(
            here,
            ("Id", "Tool", "For", "Asked", "Until", "Why"),
            [
                (
                    one.id,
                    one.tool,
                    _whom(one, people),
                    when(one.created_at, here),
                    when(one.expires_at, here),
                    one.reason,
                )
                for one in found
            ],
            "Nothing waits for an answer.",
        )


async def _waiting(opened: Opened) -> tuple[list[ApprovalRequest], People]:
    async with opened.hr as hr:
        return await hr.approvals.list(opened.acting.principal), await _people(opened)


async def _people(opened: Opened) -> People:
    """Where the members of the tenant are written to, by their ids."""
    offices = opened.hr.offices
    if offices is None:
        return {}
    from handrail.identity.offices import Offices  # what has a database has loaded it
    from handrail.store.users import members

    assert isinstance(offices, Offices)
    tenant = opened.acting.principal.tenant
    found = await offices.db.read(tenant, lambda conn: members(conn, tenant))
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
    with screen(debug) as here:
        opened = open_bare(ctx, database, tenant, user)
        request, people = asyncio.run(_one(opened, id))
        if json:
            here.out.json(as_json(request))
        else:
            show_request(here, request, people)
            if request.status == "pending":
                here.out.flush()
                here.err.say(f"Answer it: {opened.command('approvals', 'approve', id)}")


async def _one(opened: Opened, approval_id: str) -> tuple[ApprovalRequest, People]:
    async with opened.hr as hr:
        return await need(opened, hr, approval_id), await _people(opened)


async def need(opened: Opened, hr: Any, approval_id: str) -> ApprovalRequest:
    """The request of that id, or a stop that says where to look."""
    request: ApprovalRequest | None = await hr.approvals.get(approval_id, opened.acting.principal)
    if request is None:
        raise Stop(
            f"there is no approval {approval_id!r} for {opened.acting.principal.tenant}",
            f"see which there are: {opened.command('approvals', 'list')}",
            Exit.REFUSED,
        )
    return request


def show_request(here: Screen, request: ApprovalRequest, people: People) -> None:
    """Everything that a person needs to know before the answer."""
    votes = ", ".join(people.get(vote.user, vote.user) for vote in request.votes)
    decider = request.decided_by
    show_facts(
        here,
        {
            "approval": request.id,
            "status": request.status,
            "tool": request.tool,
            "for": _whom(request, people),
            "source": request.call.source,
            "session": request.call.session,
            "call": request.call.id,
            "level": request.level,
            "danger": request.danger,
            "why": request.reason,
            "asked": when(request.created_at, here),
            "until": when(request.expires_at, here),
            "needs": None if request.quorum == 1 else f"{request.quorum} persons",
            "four eyes": "yes" if request.four_eyes else None,
            "approved by": votes,
            "decided by": people.get(decider, decider) if decider else None,
            "arguments": request.args,
            "edited to": request.edited.shown if request.edited else None,
        },
    )
    for repair in request.repairs:
        here.out.line(told(repair))
    if request.preview:
        here.out.line("What it would change, as of when it was asked:")
        show_text(here.out, request.preview)


def _whom(request: ApprovalRequest, people: People) -> str:
    who = request.principal
    user = people.get(who.user, who.user) if who.user else None
    return " for ".join(name for name in (who.agent, user) if name)


def as_json(request: ApprovalRequest) -> dict[str, Any]:
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
