"""Tables: one schema for SQLite and PostgreSQL. Importing this package registers every table.

Every table with a `tenant_id` belongs to tenants: a connection sees the rows of one of them. Times are
seconds since 1970. JSON is text that we write ourselves, so both databases hold the same bytes; a column
`sealed` is encrypted (see `store.encryption`).
"""

from __future__ import annotations

from handrail.store.tables import calls, catalogue, event_log, identity, operations
from handrail.store.tables.columns import metadata

TABLES_WITHOUT_TENANT = frozenset({"tenants", "users", "leases", "settings", "sign_in_attempts", "writers"})
"""Tables that belong to no tenant."""
TABLES_WITH_COMMON_ROWS = frozenset({"tools", "tool_change_counts", "roles", "mcp_pins"})
"""Tables whose rows under DEFAULT_TENANT_ID every tenant may read."""

__all__ = [
    "TABLES_WITHOUT_TENANT",
    "TABLES_WITH_COMMON_ROWS",
    "calls",
    "catalogue",
    "event_log",
    "identity",
    "metadata",
    "operations",
]
