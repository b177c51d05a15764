"""Catalogue: which tools a tenant has, and how their schemas changed."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Double, Integer, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import may, metadata, must

tools = Table(
    "tools",
    metadata,
    must("tenant_id"),
    must("slug"),
    must("kind"),
    must("enabled", Boolean, server_default=text("true")),
    may("permission_policy"),
    may("name"),
    may("description"),
    may("category"),
    may("icon"),
    may("level"),
    may("danger"),
    may("requires"),
    may("input_schema"),
    may("output_schema"),
    may("execution"),
    may("updated_at", Double),
    may("updated_by"),
    PrimaryKeyConstraint("tenant_id", "slug", "kind"),
)

tool_views = Table(
    "tool_views",
    metadata,
    must("tenant_id", primary_key=True),
    must("version", BigInteger),
)
"""Raised with every change of a tenant's tools, so that whoever remembers them knows when to look again."""

mcp_pins = Table(
    "mcp_pins",
    metadata,
    must("tenant_id"),
    must("server"),
    must("tool"),
    may("accepted"),
    may("held"),
    may("accepted_at", Double),
    may("accepted_by"),
    PrimaryKeyConstraint("tenant_id", "server", "tool"),
)
"""What was accepted of a foreign tool, and what its server says now where that is something else."""

schema_contents = Table(
    "schema_contents",
    metadata,
    must("tenant_id"),
    must("hash"),
    must("content"),
    PrimaryKeyConstraint("tenant_id", "hash"),
)

schema_versions = Table(
    "schema_versions",
    metadata,
    must("tenant_id"),
    must("subject_type"),
    must("subject"),
    must("number", Integer),
    must("hash"),
    must("saved_at", Double),
    may("saved_by"),
    may("note"),
    PrimaryKeyConstraint("tenant_id", "subject_type", "subject", "number"),
)
