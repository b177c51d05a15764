"""Gate: the writers of one process take turns at a SQLite file.

SQLite lets those who find it locked sleep and try again, ever longer. Within a process we know better:
whoever waits is woken when it is their turn. Writers of other processes are met in SQLite's own way.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

_PATIENCE = 30.0
"""Seconds after which a turn is taken without leave: SQLite itself still sees to it that only one writes."""
_gates: dict[str, threading.Lock] = {}
_making = threading.Lock()


def gate_of(engine: Engine) -> threading.Lock:
    """The gate of the file that an engine opens."""
    path = str(Path(engine.url.database or "").resolve())
    with _making:
        return _gates.setdefault(path, threading.Lock())


def guard(engine: Engine) -> None:
    """Let connections of this engine pass the gate with their first change, until they are given back."""
    gate = gate_of(engine)

    @event.listens_for(engine, "before_cursor_execute")
    def enter(conn: Connection, cursor: Any, statement: str, *_: Any) -> None:
        if "gate" not in conn.info and statement.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE"):
            conn.info["gate"] = gate.acquire(timeout=_PATIENCE)

    @event.listens_for(engine, "checkin")
    def leave(connection: Any, record: Any) -> None:
        if record.info.pop("gate", False):
            gate.release()
