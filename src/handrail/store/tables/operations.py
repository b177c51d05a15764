"""Secrets, usage, and what the processes of a database share: leases, settings, writers."""

from __future__ import annotations

from handrail.store.tables.columns import big_integer, double, table, text

secrets = table(
    "secrets",
    ["tenant_id", "user_id", "name"],
    *text("tenant_id", "user_id", "name", "sealed"),
    *double("updated_at"),
    *text("updated_by", nullable=True),
)
"""A user_id of '' is the tenant's own."""

usage = table(
    "usage",
    ["tenant_id", "day", "tool", "user_id", "agent", "source", "measure"],
    *text("tenant_id", "day", "tool", "user_id", "agent", "source", "measure"),
    *big_integer("amount"),
)
"""One row a measure, so that adding to it is one statement however many processes count."""


leases = table(
    "leases",
    ["name"],
    *text("name", "holder", "host"),
    *big_integer("pid"),
    *text("role"),
    *double("expires_at"),
)
"""Who is alive: of no tenant."""

settings = table("settings", ["name"], *text("name", "value"))
"""Facts about this database, such as which key seals it: of no tenant."""

writers = table("writers", ["holder"], *text("holder"), *big_integer("last_group"))
"""The last group that each writer committed, so that one which lost its connection knows: of no tenant."""
