"""SQLite files that several processes open at once."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from handrail.toolsets.sqlite_files import use_wal


def test_whoever_comes_while_a_file_is_made_waits_and_is_not_refused(tmp_path: Path) -> None:
    def opened() -> sqlite3.Connection:
        place = tmp_path / "x.db"
        return sqlite3.connect(place, timeout=0, isolation_level=None, check_same_thread=False)

    with closing(opened()) as first, closing(opened()) as second, ThreadPoolExecutor(1) as aside:
        first.execute("begin exclusive")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            use_wal(second, 0)
        waiting = aside.submit(use_wal, second, 30)
        first.execute("commit")
        waiting.result()
        assert second.execute("pragma journal_mode").fetchone() == ("wal",)
