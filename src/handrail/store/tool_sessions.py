"""Tool sessions as rows: what several people fill in together, and what each of them submitted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, Row, and_, func, insert, or_, select, update

from handrail.store.codec import dump, load
from handrail.store.tables import tool_sessions, tool_submissions
from handrail.store.upsert import upsert

SessionStatus = Literal["active", "completed", "cancelled"]
ToolSessionCursor = tuple[float, str]
"""Where a page of a list ends: when a session was made, and its id."""


@dataclass(frozen=True, slots=True)
class ToolSession:
    """A tool that several people fill in, each for themselves, and whose answers are seen together."""

    id: str
    tenant_id: str
    tool_slug: str
    title: str
    created_by: str
    created_at: float
    status: SessionStatus = "active"
    entity_ids: tuple[str, ...] = ()
    config: dict[str, Any] = field(default_factory=dict)
    revision: int = 0
    """Raised whenever something in it is new."""
    share_id: str | None = None
    share_digest: str | None = field(default=None, repr=False)
    """Of the share token, which nobody keeps."""
    share_expires_at: float | None = None

    def is_shared(self, now: float) -> bool:
        """Whether there is a link by which guests come in."""
        until = self.share_expires_at
        return self.share_id is not None and until is not None and now < until

    def to_dict(self) -> dict[str, Any]:
        """What is known of it as JSON data; not its digest."""
        return {
            "id": self.id,
            "tenant_id": self.tenant_id,
            "tool_slug": self.tool_slug,
            "title": self.title,
            "status": self.status,
            "entity_ids": list(self.entity_ids),
            "config": self.config,
            "created_by": self.created_by,
            "created_at": self.created_at,
            "revision": self.revision,
            "share_expires_at": self.share_expires_at,
        }


@dataclass(frozen=True, slots=True)
class ToolSessionSubmission:
    """What one participant gave, and what the tool made of it."""

    id: str
    session_id: str
    user_id: str
    user_display_name: str | None
    input: Any
    output: Any
    call_id: str
    created_at: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "session_id": self.session_id,
            "user_id": self.user_id,
            "user_display_name": self.user_display_name,
            "input": self.input,
            "output": self.output,
            "call_id": self.call_id,
            "created_at": self.created_at,
        }


def add_tool_session(conn: Connection, tenant: str, made: ToolSession) -> None:
    row = {
        "tenant_id": tenant,
        "id": made.id,
        "tool_slug": made.tool_slug,
        "title": made.title,
        "status": made.status,
        "entity_ids": dump(list(made.entity_ids)),
        "config": dump(made.config),
        "created_by": made.created_by,
        "created_at": made.created_at,
        "revision": made.revision,
    }
    conn.execute(insert(tool_sessions).values(row))


def get_tool_session(conn: Connection, tenant: str, tool_session: str) -> ToolSession | None:
    found = conn.execute(select(tool_sessions).where(*_is(tenant, tool_session))).one_or_none()
    return None if found is None else _session(found)


def tool_session_of_share(conn: Connection, tenant: str, share: str) -> ToolSession | None:
    """The session that a share link is of."""
    table = tool_sessions
    found = select(table).where(table.c.tenant_id == tenant, table.c.share_id == share)
    row = conn.execute(found).one_or_none()
    return None if row is None else _session(row)


def list_tool_sessions(
    conn: Connection,
    tenant: str,
    *,
    tool: str | None = None,
    status: SessionStatus | None = None,
    after: ToolSessionCursor | None = None,
    limit: int = 50,
) -> list[ToolSession]:
    """The newest first, those after a place."""
    table = tool_sessions
    where = [table.c.tenant_id == tenant]
    if tool is not None:
        where.append(table.c.tool_slug == tool)
    if status is not None:
        where.append(table.c.status == status)
    if after is not None:
        at, name = after
        where.append(or_(table.c.created_at < at, and_(table.c.created_at == at, table.c.id < name)))
    order = (table.c.created_at.desc(), table.c.id.desc())
    return [_session(row) for row in conn.execute(select(table).where(*where).order_by(*order).limit(limit))]


def set_tool_session_status(
    conn: Connection, tenant: str, tool_session: str, *, was: tuple[SessionStatus, ...], status: SessionStatus
) -> bool:
    """Give a session another status, if it has one of these."""
    there = update(tool_sessions).where(*_is(tenant, tool_session), tool_sessions.c.status.in_(was))
    values = {"status": status, "revision": tool_sessions.c.revision + 1}
    return conn.execute(there.values(values)).rowcount > 0


def share_tool_session(
    conn: Connection,
    tenant: str,
    tool_session: str,
    *,
    share: str | None,
    digest: str | None,
    expires_at: float | None,
) -> bool:
    """Give a session another share link, or none: whoever came by the old one is out."""
    values = {
        "share_id": share,
        "share_digest": digest,
        "share_expires_at": expires_at,
        "revision": tool_sessions.c.revision + 1,
    }
    there = update(tool_sessions).where(*_is(tenant, tool_session))
    return conn.execute(there.values(values)).rowcount > 0


def put_submission(
    conn: Connection, tenant: str, given: ToolSessionSubmission, *, most: int
) -> Literal["kept", "full"] | None:
    """Keep what a participant gave, in the place of what they had; None when no session waits for it.

    The row of the session is changed first, so that nobody closes it meanwhile.
    """
    active = update(tool_sessions).where(*_is(tenant, given.session_id), tool_sessions.c.status == "active")
    if not conn.execute(active.values(revision=tool_sessions.c.revision + 1)).rowcount:
        return None
    table = tool_submissions
    others = select(func.count()).where(
        table.c.tenant_id == tenant, table.c.session_id == given.session_id, table.c.user_id != given.user_id
    )
    if conn.execute(others).scalar_one() >= most:
        return "full"
    row = {
        "tenant_id": tenant,
        "session_id": given.session_id,
        "user_id": given.user_id,
        "id": given.id,
        "user_display_name": given.user_display_name,
        "input": dump(given.input),
        "output": dump(given.output),
        "call_id": given.call_id,
        "created_at": given.created_at,
    }
    upsert(conn, table, row)
    return "kept"


def list_submissions(conn: Connection, tenant: str, tool_session: str) -> list[ToolSessionSubmission]:
    """All of a session, the oldest first; there are never more than `put_submission` lets in."""
    table = tool_submissions
    mine = select(table).where(table.c.tenant_id == tenant, table.c.session_id == tool_session)
    return [_submission(row) for row in conn.execute(mine.order_by(table.c.created_at, table.c.id))]


def revision_of(conn: Connection, tenant: str, tool_session: str) -> int | None:
    """The revision of a session; None when there is none."""
    found = select(tool_sessions.c.revision).where(*_is(tenant, tool_session))
    return conn.execute(found).scalar_one_or_none()


def _is(tenant: str, tool_session: str) -> tuple[Any, ...]:
    return tool_sessions.c.tenant_id == tenant, tool_sessions.c.id == tool_session


def _session(row: Row[Any]) -> ToolSession:
    return ToolSession(
        id=row.id,
        tenant_id=row.tenant_id,
        tool_slug=row.tool_slug,
        title=row.title,
        created_by=row.created_by,
        created_at=row.created_at,
        status=row.status,
        entity_ids=tuple(load(row.entity_ids)),
        config=load(row.config),
        revision=row.revision,
        share_id=row.share_id,
        share_digest=row.share_digest,
        share_expires_at=row.share_expires_at,
    )


def _submission(row: Row[Any]) -> ToolSessionSubmission:
    return ToolSessionSubmission(
        id=row.id,
        session_id=row.session_id,
        user_id=row.user_id,
        user_display_name=row.user_display_name,
        input=load(row.input),
        output=load(row.output),
        call_id=row.call_id,
        created_at=row.created_at,
    )
