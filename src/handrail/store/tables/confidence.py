"""Confidence: what tools are told in confidence, and what they cost."""

from __future__ import annotations

from sqlalchemy import BigInteger, Double, PrimaryKeyConstraint, Table

from handrail.store.tables.columns import may, metadata, must

secrets = Table(
    "secrets",
    metadata,
    must("tenant_id"),
    must("user_id"),
    must("name"),
    must("sealed"),
    must("updated_at", Double),
    may("updated_by"),
    PrimaryKeyConstraint("tenant_id", "user_id", "name"),
)
"""A user_id of '' is the tenant's own."""

usage = Table(
    "usage",
    metadata,
    must("tenant_id"),
    must("day"),
    must("tool"),
    must("user_id"),
    must("agent"),
    must("source"),
    must("measure"),
    must("amount", BigInteger),
    PrimaryKeyConstraint("tenant_id", "day", "tool", "user_id", "agent", "source", "measure"),
)
"""One row a measure, so that adding to it is one statement however many processes count."""
