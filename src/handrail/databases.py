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
from handrail.engine.backend import Backend

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from handrail.core.run.jobs.job import Jobs
    from handrail.core.run.jobs.perform import JobContext
    from handrail.identity.services import Services
    from handrail.jobs.durable_jobs import DurableJobs
    from handrail.store.database import Database
    from handrail.store.encryption import Seal
    from handrail.store.events.log import StoreLog
    from handrail.store.leases import Heartbeat

_EXTRAS = {"psycopg": "postgres"}


def open_database(url: str, clock: Clock, worker: bool, /) -> Backend:
    """What the engine finds behind an address: the entry point of the group `handrail.databases`."""
    try:
        return _OpenDatabase(url, clock, worker).backend()
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
    from handrail.store.file_lock import exclusive

    if dialect_of(url) == "sqlite":
        make_engine(url).dispose()  # says in words what is wrong with the address
        with exclusive(Path(make_url(url).database or "").resolve()):
            migrate.ensure_upgradable(url)
            queue.upgrade(url)
            migrate.upgrade(url)  # ours come last: they say that all is there
    else:
        migrate.upgrade(url)
        queue.upgrade(url)  # its tables are given to roles that ours bring along


def key_file(url: str) -> Path:
    """The file of the key that encrypts a database, unless HANDRAIL_KEY has it."""
    from sqlalchemy.engine import make_url

    address = make_url(url)
    if address.get_backend_name() == "sqlite" and address.database:
        return Path(f"{address.database}.key").absolute()
    home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return home / "handrail" / f"{address.database or 'handrail'}.key"


def database_seal(db: Database) -> Seal:
    """What encrypts and decrypts the secrets of a database."""
    from handrail.store.encryption import verified_seal

    with db.system() as conn:
        return verified_seal(conn, key_file(db.url))


def _lock_file(url: str) -> Callable[[], None]:
    """Take a SQLite file, which only one worker may have; call what comes back to let it go."""
    from sqlalchemy.engine import make_url

    from handrail.store.file_lock import FileLock

    lock = FileLock(Path(make_url(url).database or "").resolve(), "a Handrail server or worker")
    lock.take()
    return lock.free


class _OpenDatabase:
    """One open database."""

    db: Database
    seal: Seal
    log: StoreLog
    jobs: DurableJobs
    services: Services

    def __init__(self, url: str, clock: Clock, worker: bool) -> None:
        from handrail.identity.services import Services
        from handrail.jobs.durable_jobs import DurableJobs
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
                    self._unlock = _lock_file(url)
                if not migrate.is_current(self.db.engine):
                    upgrade(url)
            else:
                migrate.check(self.db.engine, self.db.name)
            self.seal = database_seal(self.db)
            self.services = Services(self.db, self.seal)
            self.log = StoreLog(self.db)
            self.jobs = DurableJobs(self.db, self.seal, self.log, worker=worker)
            self._heartbeat = Heartbeat(self.db, "worker" if worker else "guest")
            self._heartbeat.start()
        except BaseException:
            self._release()
            raise

    def backend(self) -> Backend:
        from handrail.store.approvals import StoreApprovals, StoreStandingApprovals
        from handrail.store.dead_letters import StoreDeadLetters
        from handrail.store.events.queries import outcome_of_call
        from handrail.store.idempotency import StoreIdempotencyKeys
        from handrail.store.leases import is_dead
        from handrail.store.pins import StorePins
        from handrail.store.plans import StorePlans
        from handrail.store.secrets import StoreSecrets
        from handrail.store.usage import StoreUsageMeter

        db = self.db
        self._usage_meter = StoreUsageMeter(db)
        return Backend(
            log=self.log,
            approvals=StoreApprovals(db, self.seal, self.jobs.approved),
            keys=StoreIdempotencyKeys(db, is_dead, outcome_of_call),
            dead_letters=StoreDeadLetters(db, self.seal, is_dead),
            standing=StoreStandingApprovals(db),
            plans=StorePlans(db, self.seal, is_dead),
            jobs=self._jobs,
            secrets=StoreSecrets(db, self.seal),
            resolver=self.services.bind_registry,
            usage_meter=self._usage_meter,
            find_outcomes=self._find_outcomes,
            settled=db.flushed,
            pins=StorePins(db),
            services=self.services,
            close=self._close,
        )

    def _jobs(self, work: Callable[[], JobContext]) -> Jobs:
        self.jobs.attach(work)
        return self.jobs

    async def _find_outcomes(self, call_ids: Collection[str]) -> list[tuple[str, Outcome]]:
        """How those of the calls ended that are over, wherever they ran."""
        from handrail.store.events.queries import outcome_of_call

        outcomes = []
        for tenant, call_id in await self.jobs.over(call_ids):
            outcome = await self.db.read(tenant, partial(outcome_of_call, tenant=tenant, call_id=call_id))
            outcome = outcome or await self._answered(tenant, call_id)
            if outcome is not None:
                outcomes.append((tenant, outcome))
        return outcomes

    async def _answered(self, tenant: str, call_id: str) -> Outcome | None:
        """The outcome of a job without events of its own, since another call had the answer already."""
        from handrail.core.run.jobs.perform import DUPLICATE_OF
        from handrail.store.events.queries import outcome_of_call

        entry = await self.jobs.get(call_id, tenant)
        if entry is None or entry.reason is None or not entry.reason.startswith(DUPLICATE_OF):
            return None
        earlier = entry.reason.removeprefix(DUPLICATE_OF)
        outcome = await self.db.read(tenant, partial(outcome_of_call, tenant=tenant, call_id=earlier))
        return None if outcome is None else replace(outcome, status="duplicate", call_id=call_id)

    async def _close(self) -> None:
        await self._usage_meter.close()
        self.log.close()
        await self.db.flushed()
        self._release()

    def _release(self) -> None:
        if self._heartbeat is not None:
            self._heartbeat.stop()
        self.db.close()
        if self._unlock is not None:
            self._unlock()
