"""What every test may rely on: `async def` tests run, Hypothesis has no deadline, databases are real."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import shutil
import signal
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.databases import TEMPLATE, Postgres, migrated

# Tests begin many jobs of one tenant and let them wait for each other.
os.environ.setdefault("HANDRAIL_PER_TENANT", "32")

# What a script starts in the background is deaf to Ctrl-C, and so would be what tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# As many examples as `make test` has time for; HANDRAIL_EXAMPLES=1000 looks longer.
EXAMPLES = int(os.environ.get("HANDRAIL_EXAMPLES", "50"))
settings.register_profile(
    "dev", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=EXAMPLES
)
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Give an `async def` test a fresh loop, and each example of a `@given` one too."""
    test = pyfuncitem.obj
    given = getattr(test, "hypothesis", None)
    if given is not None and inspect.iscoroutinefunction(given.inner_test):
        given.inner_test = _blocking(given.inner_test)
        return None
    if not inspect.iscoroutinefunction(test):
        return None
    names = inspect.signature(test).parameters
    _blocking(test)(**{name: value for name, value in pyfuncitem.funcargs.items() if name in names})
    return True


def _blocking(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs), debug=False)

    return run


_SHARED = pytest.StashKey[Postgres]()


def pytest_configure(config: pytest.Config) -> None:
    """Choose where the shared PostgreSQL will lie; whoever needs it first starts it."""
    given = getattr(config, "workerinput", {}).get("postgres")
    shared = config.stash[_SHARED] = Postgres(Path(given)) if given else Postgres.temporary()
    os.environ["XDG_DATA_HOME"] = str(shared.folder / "share")  # for keys of databases, not those at home


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell each worker process where it is."""
    node.workerinput["postgres"] = str(node.config.stash[_SHARED].folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.stash[_SHARED].remove()


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> Postgres:
    """The PostgreSQL that all tests share. Do not stop it: `own_postgres` is for that."""
    server = pytestconfig.stash[_SHARED]
    with server.locked():
        if not server.running:
            server.start()
        server.template(migrated)
    return server


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A PostgreSQL of this test alone, which it may stop, restart and break."""
    server = Postgres.temporary()
    server.start()
    try:
        server.template(migrated)
        yield server
    finally:
        server.remove()


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """A fresh database of the shared PostgreSQL, migrated."""
    name = postgres.create(TEMPLATE)
    try:
        yield postgres.url(name)
    finally:
        postgres.drop(name)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Where a SQLite file may be made."""
    return f"sqlite:///{tmp_path / 'handrail.db'}"


@pytest.fixture(scope="session")
def sqlite_template(pytestconfig: pytest.Config) -> Path:
    """A SQLite file that was migrated once, for all who copy it."""
    shared = pytestconfig.stash[_SHARED]
    file = shared.folder / "template.db"
    with shared.locked():
        if not file.exists():
            made = file.with_suffix(".new")
            migrated(f"sqlite:///{made}")
            made.rename(file)
    return file


@pytest.fixture
def migrated_sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """A fresh SQLite file, migrated."""
    return f"sqlite:///{shutil.copyfile(sqlite_template, tmp_path / 'handrail.db')}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh database, migrated: once each on SQLite and on PostgreSQL."""
    name = "migrated_sqlite_url" if request.param == "sqlite" else "postgres_url"
    return str(request.getfixturevalue(name))
