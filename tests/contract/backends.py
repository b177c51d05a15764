"""Where ports are kept, for suites that run over all of them: memory, SQLite, PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from sqlalchemy.engine import Connection

from handrail.core.clock import Clock
from handrail.core.guard.approval_request import ApprovalRequest, Reply
from handrail.core.guard.approval_store import (
    ApprovalStore,
    MemoryApprovals,
    MemoryStandingApprovals,
    StandingApprovals,
)
from handrail.core.guard.idempotency import IdempotencyKeys, MemoryIdempotencyKeys
from handrail.core.guard.plans import MemoryPlans, Plans
from handrail.core.tell.dead_letters import DeadLetters, MemoryDeadLetters
from handrail.store.approvals import StoreApprovals, StoreStandingApprovals
from handrail.store.database import Database
from handrail.store.dead_letters import StoreDeadLetters
from handrail.store.encryption import Seal
from handrail.store.events.log import StoreLog
from handrail.store.events.queries import outcome_of_call
from handrail.store.idempotency import StoreIdempotencyKeys
from handrail.store.plans import StorePlans
from handrail.testing import FakeClock

KEY = b"k" * 32
KINDS = ["memory", "sqlite", "postgresql"]
_URLS = {"sqlite": "migrated_sqlite_url", "postgresql": "postgres_url"}


@dataclass
class Backend:
    """One place. Each `process` opens it anew, as another process would; in memory there is only one."""

    url: str | None
    clock: FakeClock = field(default_factory=FakeClock)
    dead: set[str] = field(default_factory=set)
    """Holders that are no more."""
    won: list[tuple[ApprovalRequest, Reply | None]] = field(default_factory=list)
    """What the queue was told in the transactions that decided."""
    seal: Seal = field(default_factory=lambda: Seal([KEY]))
    _open: list[BackendProcess] = field(default_factory=list)
    _memory: BackendProcess | None = None

    def process(self, clock: Clock | None = None) -> BackendProcess:
        """The place as one more process sees it, perhaps with a clock of its own."""
        if self.url is not None:
            db = Database(self.url, clock or self.clock)
            made = BackendProcess(
                db,
                StoreApprovals(db, self.seal, self._on_settled),
                StoreIdempotencyKeys(db, self._is_dead, outcome_of_call),
                StoreDeadLetters(db, self.seal, self._is_dead),
                StoreStandingApprovals(db),
                StorePlans(db, self.seal, self._is_dead),
                StoreLog(db),
            )
            self._open.append(made)
            return made
        if self._memory is None:
            memory = (
                MemoryApprovals(self.clock.now),
                MemoryIdempotencyKeys(),
                MemoryDeadLetters(),
                MemoryStandingApprovals(),
            )
            self._memory = BackendProcess(None, *memory, MemoryPlans())
        return self._memory

    def kill(self, process: BackendProcess) -> None:
        """The process is no more; what it had not committed is lost with it."""
        assert process.db is not None
        self.dead.add(process.db.holder)
        process.db.close()
        self._open.remove(process)

    def _on_settled(self, conn: Connection, request: ApprovalRequest) -> None:
        self.won.append((request, request.answer))

    def _is_dead(self, conn: Connection, holder: str) -> bool:
        return holder in self.dead

    def close(self) -> None:
        for process in self._open:
            assert process.db is not None
            process.db.close()


@dataclass
class BackendProcess:
    """The ports of one process."""

    db: Database | None
    book: ApprovalStore
    keys: IdempotencyKeys
    letters: DeadLetters
    standing: StandingApprovals
    plans: Plans
    log: StoreLog | None = None

    async def settled(self) -> None:
        """Return when all that was said so far is there for others."""
        if self.db is not None:
            await self.db.flushed()

    @property
    def rows(self) -> Database:
        assert self.db is not None, "only a database has rows"
        return self.db


@contextmanager
def open_backend(kind: str, url_of: Callable[[str], str]) -> Iterator[Backend]:
    url = None if kind == "memory" else url_of(_URLS[kind])
    place = Backend(url)
    try:
        yield place
    finally:
        place.close()


def backend_of(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """The body of a `place` fixture."""
    with open_backend(request.param, request.getfixturevalue) as place:
        yield place
