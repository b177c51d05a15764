"""Shared: what several people fill in together, and what is published for everybody."""

from __future__ import annotations

from sqlalchemy import Boolean, Double, Index, Integer, PrimaryKeyConstraint, Table

from handrail.store.tables.columns import may, metadata, must

tool_sessions = Table(
    "tool_sessions",
    metadata,
    must("tenant_id"),
    must("id"),
    must("tool_slug"),
    must("title"),
    must("status"),
    must("entity_ids"),
    must("config"),
    must("created_by"),
    must("created_at", Double),
    must("revision", Integer),
    may("share_id"),
    may("share_digest"),
    may("share_expires_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index(None, "tenant_id", "created_at", "id"),
    Index(None, "tenant_id", "tool_slug", "created_at", "id"),
    Index(None, "tenant_id", "share_id"),
)
"""The share link itself is nowhere. A higher revision says that something is new: a submission, an end."""

tool_submissions = Table(
    "tool_submissions",
    metadata,
    must("tenant_id"),
    must("session_id"),
    must("user_id"),
    must("id"),
    may("user_display_name"),
    must("input"),
    must("output"),
    must("call_id"),
    must("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "session_id", "user_id"),
)
"""One a participant: who submits again replaces what they had. The event log has every one."""

embeds = Table(
    "embeds",
    metadata,
    must("tenant_id"),
    must("id"),
    must("title"),
    must("digest"),
    must("sealed"),
    must("tools"),
    must("origins"),
    must("runs_per_day", Integer),
    must("runs_per_visitor", Integer),
    must("enabled", Boolean),
    must("created_by"),
    must("created_at", Double),
    may("expires_at", Double),
    may("revoked_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
)

embed_runs = Table(
    "embed_runs",
    metadata,
    must("tenant_id"),
    must("embed_id"),
    must("day"),
    must("visitor"),
    must("runs", Integer),
    PrimaryKeyConstraint("tenant_id", "embed_id", "day", "visitor"),
)
"""How often an embed, or a share link, was used on a day. A visitor of '' is everybody together."""
