"""Tables: everything that is kept, one schema for SQLite and PostgreSQL.

Every table with a `tenant_id` belongs to tenants: a connection sees the rows of one of them. Times are
seconds since 1970. What is JSON is text that we write ourselves, so both databases hold the same bytes;
what is `sealed` can be read only with the key.
"""

from __future__ import annotations

from handrail.store.tables.calls import (
    approval_votes,
    approvals,
    call_keys,
    dead_letters,
    job_parents,
    jobs,
    letter_replays,
    planned_calls,
    schedules,
    standing,
)
from handrail.store.tables.catalogue import (
    embed_runs,
    embeds,
    mcp_pins,
    schema_contents,
    schema_versions,
    tool_sessions,
    tool_submissions,
    tool_views,
    tools,
)
from handrail.store.tables.columns import metadata
from handrail.store.tables.event_log import blobs, event_heads, open_runs, session_events, sessions
from handrail.store.tables.identity import (
    api_keys,
    arrivals,
    ended_sessions,
    favourites,
    memberships,
    roles,
    saved_inputs,
    sign_in_attempts,
    sign_in_links,
    tenants,
    users,
)
from handrail.store.tables.operations import leases, secrets, settings, usage, writers

TABLES_WITHOUT_TENANT = frozenset({"tenants", "users", "leases", "settings", "sign_in_attempts", "writers"})
"""Tables that belong to no tenant."""
TABLES_WITH_COMMON_ROWS = frozenset({"tools", "tool_views", "roles", "mcp_pins"})
"""Tables whose rows under DEFAULT_TENANT_ID every tenant may read."""

__all__ = [
    "TABLES_WITH_COMMON_ROWS",
    "TABLES_WITHOUT_TENANT",
    "api_keys",
    "approval_votes",
    "approvals",
    "arrivals",
    "blobs",
    "call_keys",
    "dead_letters",
    "embed_runs",
    "embeds",
    "ended_sessions",
    "event_heads",
    "favourites",
    "job_parents",
    "jobs",
    "leases",
    "letter_replays",
    "mcp_pins",
    "memberships",
    "metadata",
    "open_runs",
    "planned_calls",
    "roles",
    "saved_inputs",
    "schedules",
    "schema_contents",
    "schema_versions",
    "secrets",
    "session_events",
    "sessions",
    "settings",
    "sign_in_attempts",
    "sign_in_links",
    "standing",
    "tenants",
    "tool_sessions",
    "tool_submissions",
    "tool_views",
    "tools",
    "usage",
    "users",
    "writers",
]
