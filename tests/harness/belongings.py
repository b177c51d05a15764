"""Belongings: one of everything that a tenant can have, and what to give each function that handles it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, select, update

import handrail.store
from handrail import Call, Outcome, Principal, Result
from handrail.core.define.decision import Decision
from handrail.core.find.pins import Pin, Sighting
from handrail.core.find.visibility import ToolRow
from handrail.core.guard.approval import ApprovalRequest, approve
from handrail.core.run.jobs import Job, JobEntry
from handrail.core.tell.events import ToolCompleted, ToolStarted
from handrail.core.tell.letters import DeadLetter
from handrail.core.tell.runs import RunFilter
from handrail.core.tell.usage import Usage
from handrail.store import tables
from handrail.store.api_keys import ApiKey, add_key
from handrail.store.approvals.queries import add_request, settle_request
from handrail.store.blobs import put as put_blob
from handrail.store.database import Database
from handrail.store.events.append import append
from handrail.store.events.rows import encode
from handrail.store.jobs import add_graph, add_job, seal_job, take_job
from handrail.store.keys.queries import House, finish_key, take_key
from handrail.store.letters.queries import add_letter, take_letter
from handrail.store.letters.rows import to_row
from handrail.store.links import add_link
from handrail.store.pins import note_sighting
from handrail.store.roles import save_role
from handrail.store.schedules import ScheduleRow, put_schedule
from handrail.store.sealing import Seal
from handrail.store.secrets import set_secret
from handrail.store.standing import give_standing
from handrail.store.tenants import create_tenant
from handrail.store.tools import save_row
from handrail.store.usage import add_usage
from handrail.store.users import add_roles, add_user
from handrail.store.versions import save_version

SEAL = Seal([b"k" * 32])
NOW = 2_000.0
Repository = Callable[..., Any]

OF_THE_HOUSE = frozenset(
    {
        "approvals.queries.expire_due",
        "approvals.queries.next_expiry",
        "approvals.queries.open_questions",
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


def says(answer: Any) -> bool:
    """Whether an answer tells anything."""
    return bool(any(answer) if isinstance(answer, tuple) else answer)


class Belongings:
    """What one tenant has, all under names that do not depend on the tenant."""

    def __init__(self, tenant: str, card: str) -> None:
        self.tenant = tenant
        self.card = card
        """What nobody else may ever see."""
        self.principal = Principal(tenant=tenant, user="ana", agent="ops")
        self.call = Call("t.x", None, self.principal, session="s1", id="call_1", idempotency_key="k1")
        self.user = ""
        self.letter: Row[Any] | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        return (self.tenant, "ana", "ops", "k1")

    @property
    def done_key(self) -> tuple[str, str, str, str]:
        return (self.tenant, "ana", "ops", "k2")

    @property
    def request(self) -> ApprovalRequest:
        return self._request("approval_1")

    def _request(self, id: str) -> ApprovalRequest:
        ask = Decision("ask", reason="it writes")
        args = {"card": self.card}
        return ApprovalRequest(
            id, self.call, "t.x", "d", args, "h", "write", "moderate", ask, NOW - 9, NOW + 9, raw=args
        )

    @property
    def job(self) -> Job:
        return Job(self.call, "t.x", {"card": self.card})

    def task(self, call_id: str) -> Job:
        """A job that comes after the first one."""
        return Job(replace(self.call, id=call_id), "t.x", task="second", after=("call_1",))

    @property
    def dead_letter(self) -> DeadLetter:
        return DeadLetter(
            "letter_1", self.call, "t.x", {}, "it broke", "TOOL_FAILED", 1, NOW, raw={"card": self.card}
        )

    @property
    def outcome(self) -> Outcome:
        return Outcome("completed", Result(data=self.card), "call_1", "t.x")

    @property
    def usage(self) -> Usage:
        usage = Usage()
        usage.add(ToolCompleted(self.call, "t.x", NOW, "run_1", Result(), 1.0))
        return usage

    @property
    def sighting(self) -> Sighting:
        return Sighting(held=(Pin("pay", None, {"description": self.card}),))

    @property
    def api_key(self) -> ApiKey:
        return ApiKey("key_1", "ci", "service", frozenset({"tools:run"}), NOW, "ana", "digest")

    def house(self, holder: str = "holder_2", dead: bool = True, outcome: Outcome | None = None) -> House:
        return House(holder, NOW, lambda conn, holder: dead, lambda conn, tenant, call: outcome)

    def fill(self, database: Database) -> None:
        """Put one of everything into the database."""
        tenant = self.tenant
        with database.system() as conn:
            self.user = add_user(conn, f"ana@{tenant}.example", "Ana", at=NOW).id
        with database.transaction(tenant) as conn:
            create_tenant(conn, tenant, "A tenant", at=NOW)
            add_roles(conn, tenant, self.user, ["admin"], at=NOW)
            save_role(conn, tenant, "clerk", ["tools:run"], at=NOW)
            add_key(conn, tenant, self.api_key)
            add_link(conn, tenant, "link_1", self.user, "d", at=NOW, expires_at=NOW + 99_999)
            save_row(conn, tenant, ToolRow(tenant, "t_x", enabled=False), at=NOW, by="ana")
            for content in ({"a": 1}, {"a": 2}):
                save_version(conn, tenant, "tool", "t_x", content, at=NOW, by="ana")
            add_request(conn, tenant, self.request, SEAL)
            self._answered(conn)
            give_standing(conn, tenant, self.principal, "s1", "d", "ana", NOW)
            add_job(conn, tenant, self.job, seal_job(SEAL, self.job), NOW)
            take_job(conn, tenant, "call_1", "holder_1#1", NOW)
            blocked = Job(replace(self.call, id="call_3"), "t.x")
            add_job(conn, tenant, blocked, "sealed", NOW)
            conn.execute(update(tables.jobs).where(tables.jobs.c.call_id == "call_3").values(state="blocked"))
            add_graph(conn, tenant, [(self.task("call_5"), "sealed")], NOW)
            take_key(conn, self.key, "f", "call_1", self.house("holder_1"))
            add_letter(conn, tenant, to_row(self.dead_letter, SEAL))
            take_letter(conn, tenant, "letter_1", "call_2", "holder_1", SEAL, lambda conn, holder: True)
            set_secret(conn, tenant, "token", self.card, seal=SEAL, now=NOW)
            put_blob(conn, tenant, {"blob_1": self.card}, NOW)
            note_sighting(conn, tenant, "far", self.sighting, now=NOW)
            add_usage(conn, tenant, self.usage)
            take_key(conn, self.done_key, "f", "call_4", self.house("holder_1"))
            finish_key(conn, self.done_key, self.outcome, self.house("holder_1"))
            started = ToolStarted(self.call, "t.x", NOW, "run_1", {"card": self.card})
            over = replace(self.call, id="call_4")
            begun = ToolStarted(over, "t.x", NOW, "run_4", {"card": self.card})
            ended = ToolCompleted(over, "t.x", NOW, "run_4", Result(data=self.card), 1.0)
            append(conn, [encode(started), encode(begun), encode(ended)], "holder_1")
            put_schedule(conn, tenant, self.schedule, NOW)
            self.letter = conn.execute(select(tables.dead_letters)).first()

    def _answered(self, conn: Connection) -> None:
        """A second question, whose call may be over."""
        add_request(conn, self.tenant, self._request("approval_2"), SEAL)
        yes = approve(by="bea")
        settle_request(
            conn, self.tenant, "approval_2", "approved", yes, now=NOW, seal=SEAL, on_win=lambda *_: None
        )

    @property
    def schedule(self) -> ScheduleRow:
        return ScheduleRow(self.tenant, "nightly", "t.x", "sealed", None, 60.0, None, NOW, None, True)

    def wanting(self, other: Belongings) -> Belongings:
        """This tenant, knowing every id of another one."""
        self.user, self.letter = other.user, other.letter
        return self

    def arguments(self, name: str, function: Repository) -> dict[str, Any]:
        """What to give the function so that it would find what this tenant has."""
        given = {}
        for parameter in list(inspect.signature(function).parameters.values())[1:]:
            known = _SPECIAL.get(f"{name}:{parameter.name}") or _USUAL.get(parameter.name)
            if known is not None:
                given[parameter.name] = known(self)
            elif parameter.default is inspect.Parameter.empty:
                raise LookupError(f"say in _USUAL or _SPECIAL what to give for {parameter.name!r} of {name}")
        return given


def _just(value: Any) -> Callable[[Belongings], Any]:
    return lambda one: value


MAKES = frozenset(
    {
        "api_keys.add_key",
        "approvals.queries.add_request",
        "blobs.put",
        "jobs.add_graph",
        "jobs.add_job",
        "keys.queries.take_key",
        "links.add_link",
        "letters.queries.add_letter",
        "pins.note_sighting",
        "roles.save_role",
        "schedules.put_schedule",
        "secrets.set_secret",
        "standing.give_standing",
        "tenants.create_tenant",
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
    "keys.queries.is_busy:house": lambda one: one.house(dead=False),
    "letters.queries.doubt_replay:call_id": _just("call_2"),
    "letters.queries.replay_ended:call_id": _just("call_2"),
    "letters.queries.add_letter:row": lambda one: to_row(one.dead_letter, SEAL),
    "letters.queries.list_letters:status": _just(None),
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
