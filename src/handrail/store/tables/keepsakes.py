"""Keepsakes: what a person keeps for themself in a tenant."""

from __future__ import annotations

from sqlalchemy import Double, PrimaryKeyConstraint, Table

from handrail.store.tables.columns import metadata, must

favourites = Table(
    "favourites",
    metadata,
    must("tenant_id"),
    must("user_id"),
    must("tool"),
    must("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "tool"),
)

saved_inputs = Table(
    "saved_inputs",
    metadata,
    must("tenant_id"),
    must("user_id"),
    must("tool"),
    must("name"),
    must("sealed"),
    must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "tool", "name"),
)
"""Arguments under a name, as they were typed; a tool's secrets are never among them."""
