"""Databases: opens one, and puts store, identity and jobs together behind the ports of a Handrail."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.core.clock import Clock
from handrail.core.define.call import Outcome
from handrail.core.errors import UsageError
from handrail.core.run.backing import Backing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from handrail.core.run.jobs import Jobs
    from handrail.core.run.perform import Work
    from handrail.identity.offices import Offices
    from handrail.jobs.durable import DurableJobs
    from handrail.store.database import Database
    from handrail.store.events.log import StoreLog
    from handrail.store.leases import Heartbeat
    from handrail.store.sealing import Seal

_EXTRAS = {"psycopg": "postgres"}


def open_database(url: str, clock: Clock, worker: bool, /) -> Backing:
    """What the engine finds behind an address: the entry point of the group `handrail.databases`."""
    try:
        return _Opened(url, clock, worker).backing()
    except ImportError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0], "store")
        raise UsageError(
            f"{error.name} is not installed, which a database needs: pip install 'handrail[{extra}]'"
        ) from error


def upgrade(url: str) -> None:
    """Bring a database to the schema of this version, ours and the queue's. The address is the owner's."""
    from sqlalchemy.engine import make_url

    from handrail.jobs import migrate as queue
    from handrail.store import migrate
    from handrail.store.engines import dialect_of, make_engine
    from handrail.store.filelock import alone

    if dialect_of(url) == "sqlite":
        make_engine(url).dispose()  # says in words what is wrong with the address
        with alone(Path(make_url(url).database or "").resolve()):
            queue.upgrade(url)
            migrate.upgrade(url)  # ours come last: they say that all is there
    else:
        migrate.upgrade(url)
        queue.upgrade(url)  # its tables are given to roles that ours bring along


def key_file(url: str) -> Path:
    """Where the key lies that seals a database, unless HANDRAIL_KEY has it."""
    from sqlalchemy.engine import make_url

    address = make_url(url)
    if address.get_backend_name() == "sqlite" and address.database:
        return Path(f"{address.database}.key").absolute()
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return home / "handrail" / f"{address.database or 'handrail'}.key"


def seal_of(db: Database) -> Seal:
    """What seals and opens the secrets of a database."""
    from handrail.store.canary import prove_keys

    with db.system() as conn:
        return prove_keys(conn, key_file(db.url))


def _locked(url: str) -> Callable[[], None]:
    """Take a SQLite file, which only one worker may have; call what comes back to let it go."""
    from sqlalchemy.engine import make_url

    from handrail.store.filelock import FileLock

    lock = FileLock(Path(make_url(url).database or "").resolve(), "a Handrail server or worker")
    lock.take()
    return lock.free


class _Opened:
    """One open database."""

    db: Database
    seal: Seal
    log: StoreLog
    jobs: DurableJobs
    offices: Offices

    def __init__(self, url: str, clock: Clock, worker: bool) -> None:
        from handrail.identity.offices import Offices
        from handrail.jobs.durable import DurableJobs
        from handrail.store import migrate
        from handrail.store.database import Database
        from handrail.store.events.log import StoreLog
        from handrail.store.leases import Heartbeat

        self.db = Database(url, clock)
        self._unlock: Callable[[], None] | None = None
        self._heartbeat: Heartbeat | None = None
        try:
            if self.db.dialect == "sqlite":
                if worker:
                    self._unlock = _locked(url)
                if not migrate.is_current(self.db.engine):
                    upgrade(url)
            else:
                migrate.check(self.db.engine, self.db.name)
            self.seal = seal_of(self.db)
            self.offices = Offices(self.db, self.seal)
            self.log = StoreLog(self.db)
            self.jobs = DurableJobs(self.db, self.seal, self.log, worker=worker)
            self._heartbeat = Heartbeat(self.db, "worker" if worker else "guest")
            self._heartbeat.start()
        except BaseException:
            self._let_go()
            raise

    def backing(self) -> Backing:
        from handrail.store.approvals.book import StoreBook
        from handrail.store.keys.keys import StoreKeys
        from handrail.store.leases import dead_among
        from handrail.store.letters.letters import StoreLetters
        from handrail.store.outcomes import outcome_in
        from handrail.store.pins import StorePins
        from handrail.store.plans import StorePlans
        from handrail.store.secrets import StoreSecrets
        from handrail.store.standing import StoreStanding
        from handrail.store.usage import StoreTally

        db = self.db
        self._tally = StoreTally(db)
        return Backing(
            log=self.log,
            book=StoreBook(db, self.seal, lambda conn, request, _: self.jobs.approved(conn, request)),
            keys=StoreKeys(db, lambda conn, holder: bool(dead_among(conn, [holder])), outcome_in),
            letters=StoreLetters(db, self.seal, lambda conn, holder: bool(dead_among(conn, [holder]))),
            standing=StoreStanding(db),
            plans=StorePlans(db, self.seal, lambda conn, holder: bool(dead_among(conn, [holder]))),
            jobs=self._jobs,
            secrets=StoreSecrets(db, self.seal),
            resolver=self.offices.attend,
            tally=self._tally,
            look=self._look,
            settled=db.flushed,
            pins=StorePins(db),
            offices=self.offices,
            close=self._close,
        )

    def _jobs(self, work: Callable[[], Work]) -> Jobs:
        self.jobs.attach(work)
        return self.jobs

    async def _look(self, call_ids: Collection[str]) -> list[tuple[str, Outcome]]:
        """How those of the calls ended that are over, wherever they ran."""
        from handrail.store.outcomes import outcome_in

        found = []
        for tenant, call_id in await self.jobs.over(call_ids):
            outcome = await self.db.read(tenant, partial(outcome_in, tenant=tenant, call_id=call_id))
            outcome = outcome or await self._answered(tenant, call_id)
            if outcome is not None:
                found.append((tenant, outcome))
        return found

    async def _answered(self, tenant: str, call_id: str) -> Outcome | None:
        """The outcome of a job of which nothing is told, since another call had the answer already."""
        from handrail.core.run.perform import DUPLICATE_OF
        from handrail.store.outcomes import outcome_in

        entry = await self.jobs.get(call_id, tenant)
        if entry is None or entry.reason is None or not entry.reason.startswith(DUPLICATE_OF):
            return None
        earlier = entry.reason.removeprefix(DUPLICATE_OF)
        outcome = await self.db.read(tenant, partial(outcome_in, tenant=tenant, call_id=earlier))
        return None if outcome is None else replace(outcome, status="duplicate", call_id=call_id)

    async def _close(self) -> None:
        await self._tally.close()
        self.log.close()
        await self.db.flushed()
        self._let_go()

    def _let_go(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self.db.close()
        if self._unlock is not None:
            self._unlock()
