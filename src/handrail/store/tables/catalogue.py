"""Which tools a tenant has, their versions, shared tool sessions and embeds."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Double, Index, Integer, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import metadata, optional, required

tools = Table(
    "tools",
    metadata,
    required("tenant_id"),
    required("slug"),
    required("kind"),
    required("enabled", Boolean, server_default=text("true")),
    optional("permission_policy"),
    optional("name"),
    optional("description"),
    optional("category"),
    optional("icon"),
    optional("level"),
    optional("danger"),
    optional("requires"),
    optional("input_schema"),
    optional("output_schema"),
    optional("execution"),
    optional("updated_at", Double),
    optional("updated_by"),
    PrimaryKeyConstraint("tenant_id", "slug", "kind"),
)

tool_views = Table(
    "tool_views",
    metadata,
    required("tenant_id", primary_key=True),
    required("version", BigInteger),
)
"""Raised with every change of a tenant's tools, so that whoever remembers them knows when to look again."""

mcp_pins = Table(
    "mcp_pins",
    metadata,
    required("tenant_id"),
    required("server"),
    required("tool"),
    optional("accepted"),
    optional("held"),
    optional("accepted_at", Double),
    optional("accepted_by"),
    PrimaryKeyConstraint("tenant_id", "server", "tool"),
)
"""What was accepted of a foreign tool, and what its server says now where that is something else."""

schema_contents = Table(
    "schema_contents",
    metadata,
    required("tenant_id"),
    required("hash"),
    required("content"),
    PrimaryKeyConstraint("tenant_id", "hash"),
)

schema_versions = Table(
    "schema_versions",
    metadata,
    required("tenant_id"),
    required("subject_type"),
    required("subject"),
    required("number", Integer),
    required("hash"),
    required("saved_at", Double),
    optional("saved_by"),
    optional("note"),
    PrimaryKeyConstraint("tenant_id", "subject_type", "subject", "number"),
)


tool_sessions = Table(
    "tool_sessions",
    metadata,
    required("tenant_id"),
    required("id"),
    required("tool_slug"),
    required("title"),
    required("status"),
    required("entity_ids"),
    required("config"),
    required("created_by"),
    required("created_at", Double),
    required("revision", Integer),
    optional("share_id"),
    optional("share_digest"),
    optional("share_expires_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
    Index(None, "tenant_id", "created_at", "id"),
    Index(None, "tenant_id", "tool_slug", "created_at", "id"),
    Index(None, "tenant_id", "share_id"),
)
"""The share link itself is nowhere. A higher revision says that something is new: a submission, an end."""

tool_submissions = Table(
    "tool_submissions",
    metadata,
    required("tenant_id"),
    required("session_id"),
    required("user_id"),
    required("id"),
    optional("user_display_name"),
    required("input"),
    required("output"),
    required("call_id"),
    required("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "session_id", "user_id"),
)
"""One a participant: who submits again replaces what they had. The event log has every one."""

embeds = Table(
    "embeds",
    metadata,
    required("tenant_id"),
    required("id"),
    required("title"),
    required("digest"),
    required("sealed"),
    required("tools"),
    required("origins"),
    required("runs_per_day", Integer),
    required("runs_per_visitor", Integer),
    required("enabled", Boolean),
    required("created_by"),
    required("created_at", Double),
    optional("expires_at", Double),
    optional("revoked_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
)

embed_runs = Table(
    "embed_runs",
    metadata,
    required("tenant_id"),
    required("embed_id"),
    required("day"),
    required("visitor"),
    required("runs", Integer),
    PrimaryKeyConstraint("tenant_id", "embed_id", "day", "visitor"),
)
"""How often an embed, or a share link, was used on a day. A visitor of '' is everybody together."""
