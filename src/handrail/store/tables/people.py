"""People: tenants, those who belong to them, their keys, and how they come in."""

from __future__ import annotations

from sqlalchemy import Double, ForeignKeyConstraint, Index, Integer, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import may, metadata, must

tenants = Table(
    "tenants",
    metadata,
    must("id", primary_key=True),
    must("name"),
    must("created_at", Double),
)

users = Table(
    "users",
    metadata,
    must("id", primary_key=True),
    must("email", unique=True),
    must("name"),
    may("password_hash"),
    may("theme"),
    must("sign_in_epoch", Integer, server_default=text("0")),
    must("created_at", Double),
    may("disabled_at", Double),
)
"""People, who may belong to several tenants. Nobody sees this table but through memberships."""

memberships = Table(
    "memberships",
    metadata,
    must("tenant_id"),
    must("user_id"),
    must("role"),
    must("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "role"),
    ForeignKeyConstraint(["user_id"], ["users.id"]),
)

roles = Table(
    "roles",
    metadata,
    must("tenant_id"),
    must("name"),
    must("permissions"),
    must("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "name"),
)

api_keys = Table(
    "api_keys",
    metadata,
    must("tenant_id"),
    must("id"),
    must("name"),
    must("kind"),
    must("digest"),
    may("user_id"),
    may("agent"),
    must("permissions"),
    must("scopes"),
    must("created_at", Double),
    must("created_by"),
    may("expires_at", Double),
    may("revoked_at", Double),
    may("last_used_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
)

sign_in_links = Table(
    "sign_in_links",
    metadata,
    must("tenant_id"),
    must("id"),
    must("user_id"),
    must("digest"),
    must("created_at", Double),
    must("expires_at", Double),
    may("used_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
)
"""Each opens the door once. The link itself is nowhere."""

sign_in_attempts = Table(
    "sign_in_attempts",
    metadata,
    must("name", primary_key=True),
    must("wrong", Integer),
    must("since", Double),
)
"""How often a password was tried for one address, or from one place. Of no tenant: there is none yet."""
Index(None, sign_in_attempts.c.since)

arrivals = Table(
    "arrivals",
    metadata,
    must("tenant_id"),
    must("user_id"),
    must("at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id"),
    Index(None, "user_id"),
)
"""When a person last came to a tenant."""

ended_sessions = Table(
    "ended_sessions",
    metadata,
    must("tenant_id"),
    must("digest"),
    must("expires_at", Double),
    PrimaryKeyConstraint("tenant_id", "digest"),
)
"""Sessions that somebody signed out of before they were over."""
