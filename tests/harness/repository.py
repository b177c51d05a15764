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
from handrail.core.guard.approval import approve
from handrail.core.run.jobs import JobEntry
from handrail.core.tell.runs import RunFilter
from handrail.store import tables
from handrail.store.letters.rows import to_row
from tests.harness.belongings import NOW, SEAL, Belongings

Repository = Callable[..., Any]

OF_THE_HOUSE = frozenset(
    {
        "approvals.queries.expire_due",
        "approvals.queries.next_expiry",
        "approvals.queries.open_questions",
        "arrivals.homes_of",
        "arrivals.last_home",
        "attempts.count_attempt",
        "attempts.forget_attempts",
        "attempts.take_back",
        "canary.known_keys",
        "events.reading.tenants_of",
        "canary.prove_keys",
        "canary.retire_key",
        "census.tenants_with_events",
        "job_graph.stranded",
        "jobs.blocked",
        "jobs.in_line",
        "jobs.left_behind",
        "jobs.over_among",
        "jobs.tenants_of",
        "jobs.to_stop",
        "keys.queries.sweep_keys",
        "leases.dead_among",
        "leases.end",
        "leases.everyone",
        "leases.is_alive",
        "leases.renew",
        "leases.sweep",
        "leases.time_of",
        "open_runs.orphans",
        "schedules.due_schedules",
        "tenants.all_tenants",
        "users.add_user",
        "users.disable_user",
        "users.password_by_email",
        "users.rehash_password",
        "users.user_by_email",
    }
)
"""Of no tenant: for connections that look after the whole house. A tenant's request never calls them."""
TOOLS_OF_OTHERS = frozenset(
    {
        "events.append.append",  # each row names its tenant
        "events.signals.announce",  # says that something happened, not what
        "events.reading.told",  # runs the query that it is given
        "events.reading.with_payloads",
        "scope.enter",
        "scope.enter_system",
        "tools.common_rows",  # for everybody
        "turns.take_turn",
        "upsert.insert_new",
        "upsert.put",
    }
)
"""Used by the functions of the store; none of them chooses whose rows it touches."""


def repository() -> dict[str, Repository]:
    """Every public function of the store that is given a connection, by module and name."""
    found: dict[str, Repository] = {}
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


FUNCTIONS = {name: one for name, one in repository().items() if name not in OF_THE_HOUSE | TOOLS_OF_OTHERS}
TABLES = sorted(set(tables.metadata.tables) - {"leases", "settings", "writers"})
"""All but those that say nothing of any tenant."""


def _just(value: Any) -> Callable[[Belongings], Any]:
    return lambda one: value


MAKES = frozenset(
    {
        "api_keys.add_key",
        "approvals.queries.add_request",
        "arrivals.note_arrival",
        "blobs.put",
        "ended.end_session",
        "embeds.add_embed",
        "embeds.count_embed_run",
        "embeds.count_guest_run",
        "jobs.add_graph",
        "jobs.add_job",
        "keepsakes.add_favourite",
        "keepsakes.put_saved",
        "keys.queries.take_key",
        "links.add_link",
        "letters.queries.add_letter",
        "pins.note_sighting",
        "plans.add_planned",
        "roles.save_role",
        "schedules.put_schedule",
        "secrets.set_secret",
        "standing.give_standing",
        "tenants.create_tenant",
        "tool_sessions.add_tool_session",
        "tools.save_row",
        "usage.add_usage",
        "users.add_roles",
        "versions.save_version",
    }
)
"""Makes something new for the tenant that it is given, whatever others have."""

_USUAL: dict[str, Callable[[Belongings], Any]] = {
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
    "on_win": _just(lambda conn, request, reply: None),
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
    "house": lambda one: one.house(),
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
_SPECIAL: dict[str, Callable[[Belongings], Any]] = {
    "events.reading.newest_ends:tool": _just("t.x"),
    "events.reading.newest_ends:user": lambda one: one.principal.user,
    "events.reading.newest_ends:agent": lambda one: one.principal.agent,
    "api_keys.add_key:key": lambda one: one.api_key,
    "approvals.queries.list_requests:after": _just(None),
    "api_keys.get_key:key": _just("key_1"),
    "api_keys.revoke_key:key": _just("key_1"),
    "api_keys.mark_used:key": _just("key_1"),
    "events.reading.events_page:status": _just(None),
    "events.runs.list_runs:after": _just(None),
    "events.sessions.list_sessions:after": _just(None),
    "embeds.add_embed:made": lambda one: one.embed,
    "embeds.count_embed_run:embed": lambda one: one.embed,
    "tool_sessions.add_tool_session:made": lambda one: one.tool_session,
    "tool_sessions.list_tool_sessions:after": _just(None),
    "tool_sessions.list_tool_sessions:status": _just(None),
    "tool_sessions.list_tool_sessions:tool": _just(None),
    "tool_sessions.put_submission:given": lambda one: one.submission,
    "tool_sessions.share_tool_session:share": _just("share_2"),
    "tool_sessions.turn_tool_session:was": _just(("active",)),
    "tool_sessions.turn_tool_session:status": _just("completed"),
    "approvals.queries.shed_request:approval_id": _just("approval_2"),
    "job_graph.open_parents:call_ids": _just(["call_5"]),
    "job_graph.parents_of:call_id": _just("call_5"),
    "job_graph.settle_children:parent": lambda one: JobEntry(
        "call_1", one.tenant, "t.x", "submitted", "cancelled", 1, NOW, NOW
    ),
    "job_graph.wake:call_ids": _just(["call_5"]),
    "jobs.add_graph:graph": lambda one: [(one.task("call_6"), "sealed")],
    "jobs.list_jobs:state": _just(None),
    "jobs.unblock_job:call_id": _just("call_3"),
    "keys.queries.abandon_key:house": lambda one: one.house("holder_1"),
    "keys.queries.collect_key:key": lambda one: one.done_key,
    "keys.queries.collect_key:house": lambda one: one.house(outcome=_FAILED),
    "keys.queries.collect_key:call_id": _just("call_1"),
    "keys.queries.reopen_key:key": lambda one: one.done_key,
    "keys.queries.reopen_key:house": lambda one: one.house(outcome=_FAILED),
    "outcomes.outcome_in:call_id": _just("call_4"),
    "outcomes.telling_in:call_id": _just("call_4"),
    "keys.queries.is_busy:house": lambda one: one.house(dead=False),
    "letters.queries.doubt_replay:call_id": _just("call_2"),
    "letters.queries.replay_ended:call_id": _just("call_2"),
    "letters.queries.add_letter:row": lambda one: to_row(one.dead_letter, SEAL),
    "letters.queries.list_letters:status": _just(None),
    "letters.queries.page_letters:after": _just(None),
    "letters.queries.settle_chain:status": _just("replayed"),
    "open_runs.take_over:now": _just("holder_2"),
    "pins.accept_pins:tool": _just("pay"),
    "roles.save_role:name": _just("clerk"),
    "roles.delete_role:name": _just("clerk"),
    "schedules.fire_schedule:at": _just(NOW),
    "schedules.fire_schedule:name": _just("nightly"),
    "schedules.put_schedule:row": lambda one: one.schedule,
    "schedules.remove_schedule:name": _just("nightly"),
    "secrets.set_secret:user": _just(None),
    "secrets.list_secrets:user": _just(None),
    "secrets.delete_secret:user": _just(None),
    "secrets.read_secret:user": _just(None),
    "tools.save_row:row": lambda one: ToolRow(one.tenant, "t_x", name="Changed"),
    "usage.read_usage:by": _just(()),
}


def arguments(one: Belongings, name: str, function: Repository) -> dict[str, Any]:
    """What to give the function so that it would find what this tenant has."""
    given = {}
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        known = _SPECIAL.get(f"{name}:{parameter.name}") or _USUAL.get(parameter.name)
        if known is not None:
            given[parameter.name] = known(one)
        elif parameter.default is inspect.Parameter.empty:
            raise LookupError(f"say in _USUAL or _SPECIAL what to give for {parameter.name!r} of {name}")
    return given
