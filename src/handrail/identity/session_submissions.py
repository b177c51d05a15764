"""submit: one participant's call of the tool of a session, through the guard like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.redaction import mask_paths
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.ids import new_id
from handrail.core.present.forms import without_operator_fields
from handrail.engine.handrail import Handrail
from handrail.identity.members import MemberAdmin
from handrail.identity.tool_sessions import Guest, Participant, ToolSessions, check_shareable, session_closed
from handrail.store.tool_sessions import ToolSession, ToolSessionSubmission


@dataclass(frozen=True, slots=True)
class SubmissionResult:
    """How the call ended, and what was kept of it: nothing, unless it completed."""

    outcome: Outcome
    submission: ToolSessionSubmission | None


def event_session(session: ToolSession) -> str:
    """Where the events of a tool session stand: every submission, also those that were replaced."""
    return f"tool-session:{session.id}"


async def tool_of_session(hr: Handrail, session: ToolSession, who: Principal) -> Tool:
    """The tool of a session as this principal has it. Raises `ToolError` when it is hidden by now."""
    return (await hr.describe(session.tool_slug, who, source="web")).tool


async def guest_tool(hr: Handrail, session: ToolSession) -> Tool:
    """The tool of a session as its tenant has it, for guests: it must be one that can be shared.

    Nobody in particular asks, with every permission; what a guest's own call meets, the guard says.
    """
    tool = await tool_of_session(hr, session, Principal(session.tenant_id, permissions=["*"]))
    check_shareable(tool)
    return tool


async def guest_participant(hr: Handrail, guest: Guest, session: ToolSession) -> Participant:
    """The guest as somebody for whom the tool can run."""
    return guest.participant(await guest_tool(hr, session))


async def member_participant(people: MemberAdmin, who: Principal) -> Participant:
    """Somebody of the tenant as a participant. An agent submits for itself, and is told apart."""
    if who.user is None and who.agent is None:
        raise UsageError("Submit as somebody: with a key that belongs to a person or names an agent.")
    name = who.user or ""
    if who.user is not None:
        names = await people.names(who.tenant, [who.user])
        name = names.get(who.user, who.user).partition("@")[0]
    if who.agent is None:
        return Participant(name=name, id=str(who.user), principal=who)
    acts = f"{who.agent} for {name}" if name else who.agent
    return Participant(f"{who.user or ''}/agent:{who.agent}", acts, who)


async def submit(
    hr: Handrail,
    sessions: ToolSessions,
    session: ToolSession,
    who: Participant,
    args: Mapping[str, Any],
    *,
    source: Source = "web",
) -> SubmissionResult:
    """Run the tool for a participant, and keep what came of it in the place of what they had before.

    Raises `Conflict` when the session is closed, before the call or while it ran; `TooOften` for a guest.
    """
    if session.status != "active":
        raise session_closed()
    if who.guest:  # no operator, and bounded
        await sessions.count(session, who.id)
        args = without_operator_fields(await tool_of_session(hr, session, who.principal), args)
    outcome = await hr.call(
        session.tool_slug, args, principal=who.principal, source=source, session=event_session(session)
    )
    if outcome.status != "completed" or not outcome.ok:
        return SubmissionResult(outcome, None)
    tool = await tool_of_session(hr, session, who.principal)
    given = ToolSessionSubmission(
        id=new_id("submission"),
        session_id=session.id,
        user_id=who.id,
        user_display_name=who.name,
        input=mask_paths(dict(args), tool.secrets),
        output=outcome.result.data,
        call_id=outcome.call_id,
        created_at=sessions.now(),
    )
    await sessions.keep(session.tenant_id, given)
    return SubmissionResult(outcome, given)
