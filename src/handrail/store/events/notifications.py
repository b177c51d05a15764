"""Notifications: how a process learns what others have written, while anybody in it follows the log."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Connection

from handrail.core.tell.follow import LogNotifier
from handrail.store.database import Database

_log = logging.getLogger("handrail.store")

CHANNEL = "handrail_events"
_POLL_SECONDS = 0.05
"""Seconds between two looks at SQLite's number."""
_LISTEN_SECONDS = 0.5
"""Seconds after which a listener checks whether it is still needed."""
_MAX_NOTES = 20
_RETRY_SECONDS = 1.0


def notify_sessions(conn: Connection, tenant: str, sessions: Sequence[str]) -> None:
    """Notify the other processes, once this is committed, of the sessions with new events."""
    if conn.dialect.name != "postgresql":
        return
    notes = [f"{tenant}\n{session}" for session in sessions] if len(sessions) <= _MAX_NOTES else [tenant]
    conn.exec_driver_sql("SELECT pg_notify(%s, note) FROM unnest(%s::text[]) AS note", (CHANNEL, notes))


class NotificationListener:
    """A thread that notifies of what others commit; it runs while somebody follows."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._lock = threading.Lock()
        self._over: threading.Event | None = None
        self._closed = False
        self.notifier = LogNotifier(self._changed)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._end()

    def _changed(self) -> None:
        with self._lock:
            if not self.notifier or self._closed:
                self._end()
            elif self._over is None:
                over = self._over = threading.Event()
                wait = self._poll if self._db.dialect == "sqlite" else self._listen
                args = (wait, over)
                threading.Thread(target=self._run, args=args, name="handrail-signals", daemon=True).start()

    def _end(self) -> None:
        if self._over is not None:
            self._over.set()
            self._over = None

    def _run(self, wait: Any, over: threading.Event) -> None:
        """Wait for changes until nobody follows; when the database is away, connect again."""
        while not over.is_set():
            try:
                with self._db.engine.connect() as conn:
                    conn.detach()  # a connection of its own, not one that queries wait for
                    wait(conn.connection.dbapi_connection, over)
            except Exception as error:
                _log.warning("what other processes tell is not heard for a moment: %s", error)
                over.wait(_RETRY_SECONDS)

    def _poll(self, connection: Any, over: threading.Event) -> None:
        seen = None
        while not over.is_set():
            version = connection.execute("PRAGMA data_version").fetchone()
            if version != seen:
                seen = version
                self.notifier.notify_all()
            over.wait(_POLL_SECONDS)

    def _listen(self, connection: Any, over: threading.Event) -> None:
        connection.rollback()
        connection.autocommit = True
        connection.execute(f"LISTEN {CHANNEL}")
        self.notifier.notify_all()
        while not over.is_set():
            for note in connection.notifies(timeout=_LISTEN_SECONDS):
                tenant, _, session = note.payload.partition("\n")
                self.notifier.notify(tenant, (session,) if session else None)
                if over.is_set():
                    return
