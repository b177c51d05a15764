"""Tenants, users, their roles, keys, sign-ins and preferences."""

from __future__ import annotations

from sqlalchemy import ForeignKeyConstraint, Index, UniqueConstraint

from handrail.store.tables.columns import double, integer, table, text

tenants = table("tenants", ["id"], *text("id", "name"), *double("created_at"))

users = table(
    "users",
    ["id"],
    *text("id", "email", "name"),
    *text("password_hash", "theme", nullable=True),
    *integer("sign_in_epoch", default="0"),
    *double("created_at"),
    *double("disabled_at", nullable=True),
    UniqueConstraint("email"),
)
"""People, who may belong to several tenants. Nobody sees this table but through memberships."""

memberships = table(
    "memberships",
    ["tenant_id", "user_id", "role"],
    *text("tenant_id", "user_id", "role"),
    *double("created_at"),
    ForeignKeyConstraint(["user_id"], ["users.id"]),
)

roles = table(
    "roles", ["tenant_id", "name"], *text("tenant_id", "name", "permissions"), *double("updated_at")
)

api_keys = table(
    "api_keys",
    ["tenant_id", "id"],
    *text("tenant_id", "id", "name", "kind", "digest"),
    *text("user_id", "agent", nullable=True),
    *text("permissions", "scopes"),
    *double("created_at"),
    *text("created_by"),
    *double("expires_at", "revoked_at", "last_used_at", nullable=True),
)

sign_in_links = table(
    "sign_in_links",
    ["tenant_id", "id"],
    *text("tenant_id", "id", "user_id", "digest"),
    *double("created_at", "expires_at"),
    *double("used_at", nullable=True),
)
"""Each works once. Only the digest of a link is stored."""

sign_in_attempts = table(
    "sign_in_attempts", ["counter"], *text("counter"), *integer("failures"), *double("window_started_at")
)
"""Failed passwords of one e-mail address, or from one network address. Of no tenant: there is none yet."""
Index(None, sign_in_attempts.c.window_started_at)

last_sign_ins = table(
    "last_sign_ins",
    ["tenant_id", "user_id"],
    *text("tenant_id", "user_id"),
    *double("signed_in_at"),
    Index(None, "user_id"),
)
"""When a person last signed in to a tenant."""

revoked_sessions = table(
    "revoked_sessions", ["tenant_id", "digest"], *text("tenant_id", "digest"), *double("expires_at")
)
"""Sessions that somebody signed out of before they expired."""


favourites = table(
    "favourites",
    ["tenant_id", "user_id", "tool"],
    *text("tenant_id", "user_id", "tool"),
    *double("created_at"),
)

saved_inputs = table(
    "saved_inputs",
    ["tenant_id", "user_id", "tool", "name"],
    *text("tenant_id", "user_id", "tool", "name", "sealed"),
    *double("updated_at"),
)
"""Arguments under a name, as they were typed; a tool's secrets are never among them."""
