"""Secrets, usage, and what the processes of a database share: leases, settings, writers."""

from __future__ import annotations

from sqlalchemy import PrimaryKeyConstraint, Table

from handrail.store.tables.columns import big_integer, double, metadata, text

secrets = Table(
    "secrets",
    metadata,
    *text("tenant_id", "user_id", "name", "sealed"),
    *double("updated_at"),
    *text("updated_by", nullable=True),
    PrimaryKeyConstraint("tenant_id", "user_id", "name"),
)
"""A user_id of '' is the tenant's own."""

usage = Table(
    "usage",
    metadata,
    *text("tenant_id", "day", "tool", "user_id", "agent", "source", "measure"),
    *big_integer("amount"),
    PrimaryKeyConstraint("tenant_id", "day", "tool", "user_id", "agent", "source", "measure"),
)
"""One row a measure, so that adding to it is one statement however many processes count."""


leases = Table(
    "leases",
    metadata,
    *text("name", "holder", "host"),
    *big_integer("pid"),
    *text("role"),
    *double("expires_at"),
    PrimaryKeyConstraint("name"),
)
"""Who is alive: of no tenant."""

settings = Table(
    "settings",
    metadata,
    *text("name", "value"),
    PrimaryKeyConstraint("name"),
)
"""Facts about this database, such as which key seals it: of no tenant."""

writers = Table(
    "writers",
    metadata,
    *text("holder"),
    *big_integer("last_group"),
    PrimaryKeyConstraint("holder"),
)
"""The last group that each writer committed, so that one which lost its connection knows: of no tenant."""
