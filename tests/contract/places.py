"""Where ports are kept, for suites that run over all of them: memory, SQLite, PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from sqlalchemy.engine import Connection

from handrail.core.clock import Clock
from handrail.core.guard.approval import ApprovalRequest, Reply
from handrail.core.guard.book import ApprovalBook, MemoryBook
from handrail.core.guard.keys import Keys, MemoryKeys
from handrail.core.guard.plan import MemoryPlans, Plans
from handrail.core.guard.standing import MemoryStanding, Standing
from handrail.core.tell.letters import DeadLetters, MemoryDeadLetters
from handrail.store.approvals.book import StoreBook
from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.keys.keys import StoreKeys
from handrail.store.letters.letters import StoreLetters
from handrail.store.outcomes import outcome_in
from handrail.store.plans import StorePlans
from handrail.store.sealing import Seal
from handrail.store.standing import StoreStanding
from handrail.testing import TurnedClock

KEY = b"k" * 32
KINDS = ["memory", "sqlite", "postgresql"]
_URLS = {"sqlite": "migrated_sqlite_url", "postgresql": "postgres_url"}


@dataclass
class Place:
    """One place. Each `process` opens it anew, as another process would; in memory there is only one."""

    url: str | None
    clock: TurnedClock = field(default_factory=TurnedClock)
    dead: set[str] = field(default_factory=set)
    """Holders that are no more."""
    won: list[tuple[ApprovalRequest, Reply | None]] = field(default_factory=list)
    """What the queue was told in the transactions that decided."""
    seal: Seal = field(default_factory=lambda: Seal([KEY]))
    _open: list[Process] = field(default_factory=list)
    _memory: Process | None = None

    def process(self, clock: Clock | None = None) -> Process:
        """The place as one more process sees it, perhaps with a clock of its own."""
        if self.url is not None:
            db = Database(self.url, clock or self.clock)
            made = Process(
                db,
                StoreBook(db, self.seal, self._on_win),
                StoreKeys(db, self._is_dead, outcome_in),
                StoreLetters(db, self.seal, self._is_dead),
                StoreStanding(db),
                StorePlans(db, self.seal, self._is_dead),
                StoreLog(db),
            )
            self._open.append(made)
            return made
        if self._memory is None:
            memory = (MemoryBook(self.clock.now), MemoryKeys(), MemoryDeadLetters(), MemoryStanding())
            self._memory = Process(None, *memory, MemoryPlans())
        return self._memory

    def kill(self, process: Process) -> None:
        """The process is no more; what it had not committed is lost with it."""
        assert process.db is not None
        self.dead.add(process.db.holder)
        process.db.close()
        self._open.remove(process)

    def _on_win(self, conn: Connection, request: ApprovalRequest, reply: Reply | None) -> None:
        self.won.append((request, reply))

    def _is_dead(self, conn: Connection, holder: str) -> bool:
        return holder in self.dead

    def close(self) -> None:
        for process in self._open:
            assert process.db is not None
            process.db.close()


@dataclass
class Process:
    """The ports of one process."""

    db: Database | None
    book: ApprovalBook
    keys: Keys
    letters: DeadLetters
    standing: Standing
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
def opened(kind: str, url_of: Callable[[str], str]) -> Iterator[Place]:
    url = None if kind == "memory" else url_of(_URLS[kind])
    place = Place(url)
    try:
        yield place
    finally:
        place.close()


def place_of(request: pytest.FixtureRequest) -> Iterator[Place]:
    """The body of a `place` fixture."""
    with opened(request.param, request.getfixturevalue) as place:
        yield place
