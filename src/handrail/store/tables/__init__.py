"""Tables: everything that is kept, one schema for SQLite and PostgreSQL.

Every table with a `tenant_id` belongs to tenants: a connection sees the rows of one of them. Times are
seconds since 1970. What is JSON is text that we write ourselves, so both databases hold the same bytes;
what is `sealed` can be read only with the key.
"""

from __future__ import annotations

from handrail.store.tables.catalogue import mcp_pins, schema_contents, schema_versions, tool_views, tools
from handrail.store.tables.columns import metadata
from handrail.store.tables.confidence import secrets, usage
from handrail.store.tables.housekeeping import leases, settings, writers
from handrail.store.tables.keepsakes import favourites, saved_inputs
from handrail.store.tables.people import (
    api_keys,
    arrivals,
    ended_sessions,
    memberships,
    roles,
    sign_in_attempts,
    sign_in_links,
    tenants,
    users,
)
from handrail.store.tables.record import blobs, event_heads, open_runs, session_events, sessions
from handrail.store.tables.shared import embed_runs, embeds, tool_sessions, tool_submissions
from handrail.store.tables.waiting import (
    approval_votes,
    approvals,
    call_keys,
    dead_letters,
    letter_replays,
    planned_calls,
    standing,
)
from handrail.store.tables.work import job_parents, jobs, schedules

SHARED = frozenset({"tenants", "users", "leases", "settings", "sign_in_attempts", "writers"})
"""Tables that belong to no tenant."""
OPEN_TO_ALL = frozenset({"tools", "tool_views", "roles", "mcp_pins"})
"""Tables whose rows under DEFAULT_TENANT_ID every tenant may read."""

__all__ = [
    "OPEN_TO_ALL",
    "SHARED",
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
