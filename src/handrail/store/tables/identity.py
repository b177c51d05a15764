"""Tenants, users, their roles, keys, sign-ins and preferences."""

from __future__ import annotations

from sqlalchemy import Double, ForeignKeyConstraint, Index, Integer, PrimaryKeyConstraint, Table, text

from handrail.store.tables.columns import metadata, optional, required

tenants = Table(
    "tenants",
    metadata,
    required("id", primary_key=True),
    required("name"),
    required("created_at", Double),
)

users = Table(
    "users",
    metadata,
    required("id", primary_key=True),
    required("email", unique=True),
    required("name"),
    optional("password_hash"),
    optional("theme"),
    required("sign_in_epoch", Integer, server_default=text("0")),
    required("created_at", Double),
    optional("disabled_at", Double),
)
"""People, who may belong to several tenants. Nobody sees this table but through memberships."""

memberships = Table(
    "memberships",
    metadata,
    required("tenant_id"),
    required("user_id"),
    required("role"),
    required("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "role"),
    ForeignKeyConstraint(["user_id"], ["users.id"]),
)

roles = Table(
    "roles",
    metadata,
    required("tenant_id"),
    required("name"),
    required("permissions"),
    required("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "name"),
)

api_keys = Table(
    "api_keys",
    metadata,
    required("tenant_id"),
    required("id"),
    required("name"),
    required("kind"),
    required("digest"),
    optional("user_id"),
    optional("agent"),
    required("permissions"),
    required("scopes"),
    required("created_at", Double),
    required("created_by"),
    optional("expires_at", Double),
    optional("revoked_at", Double),
    optional("last_used_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
)

sign_in_links = Table(
    "sign_in_links",
    metadata,
    required("tenant_id"),
    required("id"),
    required("user_id"),
    required("digest"),
    required("created_at", Double),
    required("expires_at", Double),
    optional("used_at", Double),
    PrimaryKeyConstraint("tenant_id", "id"),
)
"""Each opens the door once. The link itself is nowhere."""

sign_in_attempts = Table(
    "sign_in_attempts",
    metadata,
    required("name", primary_key=True),
    required("wrong", Integer),
    required("since", Double),
)
"""How often a password was tried for one address, or from one place. Of no tenant: there is none yet."""
Index(None, sign_in_attempts.c.since)

arrivals = Table(
    "arrivals",
    metadata,
    required("tenant_id"),
    required("user_id"),
    required("at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id"),
    Index(None, "user_id"),
)
"""When a person last came to a tenant."""

ended_sessions = Table(
    "ended_sessions",
    metadata,
    required("tenant_id"),
    required("digest"),
    required("expires_at", Double),
    PrimaryKeyConstraint("tenant_id", "digest"),
)
"""Sessions that somebody signed out of before they were over."""


favourites = Table(
    "favourites",
    metadata,
    required("tenant_id"),
    required("user_id"),
    required("tool"),
    required("created_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "tool"),
)

saved_inputs = Table(
    "saved_inputs",
    metadata,
    required("tenant_id"),
    required("user_id"),
    required("tool"),
    required("name"),
    required("sealed"),
    required("updated_at", Double),
    PrimaryKeyConstraint("tenant_id", "user_id", "tool", "name"),
)
"""Arguments under a name, as they were typed; a tool's secrets are never among them."""
