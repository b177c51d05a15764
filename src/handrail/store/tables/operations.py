"""Secrets, usage, and what the processes of a database share: leases, settings, writers."""

from __future__ import annotations

from sqlalchemy import BigInteger, Double, PrimaryKeyConstraint, Table

from handrail.store.tables.columns import metadata, optional, required

secrets = Table(
    "secrets",
    metadata,
    required("tenant_id"),
    required("user_id"),
    required("name"),
    required("sealed"),
    required("updated_at", Double),
    optional("updated_by"),
    PrimaryKeyConstraint("tenant_id", "user_id", "name"),
)
"""A user_id of '' is the tenant's own."""

usage = Table(
    "usage",
    metadata,
    required("tenant_id"),
    required("day"),
    required("tool"),
    required("user_id"),
    required("agent"),
    required("source"),
    required("measure"),
    required("amount", BigInteger),
    PrimaryKeyConstraint("tenant_id", "day", "tool", "user_id", "agent", "source", "measure"),
)
"""One row a measure, so that adding to it is one statement however many processes count."""


leases = Table(
    "leases",
    metadata,
    required("name", primary_key=True),
    required("holder"),
    required("host"),
    required("pid", BigInteger),
    required("role"),
    required("expires_at", Double),
)
"""Who is alive: of no tenant."""

settings = Table(
    "settings",
    metadata,
    required("name", primary_key=True),
    required("value"),
)
"""Facts about this database, such as which key seals it: of no tenant."""

writers = Table(
    "writers",
    metadata,
    required("holder", primary_key=True),
    required("last_group", BigInteger),
)
"""The last group that each writer committed, so that one which lost its connection knows: of no tenant."""
