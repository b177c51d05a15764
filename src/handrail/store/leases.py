"""Leases: which processes are alive. Each renews its own; one that does not is dead to the others.

Time is the database's own, so that clocks of different machines, or one that is set anew, do not matter.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Double, delete, func, select

from handrail.core.errors import UsageError
from handrail.store.database import Database
from handrail.store.statements import upsert
from handrail.store.tables.operations import leases, writers

_log = logging.getLogger("handrail.store")

TTL = 10.0
"""Seconds after which a process that was not heard of is dead, unless HANDRAIL_LEASE says otherwise."""
HOST = socket.gethostname()
IsDead = Callable[[Connection, str], bool]
"""(connection, holder): whether the process with this id is dead."""


@dataclass(frozen=True, slots=True)
class Lease:
    """One process that takes part."""

    holder: str
    host: str
    pid: int
    role: str
    seconds_left: float
    """Seconds until it is dead; negative when it is."""

    @property
    def alive(self) -> bool:
        return self.seconds_left > 0 and not (self.host == HOST and not is_running(self.pid))


def lease_seconds() -> float:
    """How long a lease holds."""
    text = os.environ.get("HANDRAIL_LEASE")
    if not text:
        return TTL
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.5 <= seconds <= 3600:
        raise UsageError(f"HANDRAIL_LEASE is a number of seconds from 0.5 to 3600, not {text!r}.")
    return seconds


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
    row = {
        "name": f"process:{holder}",
        "holder": holder,
        "host": HOST,
        "pid": os.getpid() if pid is None else pid,
        "role": role,
        "expires_at": database_time(conn) + ttl,
    }
    upsert(conn, leases, row)


def end_lease(conn: Connection, holder: str) -> None:
    """Record that a process has ended."""
    conn.execute(delete(leases).where(leases.c.name == f"process:{holder}"))


def list_leases(conn: Connection, *where: ColumnElement[bool]) -> list[Lease]:
    """All that have a lease, dead ones too."""
    seconds_left = (leases.c.expires_at - database_time(conn)).label("seconds_left")
    columns = (leases.c.holder, leases.c.host, leases.c.pid, leases.c.role, seconds_left)
    return [Lease(*row) for row in conn.execute(select(*columns).where(*where).order_by(leases.c.name))]


def is_alive(conn: Connection, holder: str) -> bool:
    """Whether a process is alive."""
    return any(lease.alive for lease in list_leases(conn, leases.c.name == f"process:{holder}"))


def is_dead(conn: Connection, holder: str) -> bool:
    """Whether a process is dead, or was never heard of: an `IsDead`."""
    return not is_alive(conn, holder)


def dead_holders(conn: Connection, holders: Iterable[str]) -> set[str]:
    """Those of the holders that are dead, or were never heard of."""
    suspects = set(holders)
    return suspects - {lease.holder for lease in list_leases(conn) if lease.alive} if suspects else set()


def delete_old_leases(conn: Connection, after: float = 3600.0) -> None:
    """Delete leases of processes that are dead for long, and the last groups of their writers."""
    conn.execute(delete(leases).where(leases.c.expires_at < database_time(conn) - after))
    conn.execute(delete(writers).where(writers.c.holder.not_in(select(leases.c.holder))))


class Heartbeat:
    """Renews the lease of this process, in a thread of its own: a busy loop must not end it."""

    def __init__(self, database: Database, role: str, ttl: float | None = None) -> None:
        self._database = database
        self._role = role
        self.ttl = lease_seconds() if ttl is None else ttl
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Take a lease and keep it renewed; raises when the database cannot be reached."""
        self._beat()
        self._thread = threading.Thread(target=self._work, name="handrail-lease", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the lease. What this process held is free at once."""
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
