"""Tool sessions as rows: what several people fill in together, and what each of them submitted."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, or_, select, update

from handrail.store.codec import dump, load
from handrail.store.statements import matching, upsert
from handrail.store.tables.catalogue import tool_sessions, tool_submissions

SessionStatus = Literal["active", "completed", "cancelled"]
ToolSessionCursor = tuple[float, str]
"""Where a page of a list ends: when a session was created, and its id."""
_JSON_FIELDS = (
    *("id", "tenant_id", "tool_slug", "title", "status", "entity_ids", "config"),
    *("created_by", "created_at", "revision", "share_expires_at"),
)


@dataclass(frozen=True, slots=True)
class ToolSession:
    """A tool that several people fill in, each for themselves; the results are shown together."""

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
        """Whether there is a valid link by which guests join."""
        until = self.share_expires_at
        return self.share_id is not None and until is not None and now < until

    def to_dict(self) -> dict[str, Any]:
        """The session as JSON data, without the digest."""
        return {name: getattr(self, name) for name in _JSON_FIELDS} | {"entity_ids": list(self.entity_ids)}


@dataclass(frozen=True, slots=True)
class ToolSessionSubmission:
    """The input of one participant, and the output of the tool."""

    id: str
    session_id: str
    user_id: str
    user_display_name: str | None
    input: Any
    output: Any
    call_id: str
    created_at: float

    def to_dict(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def add_tool_session(conn: Connection, tenant: str, session: ToolSession) -> None:
    texts = {"entity_ids": dump(list(session.entity_ids)), "config": dump(session.config)}
    conn.execute(insert(tool_sessions).values(session.to_dict() | texts | {"tenant_id": tenant}))


def get_tool_session(conn: Connection, tenant: str, tool_session: str) -> ToolSession | None:
    row = conn.execute(select(tool_sessions).where(_is(tenant, tool_session))).one_or_none()
    return None if row is None else _session(row)


def tool_session_of_share(conn: Connection, tenant: str, share: str) -> ToolSession | None:
    """The session that a share link is of."""
    query = select(tool_sessions).where(matching(tool_sessions, tenant_id=tenant, share_id=share))
    row = conn.execute(query).one_or_none()
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
    """The newest first, those after a cursor."""
    table = tool_sessions
    where = [table.c.tenant_id == tenant]
    if tool is not None:
        where.append(table.c.tool_slug == tool)
    if status is not None:
        where.append(table.c.status == status)
    if after is not None:
        at, id = after
        where.append(or_(table.c.created_at < at, and_(table.c.created_at == at, table.c.id < id)))
    order = (table.c.created_at.desc(), table.c.id.desc())
    return [_session(row) for row in conn.execute(select(table).where(*where).order_by(*order).limit(limit))]


def set_tool_session_status(
    conn: Connection, tenant: str, tool_session: str, *, was: tuple[SessionStatus, ...], status: SessionStatus
) -> bool:
    """Give a session another status, if it has one of these."""
    return _change(conn, tenant, tool_session, tool_sessions.c.status.in_(was), status=status)


def share_tool_session(
    conn: Connection,
    tenant: str,
    tool_session: str,
    *,
    share: str | None,
    digest: str | None,
    expires_at: float | None,
) -> bool:
    """Give a session another share link, or none: guests of the old one are out."""
    link = {"share_id": share, "share_digest": digest, "share_expires_at": expires_at}
    return _change(conn, tenant, tool_session, **link)


def put_submission(
    conn: Connection, tenant: str, submission: ToolSessionSubmission, *, most: int
) -> Literal["kept", "full"] | None:
    """Store what a participant submitted, replacing what they had; None when no session waits for it.

    The row of the session is changed first, so that nobody closes it meanwhile.
    """
    if not _change(conn, tenant, submission.session_id, tool_sessions.c.status == "active"):
        return None
    table = tool_submissions
    of_session = matching(table, tenant_id=tenant, session_id=submission.session_id)
    others = select(func.count()).where(of_session, table.c.user_id != submission.user_id)
    if conn.execute(others).scalar_one() >= most:
        return "full"
    texts = {"input": dump(submission.input), "output": dump(submission.output)}
    upsert(conn, table, submission.to_dict() | texts | {"tenant_id": tenant})
    return "kept"


def list_submissions(conn: Connection, tenant: str, tool_session: str) -> list[ToolSessionSubmission]:
    """All of a session, the oldest first; there are never more than `put_submission` lets in."""
    table = tool_submissions
    of_session = select(table).where(matching(table, tenant_id=tenant, session_id=tool_session))
    return [_submission(row) for row in conn.execute(of_session.order_by(table.c.created_at, table.c.id))]


def revision_of(conn: Connection, tenant: str, tool_session: str) -> int | None:
    """The revision of a session; None when there is none."""
    query = select(tool_sessions.c.revision).where(_is(tenant, tool_session))
    return conn.execute(query).scalar_one_or_none()


def _is(tenant: str, tool_session: str) -> ColumnElement[bool]:
    return matching(tool_sessions, tenant_id=tenant, id=tool_session)


def _change(
    conn: Connection, tenant: str, tool_session: str, *where: ColumnElement[bool], **values: Any
) -> bool:
    """Change a session that these conditions hold for, so that whoever follows it knows."""
    revision = tool_sessions.c.revision + 1
    change = update(tool_sessions).where(_is(tenant, tool_session), *where)
    return conn.execute(change.values(**values, revision=revision)).rowcount > 0


def _session(row: Row[Any]) -> ToolSession:
    values = {"entity_ids": tuple(load(row.entity_ids)), "config": load(row.config)}
    return ToolSession(**{**row._mapping, **values})


def _submission(row: Row[Any]) -> ToolSessionSubmission:
    values = {**row._mapping, "input": load(row.input), "output": load(row.output)}
    del values["tenant_id"]
    return ToolSessionSubmission(**values)
