"""A migrated database with tenants in it, for tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from handrail.core.clock import Clock
from handrail.store.database import Database
from handrail.store.migrate import upgrade
from handrail.store.tenants import create_tenant


@dataclass
class FakeTime:
    """A clock that a test turns: the time of day and the ticks together."""

    at: float = 1_000_000.0
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.clock = Clock(now=lambda: self.at, ticks=lambda: self.at)

    def turn(self, seconds: float) -> None:
        self.at += seconds


@contextmanager
def tenant_database(url: str, time: FakeTime | None = None, *tenants: str) -> Iterator[Database]:
    """The database at the address, brought up to date, with these tenants."""
    upgrade(url)
    db = Database(url, time.clock if time is not None else None)
    try:
        for tenant in tenants:
            with db.transaction(tenant) as conn:
                create_tenant(conn, tenant, tenant.title(), at=0.0)
        yield db
    finally:
        db.close()
