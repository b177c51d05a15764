"""Which tools a tenant has, their versions, shared tool sessions and embeds."""

from __future__ import annotations

from sqlalchemy import Index

from handrail.store.tables.columns import big_integer, boolean, double, integer, table, text

tools = table(
    "tools",
    ["tenant_id", "slug", "kind"],
    *text("tenant_id", "slug", "kind"),
    *boolean("enabled", default="true"),
    *text("permission_policy", "name", "description", "category", "icon", "level", nullable=True),
    *text("danger", "requires", "input_schema", "output_schema", "execution", nullable=True),
    *double("updated_at", nullable=True),
    *text("updated_by", nullable=True),
)

tool_change_counts = table("tool_change_counts", ["tenant_id"], *text("tenant_id"), *big_integer("changes"))
"""Raised by a trigger with every change of a tenant's tools, so that caches know when to read again."""

mcp_pins = table(
    "mcp_pins",
    ["tenant_id", "server", "tool"],
    *text("tenant_id", "server", "tool"),
    *text("accepted_definition", "pending_definition", nullable=True),
    *double("accepted_at", nullable=True),
    *text("accepted_by", nullable=True),
)
"""What was accepted of a foreign tool, and what its server says now where that is something else."""

schema_contents = table("schema_contents", ["tenant_id", "hash"], *text("tenant_id", "hash", "content"))

schema_versions = table(
    "schema_versions",
    ["tenant_id", "subject_type", "subject", "number"],
    *text("tenant_id", "subject_type", "subject"),
    *integer("number"),
    *text("hash"),
    *double("saved_at"),
    *text("saved_by", "note", nullable=True),
)


tool_sessions = table(
    "tool_sessions",
    ["tenant_id", "id"],
    *text("tenant_id", "id", "tool_slug", "title", "status", "entity_ids", "config", "created_by"),
    *double("created_at"),
    *integer("revision"),
    *text("share_id", "share_digest", nullable=True),
    *double("share_expires_at", nullable=True),
    Index(None, "tenant_id", "created_at", "id"),
    Index(None, "tenant_id", "tool_slug", "created_at", "id"),
    Index(None, "tenant_id", "share_id"),
)
"""The share link itself is nowhere. A higher revision says that something is new: a submission, an end."""

tool_submissions = table(
    "tool_submissions",
    ["tenant_id", "session_id", "user_id"],
    *text("tenant_id", "session_id", "user_id", "id"),
    *text("user_display_name", nullable=True),
    *text("input", "output", "call_id"),
    *double("created_at"),
)
"""One a participant: who submits again replaces what they had. The event log has every one."""

embeds = table(
    "embeds",
    ["tenant_id", "id"],
    *text("tenant_id", "id", "title", "digest", "sealed", "tools", "origins"),
    *integer("runs_per_day", "runs_per_visitor"),
    *boolean("enabled"),
    *text("created_by"),
    *double("created_at"),
    *double("expires_at", "revoked_at", nullable=True),
)

embed_runs = table(
    "embed_runs",
    ["tenant_id", "embed_id", "day", "visitor"],
    *text("tenant_id", "embed_id", "day", "visitor"),
    *integer("runs"),
)
"""How often an embed, or a share link, was used on a day. A visitor of '' is everybody together."""
