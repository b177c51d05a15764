"""Shapes of what is shared: tool sessions, their submissions, and embeds."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel


class ToolSessionLine(BaseModel):
    id: str
    tenant_id: str
    tool_slug: str
    title: str
    status: Literal["active", "completed", "cancelled"]
    entity_ids: list[str]
    config: dict[str, Any]
    created_by: str
    created_at: float
    revision: int
    share_expires_at: float | None


class ToolSessionPage(BaseModel):
    tool_sessions: list[ToolSessionLine]
    next: str | None


class SharedToolSession(ToolSessionLine):
    share_token: str
    """Shown here and never again."""
    share_url: str


class SubmissionLine(BaseModel):
    id: str
    session_id: str
    user_id: str
    user_display_name: str | None
    input: Any
    output: Any
    call_id: str
    created_at: float


class SubmissionList(BaseModel):
    submissions: list[SubmissionLine]


class AggregateTold(BaseModel):
    aggregate: Any
    """What the tool makes of all outputs; null while there are none, or where it makes nothing of them."""
    error: str | None
    of: int


class ToolSessionExport(BaseModel):
    session: ToolSessionLine
    submissions: list[SubmissionLine]
    aggregate: Any


class EmbedLine(BaseModel):
    id: str
    title: str
    tools: list[str]
    origins: list[str]
    runs_per_day: int
    runs_per_visitor: int
    enabled: bool
    created_by: str
    created_at: float
    expires_at: float | None
    revoked_at: float | None


class EmbedList(BaseModel):
    embeds: list[EmbedLine]


class EmbedWhole(EmbedLine):
    token: str
    url: str
    runs_today: int
