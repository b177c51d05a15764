"""Leases: which processes are alive. Each renews its own; one that does not is dead to the others.

Time is the database's own, so that clocks of different machines, or a turned one, do not matter.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Double, delete, func, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from handrail.core.errors import UsageError
from handrail.store.database import Database
from handrail.store.tables import leases, writers

_log = logging.getLogger("handrail.store")

TTL = 10.0
"""Seconds after which a process that was not heard of is dead, unless HANDRAIL_LEASE says otherwise."""
HOST = socket.gethostname()


@dataclass(frozen=True, slots=True)
class Lease:
    """One process that said it was alive."""

    holder: str
    host: str
    pid: int
    role: str
    left: float
    """Seconds until it is dead; negative when it is."""

    @property
    def alive(self) -> bool:
        return self.left > 0 and not (self.host == HOST and not is_running(self.pid))


def lease_seconds() -> float:
    """How long a lease holds."""
    given = os.environ.get("HANDRAIL_LEASE")
    if not given:
        return TTL
    try:
        chosen = float(given)
    except ValueError:
        chosen = 0.0
    if not 0.5 <= chosen <= 3600:
        raise UsageError(f"HANDRAIL_LEASE is a number of seconds from 0.5 to 3600, not {given!r}.")
    return chosen


def is_running(pid: int) -> bool:
    """Whether this machine has a process with this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def database_time(conn: Connection) -> ColumnElement[Any]:
    """The time of the database, in seconds since 1970."""
    if conn.dialect.name == "postgresql":
        return func.extract("epoch", func.clock_timestamp()).cast(Double)
    return (func.julianday("now") - 2440587.5) * 86400.0


def renew_lease(
    conn: Connection, holder: str, role: str, ttl: float = TTL, *, pid: int | None = None
) -> None:
    """Say that a process is alive for the next `ttl` seconds."""
    insert = postgresql_insert if conn.dialect.name == "postgresql" else sqlite_insert
    row = {
        "name": f"process:{holder}",
        "holder": holder,
        "host": HOST,
        "pid": os.getpid() if pid is None else pid,
        "role": role,
        "expires_at": database_time(conn) + ttl,
    }
    conn.execute(insert(leases).values(row).on_conflict_do_update(index_elements=["name"], set_=row))


def end_lease(conn: Connection, holder: str) -> None:
    """Say that a process is no more."""
    conn.execute(delete(leases).where(leases.c.name == f"process:{holder}"))


def list_leases(conn: Connection) -> list[Lease]:
    """All that have a lease, dead ones too."""
    left = (leases.c.expires_at - database_time(conn)).label("left")
    columns = (leases.c.holder, leases.c.host, leases.c.pid, leases.c.role, left)
    return [Lease(*row) for row in conn.execute(select(*columns).order_by(leases.c.name))]


def is_alive(conn: Connection, holder: str) -> bool:
    """Whether a process is to be reckoned with."""
    left = (leases.c.expires_at - database_time(conn)).label("left")
    columns = (leases.c.holder, leases.c.host, leases.c.pid, leases.c.role, left)
    row = conn.execute(select(*columns).where(leases.c.name == f"process:{holder}")).first()
    return row is not None and Lease(*row).alive


def dead_holders(conn: Connection, holders: Iterable[str]) -> set[str]:
    """Those of the holders that are dead, or were never heard of."""
    asked = set(holders)
    return asked - {lease.holder for lease in list_leases(conn) if lease.alive} if asked else set()


def delete_old_leases(conn: Connection, after: float = 3600.0) -> None:
    """Forget those who are dead for long, and the last groups of writers that nobody remembers."""
    conn.execute(delete(leases).where(leases.c.expires_at < database_time(conn) - after))
    conn.execute(delete(writers).where(writers.c.holder.not_in(select(leases.c.holder))))


class Heartbeat:
    """Renews the lease of this process, in a thread of its own: a busy loop must not cost it its life."""

    def __init__(self, database: Database, role: str, ttl: float | None = None) -> None:
        self._database = database
        self._role = role
        self.ttl = lease_seconds() if ttl is None else ttl
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Be alive from here on; raises when the database cannot be told."""
        self._beat()
        self._thread = threading.Thread(target=self._work, name="handrail-lease", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Be no more. What this process had in hand is anybody's at once."""
        self._stop.set()
        if self._thread is None:
            return
        self._thread.join()
        self._thread = None
        try:
            with self._database.system() as conn:
                end_lease(conn, self._database.holder)
        except Exception:
            _log.warning("the lease could not be ended; it ends by itself", exc_info=True)

    def _work(self) -> None:
        while not self._stop.wait(self.ttl / 4):
            try:
                self._beat()
            except Exception:
                _log.warning("the lease could not be renewed, trying again", exc_info=True)

    def _beat(self) -> None:
        with self._database.system() as conn:
            renew_lease(conn, self._database.holder, self._role, self.ttl)
