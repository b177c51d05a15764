"""Housekeeping: facts about the database and the processes that have it open. Of no tenant."""

from __future__ import annotations

from sqlalchemy import BigInteger, Double, Table

from handrail.store.tables.columns import metadata, must

leases = Table(
    "leases",
    metadata,
    must("name", primary_key=True),
    must("holder"),
    must("host"),
    must("pid", BigInteger),
    must("role"),
    must("expires_at", Double),
)
"""Who is alive: of no tenant."""

settings = Table(
    "settings",
    metadata,
    must("name", primary_key=True),
    must("value"),
)
"""Facts about this database, such as which key seals it: of no tenant."""

writers = Table(
    "writers",
    metadata,
    must("holder", primary_key=True),
    must("last_group", BigInteger),
)
"""The last group that each writer committed, so that one which lost its connection knows: of no tenant."""
