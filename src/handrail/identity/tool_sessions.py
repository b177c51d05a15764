"""ToolSessions: tools that several people fill in together: who may make, share, join and end one."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.ids import new_id
from handrail.core.run.approvals.inbox import Conflict
from handrail.identity.api_keys import KeyText, new_key, parse_key
from handrail.identity.errors import PermissionDenied, RateLimited
from handrail.identity.permissions import check_grant, require_permission
from handrail.store import tool_sessions as rows
from handrail.store.database import Database
from handrail.store.embeds import count_guest_run
from handrail.store.encryption import Seal, SealError
from handrail.store.tool_sessions import SessionStatus, ToolSession, ToolSessionCursor, ToolSessionSubmission

MAX_GUEST_NAME = 60
_MAX_GUEST_TOKEN = 2_000


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who may submit to a session, and under whose authority the tool runs for them."""

    id: str
    name: str
    principal: Principal
    guest: bool = False


@dataclass(frozen=True, slots=True)
class Guest:
    """What a guest token holds."""

    tenant: str
    session: str
    share: str
    """The link by which they came."""
    id: str
    name: str

    def belongs_to(self, session: ToolSession, now: float) -> bool:
        """Whether they may still be in this session: its link is the one they joined by, and is valid."""
        current = (session.tenant_id, session.id, session.share_id)
        return current == (self.tenant, self.session, self.share) and session.is_shared(now)

    def participant(self, tool: Tool) -> Participant:
        """Who they are to the guard: no member of the tenant, with this one tool, read-only.

        The permission that the tool requires is that of the session's creator, who shares it.
        """
        holds = [] if tool.requires is None else [tool.requires]
        who = Principal(
            self.tenant, self.id, permissions=holds, key="service", scope=[tool.id], ceiling="read"
        )
        return Participant(self.id, self.name, who, guest=True)


def new_guest(session: ToolSession, name: str) -> Guest:
    """Somebody who joins under a name, by the link that the session has now."""
    if session.share_id is None:
        raise UsageError("This session is not shared.")
    shown_name = display_name(name)
    return Guest(session.tenant_id, session.id, session.share_id, f"guest:{secrets.token_hex(8)}", shown_name)


def display_name(name: str) -> str:
    """A name as others will see it."""
    cleaned = " ".join(name.split())
    if not cleaned:
        raise UsageError("Type the name that the others will see.")
    if len(cleaned) > MAX_GUEST_NAME:
        raise UsageError(f"A name has {MAX_GUEST_NAME} characters at most. Yours has {len(cleaned)}.")
    if not cleaned.isprintable():
        raise UsageError("The name has characters in it that nobody can see. Type it again.")
    return cleaned


def guest_token(guest: Guest, seal: Seal) -> str:
    """The token that a guest presents from then on."""
    fields = [guest.session, guest.share, guest.id, guest.name]
    return f"{guest.tenant}.{seal.close(guest.tenant, fields, _seal_purpose(guest.session))}"


def parse_guest_token(note: str, session: str, seal: Seal) -> Guest | None:
    """The guest of this session whose token it is; None for anything else."""
    tenant, dot, sealed = note.partition(".")
    if not tenant or not dot or len(note) > _MAX_GUEST_TOKEN:
        return None
    try:
        fields = seal.open(tenant, sealed, _seal_purpose(session))
        return Guest(tenant, *fields)
    except (SealError, TypeError, ValueError):
        return None


def _seal_purpose(session: str) -> str:
    return f"guest of {session}"


DEFAULT_SHARE_SECONDS = 7 * 86_400.0
"""Seconds for which a share link is valid, unless its creator says otherwise."""
MAX_SHARE_SECONDS = 90 * 86_400.0

MAX_PARTICIPANTS = 500
"""So many people can submit to one session."""
MAX_SESSION_TITLE = 200

GUEST_RUNS_PER_DAY = 100
"""So often can one guest submit in a day, whether it succeeds or not."""

LINK_RUNS_PER_DAY = 5_000
"""So often can all guests of a share link together."""

_STATUS_FROM: Mapping[SessionStatus, tuple[SessionStatus, ...]] = {
    "active": ("completed",),
    "completed": ("active",),
    "cancelled": ("active", "completed"),
}
"""From which status a session may change, by the new one."""


class ToolSessions:
    """The tool sessions of every tenant."""

    def __init__(self, db: Database, seal: Seal) -> None:
        self._db = db
        self._seal = seal

    async def create(
        self,
        by: Principal,
        tool: Tool,
        title: str = "",
        *,
        entity_ids: Sequence[str] = (),
        config: Mapping[str, Any] | None = None,
    ) -> ToolSession:
        """A new session of a tool that this principal sees."""
        require_permission(by, by.tenant, "tool_sessions.create")
        if not tool.collaborative:
            raise UsageError(f"{tool.name} is not made to be filled in together.")
        checked_title = " ".join(title.split()) or tool.name
        if len(checked_title) > MAX_SESSION_TITLE or not checked_title.isprintable():
            raise UsageError(f"A title is one line of {MAX_SESSION_TITLE} characters at most.")
        session = ToolSession(
            id=new_id("tool_session"),
            tenant_id=by.tenant,
            tool_slug=tool.slug,
            title=checked_title,
            created_by=by.user or by.agent or "unknown",
            created_at=self._db.clock.now(),
            entity_ids=tuple(entity_ids),
            config=dict(config or {}),
        )
        await self._db.write(by.tenant, rows.add_tool_session, by.tenant, session)
        return session

    async def list(
        self,
        by: Principal,
        *,
        tool: str | None = None,
        status: SessionStatus | None = None,
        after: ToolSessionCursor | None = None,
        limit: int = 50,
    ) -> list[ToolSession]:
        """The tenant's sessions, the newest first."""
        require_permission(by, by.tenant, "tool_sessions.read")
        return await self._db.read(
            by.tenant, rows.list_tool_sessions, by.tenant, tool=tool, status=status, after=after, limit=limit
        )

    async def get(self, by: Principal, session: str) -> ToolSession | None:
        """A session of the tenant."""
        require_permission(by, by.tenant, "tool_sessions.read")
        return await self.find(by.tenant, session)

    async def find(self, tenant: str, session: str) -> ToolSession | None:
        """A session, for whoever has shown that they may see it."""
        return await self._db.read(tenant, rows.get_tool_session, tenant, session)

    async def manage(self, by: Principal, session: str) -> ToolSession | None:
        """A session that this principal may change: their own, or anybody's with the permission."""
        existing = await self.find(by.tenant, session)
        return existing if existing is not None and may_manage(by, existing) else None

    async def set_status(self, session: ToolSession, status: SessionStatus) -> ToolSession:
        """Close, reopen or cancel a session that somebody manages. What is cancelled stays so."""
        tenant = session.tenant_id
        turned = await self._db.write(
            tenant, rows.set_tool_session_status, tenant, session.id, was=_STATUS_FROM[status], status=status
        )
        now = await self.find(tenant, session.id)
        if now is None or (not turned and now.status != status):
            raise Conflict("This session is cancelled, which is for good. Start a new one.")
        return now

    async def share(
        self, by: Principal, session: ToolSession, tool: Tool, lifetime: float = DEFAULT_SHARE_SECONDS
    ) -> tuple[KeyText, ToolSession]:
        """A link by which guests join; show it once. Guests of an earlier one are out."""
        if by.agent is not None:
            raise PermissionDenied("An agent lets nobody in: a person shares a session.")
        check_grant(by, [] if tool.requires is None else [tool.requires])
        check_shareable(tool)
        if session.status != "active":
            raise Conflict("This session is over. Reopen it to share it.", code="SESSION_CLOSED")
        if not 60.0 <= lifetime <= MAX_SHARE_SECONDS:
            raise UsageError("A link lives between a minute and 90 days.")
        text, until = new_key(session.tenant_id, "hj"), self._db.clock.now() + lifetime
        return text, await self._link(session, text, until)

    async def unshare(self, session: ToolSession) -> ToolSession:
        """End the link, and with it every guest who joined by it."""
        return await self._link(session, None, None)

    async def _link(self, session: ToolSession, text: KeyText | None, until: float | None) -> ToolSession:
        tenant = session.tenant_id
        share, digest = (None, None) if text is None else (text.id, text.digest)
        await self._db.write(
            tenant, rows.share_tool_session, tenant, session.id, share=share, digest=digest, expires_at=until
        )
        return await self.find(tenant, session.id) or session  # sessions are never deleted

    async def by_token(self, token: str) -> ToolSession | None:
        """The session that a share token opens; None when it opens nothing, or nothing any more."""
        text = parse_key(token, "hj")
        if text is None:
            return None
        session = await self._db.read(text.tenant, rows.tool_session_of_share, text.tenant, text.id)
        is_same = text.is_of(None if session is None else session.share_digest)
        return (
            session if is_same and session is not None and session.is_shared(self._db.clock.now()) else None
        )

    def add_guest(self, session: ToolSession, name: str) -> tuple[Guest, str]:
        """A new guest of a session that a share token opened, and their own token."""
        guest = new_guest(session, name)
        return guest, guest_token(guest, self._seal)

    def holder(self, note: str, session: str) -> Guest | None:
        """Whose guest token it is; whether they may still be in the session, `guest` says."""
        return parse_guest_token(note, session, self._seal)

    async def guest(self, note: str, session: str) -> tuple[Guest, ToolSession] | None:
        """The guest who holds this note, and their session; None when either is no more."""
        guest = self.holder(note, session)
        found = None if guest is None else await self.find(guest.tenant, session)
        if guest is None or found is None or not guest.belongs_to(found, self._db.clock.now()):
            return None
        return guest, found

    async def count(self, session: ToolSession, guest: str) -> None:
        """Count one submission of a guest before it runs. Raises `TooOften` when the day's are used up."""
        share, now = session.share_id, self._db.clock.now()
        if share is None:
            raise UsageError("This session is not shared.")
        day, tenant = datetime.fromtimestamp(now, UTC).date().isoformat(), session.tenant_id
        full = await self._db.write(
            tenant,
            count_guest_run,
            tenant,
            share,
            day=day,
            guest=guest,
            per_link=LINK_RUNS_PER_DAY,
            per_guest=GUEST_RUNS_PER_DAY,
        )
        if full is not None:
            whom = "You have submitted" if full == "visitor" else "The guests of this link have submitted"
            most = "one guest" if full == "visitor" else "they"
            raise RateLimited(f"{whom} as often as {most} can in a day.", 86_400 - now % 86_400)

    async def submissions(self, session: ToolSession) -> Sequence[ToolSessionSubmission]:
        """What was submitted, the oldest first; one a participant, the newest of theirs."""
        tenant = session.tenant_id
        return await self._db.read(tenant, rows.list_submissions, tenant, session.id)

    async def revision(self, session: ToolSession) -> int | None:
        """Raised when something in a session is new."""
        tenant = session.tenant_id
        return await self._db.read(tenant, rows.revision_of, tenant, session.id)

    async def keep(self, tenant: str, given: ToolSessionSubmission) -> None:
        """Keep a submission in the place of the participant's earlier one, if the session is still open."""
        kept = await self._db.write(tenant, rows.put_submission, tenant, given, most=MAX_PARTICIPANTS)
        if kept is None:
            raise session_closed(
                "This session was closed while your answer was worked out. It was not added."
            )
        if kept == "full":
            raise Conflict(
                f"This session is full: {MAX_PARTICIPANTS} people have submitted.", code="SESSION_FULL"
            )

    def now(self) -> float:
        return self._db.clock.now()


def may_manage(by: Principal, session: ToolSession) -> bool:
    """Whether they may close, reopen, cancel and share a session."""
    own = by.user is not None and by.user == session.created_by
    return by.tenant == session.tenant_id and (own or by.holds("tool_sessions.manage"))


def check_shareable(tool: Tool) -> None:
    """Raise unless guests may use the tool: it only reads, and nobody has to be asked."""
    if tool.level != "read" or tool.policy != "auto":
        raise UsageError(
            f"{tool.name} can change things, or has to be approved, so it is not shared with people who have "
            "no account. Members of the tenant can open the session and submit."
        )


def session_closed(said: str = "This session is closed, so nothing more can be submitted.") -> Conflict:
    return Conflict(said, code="SESSION_CLOSED")
