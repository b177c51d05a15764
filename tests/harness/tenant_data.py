"""Belongings: one of everything that a tenant can have, and what to give each function that handles it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Row, select, update

from handrail import Outcome, Principal, Result
from handrail.core.define.call import BoundCall
from handrail.core.define.decision import Decision
from handrail.core.find.pins import Pin, PinChanges
from handrail.core.find.visibility import ToolRow
from handrail.core.guard.approval_request import ApprovalRequest, approve
from handrail.core.guard.plans import PlannedCall
from handrail.core.run.jobs.job import Job
from handrail.core.tell.dead_letters import DeadLetter
from handrail.core.tell.events import ToolCompleted, ToolStarted
from handrail.core.tell.usage import Usage
from handrail.store import tables
from handrail.store.api_keys import ApiKey, add_key
from handrail.store.approvals import add_request, add_standing_approval, settle_request
from handrail.store.blobs import put as put_blob
from handrail.store.database import Database
from handrail.store.dead_letters import add_dead_letter, claim_dead_letter, to_row
from handrail.store.embeds import Embed, add_embed, count_embed_run
from handrail.store.encryption import Seal
from handrail.store.events.append import append
from handrail.store.events.rows import encode_event
from handrail.store.idempotency import KeyContext, claim_key, finish_key
from handrail.store.jobs import add_graph, add_job, seal_job, take_job
from handrail.store.pins import record_pin_changes
from handrail.store.plans import add_planned
from handrail.store.preferences import add_favourite, save_input
from handrail.store.schedules import ScheduleRow, put_schedule
from handrail.store.secrets import set_secret
from handrail.store.sign_ins import add_sign_in_link, count_attempt, revoke_session
from handrail.store.tenants import create_tenant, record_sign_in
from handrail.store.tool_sessions import (
    ToolSession,
    ToolSessionSubmission,
    add_tool_session,
    put_submission,
    share_tool_session,
)
from handrail.store.tools import save_tool_row
from handrail.store.usage import add_usage
from handrail.store.users import add_roles, add_user, save_role, set_password_hash, set_theme
from handrail.store.versions import save_version

SEAL = Seal([b"k" * 32])
NOW = 2_000.0
StoreFunction = Callable[..., Any]


def reveals_something(answer: Any) -> bool:
    """Whether an answer tells anything; "gone" is said of what was never there, too."""
    return answer != "gone" and bool(any(answer) if isinstance(answer, tuple) else answer)


class TenantData:
    """What one tenant has, all under names that do not depend on the tenant."""

    def __init__(self, tenant: str, card: str) -> None:
        self.tenant = tenant
        self.card = card
        """What nobody else may ever see."""
        self.principal = Principal(tenant=tenant, user="ana", agent="ops")
        self.call = BoundCall("t.x", self.principal, "call_1", session="s1", idempotency_key="k1")
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

    @property
    def planned(self) -> PlannedCall:
        args = {"card": self.card}
        return PlannedCall(self.call, "t.x", args, "plan mode queues it", args, frozenset(), NOW)

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
    def sighting(self) -> PinChanges:
        return PinChanges(held=(Pin("pay", None, {"description": self.card}),))

    @property
    def api_key(self) -> ApiKey:
        return ApiKey("key_1", "ci", "service", frozenset({"tools:run"}), NOW, "ana", "digest")

    @property
    def tool_session(self) -> ToolSession:
        return ToolSession("tool_session_1", self.tenant, "t-x", self.card, "ana", NOW)

    @property
    def submission(self) -> ToolSessionSubmission:
        given = {"card": self.card}
        return ToolSessionSubmission("sub_1", "tool_session_1", "ana", "Ana", given, given, "call_1", NOW)

    @property
    def embed(self) -> Embed:
        return Embed("embed_1", self.card, ("t.x",), ("https://a.example",), 5, 5, "ana", NOW, "d", "sealed")

    def key_context(
        self, holder: str = "holder_2", dead: bool = True, outcome: Outcome | None = None
    ) -> KeyContext:
        return KeyContext(holder, NOW, lambda conn, holder: dead, lambda conn, tenant, call: outcome)

    def fill(self, database: Database) -> None:
        """Put one of everything into the database."""
        tenant = self.tenant
        with database.system() as conn:
            self.user = add_user(conn, f"ana@{tenant}.example", "Ana", at=NOW).id
            count_attempt(conn, f"address:{tenant}", at=NOW, window=60.0)
        with database.transaction(tenant) as conn:
            create_tenant(conn, tenant, "A tenant", at=NOW)
            add_roles(conn, tenant, self.user, ["admin"], at=NOW)
            set_password_hash(conn, tenant, self.user, f"hash of {self.card}")
            set_theme(conn, tenant, self.user, "dark")
            record_sign_in(conn, tenant, self.user, at=NOW)
            revoke_session(conn, tenant, "d", at=NOW, expires_at=NOW + 99_999)
            add_favourite(conn, tenant, self.user, "t.x", at=NOW)
            save_input(conn, tenant, self.user, "t.x", "token", {"card": self.card}, at=NOW, seal=SEAL)
            save_role(conn, tenant, "clerk", ["tools:run"], at=NOW)
            add_key(conn, tenant, self.api_key)
            add_sign_in_link(conn, tenant, "link_1", self.user, "d", at=NOW, expires_at=NOW + 99_999)
            save_tool_row(conn, tenant, ToolRow(tenant, "t_x", enabled=False), at=NOW, by="ana")
            for content in ({"a": 1}, {"a": 2}):
                save_version(conn, tenant, "tool", "t_x", content, at=NOW, by="ana")
            add_request(conn, tenant, self.request, SEAL)
            self._answered(conn)
            add_planned(conn, tenant, self.planned, SEAL)
            add_standing_approval(conn, tenant, self.principal, "s1", "d", "ana", NOW)
            add_job(conn, tenant, self.job, seal_job(SEAL, self.job), NOW)
            take_job(conn, tenant, "call_1", "holder_1#1", NOW)
            blocked = Job(replace(self.call, id="call_3"), "t.x")
            add_job(conn, tenant, blocked, "sealed", NOW)
            conn.execute(
                update(tables.calls.jobs)
                .where(tables.calls.jobs.c.call_id == "call_3")
                .values(state="blocked")
            )
            add_graph(conn, tenant, [(self.task("call_5"), "sealed")], NOW)
            claim_key(conn, self.key, "f", "call_1", self.key_context("holder_1"))
            add_dead_letter(conn, tenant, to_row(self.dead_letter, SEAL))
            claim_dead_letter(conn, tenant, "letter_1", "call_2", "holder_1", SEAL, lambda conn, holder: True)
            set_secret(conn, tenant, "token", self.card, seal=SEAL, now=NOW)
            put_blob(conn, tenant, {"blob_1": self.card}, NOW)
            record_pin_changes(conn, tenant, "far", self.sighting, now=NOW)
            add_usage(conn, tenant, self.usage)
            claim_key(conn, self.done_key, "f", "call_4", self.key_context("holder_1"))
            finish_key(conn, self.done_key, self.outcome, self.key_context("holder_1"))
            started = ToolStarted(self.call, "t.x", NOW, "run_1", {"card": self.card})
            over = replace(self.call, id="call_4")
            begun = ToolStarted(over, "t.x", NOW, "run_4", {"card": self.card})
            ended = ToolCompleted(over, "t.x", NOW, "run_4", Result(data=self.card), 1.0)
            append(conn, [encode_event(started), encode_event(begun), encode_event(ended)], "holder_1")
            put_schedule(conn, tenant, self.schedule, NOW)
            add_tool_session(conn, tenant, self.tool_session)
            share_tool_session(
                conn, tenant, "tool_session_1", share="share_1", digest="d", expires_at=NOW + 99_999
            )
            put_submission(conn, tenant, self.submission, most=9)
            add_embed(conn, tenant, self.embed)
            count_embed_run(conn, tenant, self.embed, day="2001-01-01", visitor="somebody")
            self.letter = conn.execute(select(tables.calls.dead_letters)).first()

    def _answered(self, conn: Connection) -> None:
        """A second question, whose call may be over."""
        add_request(conn, self.tenant, self._request("approval_2"), SEAL)
        yes = approve(by="bea")
        settle_request(
            conn, self.tenant, "approval_2", "approved", yes, now=NOW, seal=SEAL, on_settled=lambda *_: None
        )

    @property
    def schedule(self) -> ScheduleRow:
        return ScheduleRow(self.tenant, "nightly", "t.x", "sealed", None, 60.0, None, NOW, None, True)

    def wanting(self, other: TenantData) -> TenantData:
        """This tenant, knowing every id of another one."""
        self.user, self.letter = other.user, other.letter
        return self
