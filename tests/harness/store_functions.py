"""Repository: every function of the store that handles a tenant's rows, and what to give each of them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import handrail.store
from handrail import Outcome, Result
from handrail.core.find.visibility import ToolRow
from handrail.core.guard.approval_request import approve
from handrail.core.run.jobs.job import JobEntry
from handrail.core.tell.log import EventFilter
from handrail.core.tell.runs import RunFilter
from handrail.store import tables
from handrail.store.dead_letters import to_row
from tests.harness.tenant_data import NOW, SEAL, TenantData

StoreFunction = Callable[..., Any]

SYSTEM_FUNCTIONS = frozenset(
    {
        "approvals.expire_due",
        "approvals.next_expiry",
        "approvals.pending_requests_of_call",
        "tenants.tenants_of_user",
        "tenants.last_tenant_of_user",
        "sign_ins.count_attempt",
        "sign_ins.clear_attempts",
        "sign_ins.undo_attempt",
        "encryption.known_key_ids",
        "events.queries.tenants_of_session",
        "encryption.verified_seal",
        "encryption.retire_key",
        "events.queries.tenants_with_events",
        "job_graph.stranded_jobs",
        "jobs.blocked_jobs",
        "jobs.overdue_jobs",
        "jobs.jobs_of_dead_holders",
        "jobs.ended_calls",
        "jobs.tenants_of_call",
        "jobs.jobs_to_cancel",
        "idempotency.delete_old_keys",
        "leases.dead_holders",
        "leases.end_lease",
        "leases.list_leases",
        "leases.is_alive",
        "leases.is_dead",
        "leases.renew_lease",
        "leases.delete_old_leases",
        "leases.database_time",
        "open_runs.orphaned_runs",
        "schedules.due_schedules",
        "tenants.list_tenants",
        "users.add_user",
        "users.disable_user",
        "users.password_hash_by_email",
        "users.rehash_password",
        "users.user_by_email",
    }
)
"""Of no tenant: for connections that look after the whole platform. A tenant's request never calls them."""
INTERNAL_FUNCTIONS = frozenset(
    {
        "events.append.append",  # each row names its tenant
        "events.notifications.notify_sessions",  # says that something happened, not what
        "events.queries.fetch_events",  # runs the query that it is given
        "events.queries.with_payloads",
        "engines.enter_tenant",
        "engines.enter_system",
        "tools.list_common_tool_rows",  # for everybody
        "statements.advisory_lock",
        "statements.dialect_insert",
        "statements.insert_if_absent",
        "statements.upsert",
    }
)
"""Used by the functions of the store; none of them chooses whose rows it touches."""


def store_functions() -> dict[str, StoreFunction]:
    """Every public function of the store that is given a connection, by module and name."""
    found: dict[str, StoreFunction] = {}
    for module in pkgutil.walk_packages(handrail.store.__path__, "handrail.store."):
        if ".migrations" in module.name:
            continue
        loaded = importlib.import_module(module.name)
        for name, one in vars(loaded).items():
            if inspect.isfunction(one) and one.__module__ == module.name and not name.startswith("_"):
                takes = list(inspect.signature(one).parameters.values())
                if takes and "Connection" in str(takes[0].annotation):
                    found[f"{module.name.removeprefix('handrail.store.')}.{name}"] = one
    return found


FUNCTIONS = {
    name: one for name, one in store_functions().items() if name not in SYSTEM_FUNCTIONS | INTERNAL_FUNCTIONS
}
TABLES = sorted(set(tables.metadata.tables) - {"leases", "settings", "writers"})
"""All but those that say nothing of any tenant."""


def _just(value: Any) -> Callable[[TenantData], Any]:
    return lambda one: value


CREATING_FUNCTIONS = frozenset(
    {
        "api_keys.add_key",
        "approvals.add_request",
        "tenants.record_sign_in",
        "blobs.put",
        "sign_ins.revoke_session",
        "embeds.add_embed",
        "embeds.count_embed_run",
        "embeds.count_guest_run",
        "jobs.add_graph",
        "jobs.add_job",
        "preferences.add_favourite",
        "preferences.save_input",
        "idempotency.claim_key",
        "sign_ins.add_sign_in_link",
        "dead_letters.add_dead_letter",
        "pins.record_pin_changes",
        "plans.add_planned",
        "users.save_role",
        "schedules.put_schedule",
        "secrets.set_secret",
        "approvals.add_standing_approval",
        "tenants.create_tenant",
        "tool_sessions.add_tool_session",
        "tools.save_tool_row",
        "usage.add_usage",
        "users.add_roles",
        "versions.save_version",
    }
)
"""Makes something new for the tenant that it is given, whatever others have."""

_USUAL: dict[str, Callable[[TenantData], Any]] = {
    "tenant": lambda one: one.tenant,
    "approval_id": _just("approval_1"),
    "call_id": _just("call_1"),
    "call_ids": _just(["call_1", "call_2", "call_3"]),
    "link": _just("link_1"),
    "expires_at": _just(NOW + 99_999),
    "letter_id": _just("letter_1"),
    "letter_ids": _just(["letter_1"]),
    "run_id": _just("run_1"),
    "session": _just("s1"),
    "seal": _just(SEAL),
    "now": _just(NOW),
    "at": _just(NOW + 9_999),
    "by": _just("eve"),
    "is_dead": _just(lambda conn, holder: True),
    "on_settled": _just(lambda conn, request: None),
    "status": _just("approved"),
    "reply": lambda one: approve(by="eve"),
    "request": lambda one: one.request,
    "job": lambda one: one.job,
    "planned": lambda one: one.planned,
    "sealed": _just("sealed"),
    "token": _just("holder_1#1"),
    "holder": _just("holder_2"),
    "was": _just("holder_1"),
    "state": _just("done"),
    "reason": _just("because"),
    "number": _just(1),
    "key": lambda one: one.key,
    "fingerprint": _just("f"),
    "outcome": lambda one: one.outcome,
    "context": lambda one: one.key_context(),
    "ok": _just(True),
    "row": lambda one: one.letter,
    "name": _just("token"),
    "value": _just("0815"),
    "user": lambda one: one.user,
    "user_ids": lambda one: [one.user],
    "tool": _just("t.x"),
    "args": _just({"card": "0815"}),
    "hashed": _just("another hash"),
    "theme": _just("light"),
    "principal": lambda one: one.principal,
    "server": _just("far"),
    "sighting": lambda one: one.sighting,
    "digest": _just("d"),
    "usage": lambda one: one.usage,
    "texts": _just({"blob_1": "0815"}),
    "keys": _just(["blob_1"]),
    "beyond": _just(0),
    "after": _just(0),
    "limit": _just(10),
    "slug": _just("t_x"),
    "kind": _just("system_override"),
    "roles": _just(["admin"]),
    "permissions": _just(["tools:approve"]),
    "every": _just(1.0),
    "subject_type": _just("tool"),
    "subject": _just("t_x"),
    "content": _just({"a": 3}),
    "next_at": _just(NOW + 60),
    "which": _just(RunFilter()),
    "old": _just(1),
    "new": _just(2),
    "tool_session": _just("tool_session_1"),
    "share": _just("share_1"),
    "most": _just(9),
    "embed": _just("embed_1"),
    "changes": _just({"enabled": False}),
    "day": _just("2001-01-01"),
    "visitor": _just("somebody"),
    "guest": _just("guest:1"),
    "per_link": _just(9),
    "per_guest": _just(9),
}
_FAILED = Outcome("failed", Result.fail("it broke"), "call_4", "t.x")
_SPECIAL: dict[str, Callable[[TenantData], Any]] = {
    "events.queries.newest_end_events:tool": _just("t.x"),
    "events.queries.newest_end_events:user": lambda one: one.principal.user,
    "events.queries.newest_end_events:agent": lambda one: one.principal.agent,
    "api_keys.add_key:key": lambda one: one.api_key,
    "approvals.list_pending_requests:after": _just(None),
    "api_keys.get_key:key": _just("key_1"),
    "api_keys.revoke_key:key": _just("key_1"),
    "api_keys.mark_used:key": _just("key_1"),
    "events.queries.events_page:which": _just(EventFilter()),
    "events.runs.list_runs:after": _just(None),
    "events.queries.list_sessions:after": _just(None),
    "embeds.add_embed:embed": lambda one: one.embed,
    "embeds.count_embed_run:embed": lambda one: one.embed,
    "tool_sessions.add_tool_session:session": lambda one: one.tool_session,
    "tool_sessions.list_tool_sessions:after": _just(None),
    "tool_sessions.list_tool_sessions:status": _just(None),
    "tool_sessions.list_tool_sessions:tool": _just(None),
    "tool_sessions.put_submission:submission": lambda one: one.submission,
    "tool_sessions.share_tool_session:share": _just("share_2"),
    "tool_sessions.set_tool_session_status:was": _just(("active",)),
    "tool_sessions.set_tool_session_status:status": _just("completed"),
    "approvals.forget_request_arguments:approval_id": _just("approval_2"),
    "job_graph.open_parents:call_ids": _just(["call_5"]),
    "job_graph.parents_of:call_id": _just("call_5"),
    "job_graph.settle_children:parent": lambda one: JobEntry(
        "call_1", one.tenant, "t.x", "submitted", "cancelled", 1, NOW, NOW
    ),
    "job_graph.queue_waiting_jobs:call_ids": _just(["call_5"]),
    "jobs.add_graph:graph": lambda one: [(one.task("call_6"), "sealed")],
    "jobs.list_jobs:state": _just(None),
    "jobs.unblock_job:call_id": _just("call_3"),
    "idempotency.abandon_key:context": lambda one: one.key_context("holder_1"),
    "idempotency.forget_collected_key:key": lambda one: one.done_key,
    "idempotency.forget_collected_key:context": lambda one: one.key_context(outcome=_FAILED),
    "idempotency.forget_collected_key:call_id": _just("call_1"),
    "idempotency.reopen_key:key": lambda one: one.done_key,
    "idempotency.reopen_key:context": lambda one: one.key_context(outcome=_FAILED),
    "events.queries.outcome_of_call:call_id": _just("call_4"),
    "events.queries.events_of_call:call_id": _just("call_4"),
    "idempotency.is_busy:context": lambda one: one.key_context(dead=False),
    "dead_letters.mark_replay_unknown:call_id": _just("call_2"),
    "dead_letters.settle_replay:call_id": _just("call_2"),
    "dead_letters.add_dead_letter:row": lambda one: to_row(one.dead_letter, SEAL),
    "dead_letters.list_dead_letters:filters": _just({"tool": "t.x", "session": "s1", "since": 0.0}),
    "dead_letters.page_dead_letters:after": _just(None),
    "dead_letters.settle_chain:status": _just("replayed"),
    "open_runs.take_over:now": _just("holder_2"),
    "pins.accept_pins:tool": _just("pay"),
    "users.save_role:name": _just("clerk"),
    "users.delete_role:name": _just("clerk"),
    "schedules.fire_schedule:at": _just(NOW),
    "schedules.fire_schedule:name": _just("nightly"),
    "schedules.put_schedule:row": lambda one: one.schedule,
    "schedules.remove_schedule:name": _just("nightly"),
    "secrets.set_secret:user": _just(None),
    "secrets.list_secrets:user": _just(None),
    "secrets.delete_secret:user": _just(None),
    "secrets.read_secret:user": _just(None),
    "tools.save_tool_row:row": lambda one: ToolRow(one.tenant, "t_x", name="Changed"),
    "usage.read_usage:by": _just(()),
}


def arguments(one: TenantData, name: str, function: StoreFunction) -> dict[str, Any]:
    """What to give the function so that it would find what this tenant has."""
    given = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        known = _SPECIAL.get(f"{name}:{parameter.name}") or _USUAL.get(parameter.name)
        if known is not None and parameter.kind is inspect.Parameter.VAR_KEYWORD:
            given.update(known(one))
        elif known is not None:
            given[parameter.name] = known(one)
        elif parameter.default is inspect.Parameter.empty:
            raise LookupError(f"say in _USUAL or _SPECIAL what to give for {parameter.name!r} of {name}")
    return given
