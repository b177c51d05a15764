"""Tenants, users, their roles, keys, sign-ins and preferences."""

from __future__ import annotations

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, UniqueConstraint

from handrail.store.tables.columns import double, integer, metadata, text

tenants = Table(
    "tenants",
    metadata,
    *text("id", "name"),
    *double("created_at"),
    PrimaryKeyConstraint("id"),
)

users = Table(
    "users",
    metadata,
    *text("id", "email", "name"),
    *text("password_hash", "theme", nullable=True),
    *integer("sign_in_epoch", default="0"),
    *double("created_at"),
    *double("disabled_at", nullable=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("email"),
)
"""People, who may belong to several tenants. Nobody sees this table but through memberships."""

memberships = Table(
    "memberships",
    metadata,
    *text("tenant_id", "user_id", "role"),
    *double("created_at"),
    PrimaryKeyConstraint("tenant_id", "user_id", "role"),
    ForeignKeyConstraint(["user_id"], ["users.id"]),
)

roles = Table(
    "roles",
    metadata,
    *text("tenant_id", "name", "permissions"),
    *double("updated_at"),
    PrimaryKeyConstraint("tenant_id", "name"),
)

api_keys = Table(
    "api_keys",
    metadata,
    *text("tenant_id", "id", "name", "kind", "digest"),
    *text("user_id", "agent", nullable=True),
    *text("permissions", "scopes"),
    *double("created_at"),
    *text("created_by"),
    *double("expires_at", "revoked_at", "last_used_at", nullable=True),
    PrimaryKeyConstraint("tenant_id", "id"),
)

sign_in_links = Table(
    "sign_in_links",
    metadata,
    *text("tenant_id", "id", "user_id", "digest"),
    *double("created_at", "expires_at"),
    *double("used_at", nullable=True),
    PrimaryKeyConstraint("tenant_id", "id"),
)
"""Each works once. Only the digest of a link is stored."""

sign_in_attempts = Table(
    "sign_in_attempts",
    metadata,
    *text("counter"),
    *integer("failures"),
    *double("window_started_at"),
    PrimaryKeyConstraint("counter"),
)
"""Failed passwords of one e-mail address, or from one network address. Of no tenant: there is none yet."""
Index(None, sign_in_attempts.c.window_started_at)

last_sign_ins = Table(
    "last_sign_ins",
    metadata,
    *text("tenant_id", "user_id"),
    *double("signed_in_at"),
    PrimaryKeyConstraint("tenant_id", "user_id"),
    Index(None, "user_id"),
)
"""When a person last signed in to a tenant."""

revoked_sessions = Table(
    "revoked_sessions",
    metadata,
    *text("tenant_id", "digest"),
    *double("expires_at"),
    PrimaryKeyConstraint("tenant_id", "digest"),
)
"""Sessions that somebody signed out of before they expired."""


favourites = Table(
    "favourites",
    metadata,
    *text("tenant_id", "user_id", "tool"),
    *double("created_at"),
    PrimaryKeyConstraint("tenant_id", "user_id", "tool"),
)

saved_inputs = Table(
    "saved_inputs",
    metadata,
    *text("tenant_id", "user_id", "tool", "name", "sealed"),
    *double("updated_at"),
    PrimaryKeyConstraint("tenant_id", "user_id", "tool", "name"),
)
"""Arguments under a name, as they were typed; a tool's secrets are never among them."""
