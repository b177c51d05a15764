"""How databases are opened: to their owner alone, and with errors that give nothing away."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from handrail.core.errors import UsageError
from handrail.identity.api_keys import KeyAdmin
from handrail.identity.members import MemberAdmin
from handrail.identity.permissions import console_principal
from handrail.store.database import Database
from handrail.store.engines import dialect_of, make_engine
from handrail.store.migrate import upgrade


@pytest.fixture
def migrated_url(database_url: str) -> str:
    if database_url.startswith("sqlite"):
        upgrade(database_url)
    return database_url


@pytest.mark.req("BY-19")
def test_a_new_sqlite_file_and_all_beside_it_are_the_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        upgrade(f"sqlite:///{tmp_path / 'new.db'}")
        with make_engine(f"sqlite:///{tmp_path / 'new.db'}").connect() as conn:
            conn.execute(text("SELECT 1 FROM tenants"))
            modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert set(modes) >= {"new.db", "new.db-wal"} and set(modes.values()) == {0o600}


def test_the_mode_of_a_file_that_is_there_is_left_to_whoever_set_it(tmp_path: Path) -> None:
    file = tmp_path / "shared.db"
    file.touch(mode=0o640)
    file.chmod(0o640)
    upgrade(f"sqlite:///{file}")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    "url",
    [
        "mysql://ana:hunter2@host/db",
        "postgresql://ana:hunter2@host:port/db",
        "nonsense://ana:hun@ter2@host",
        "://ana:hunter2@host",
    ],
)
def test_what_is_no_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a database") as refused:
        dialect_of(url)
    assert "hun" not in str(refused.value) and "host" in str(refused.value)


@pytest.mark.req("BY-19")
def test_an_error_of_the_database_does_not_show_what_was_to_be_written(migrated_url: str) -> None:
    engine = make_engine(migrated_url)
    try:
        with engine.connect() as conn, pytest.raises(DBAPIError) as failed:
            conn.execute(text("INSERT INTO nowhere VALUES (:a)"), {"a": "hunter2"})
    finally:
        engine.dispose()
    assert "hunter2" not in str(failed.value)


@pytest.mark.fault("F30")
async def test_text_that_no_database_keeps_is_told_in_words(migrated_url: str) -> None:
    db = Database(migrated_url)
    people, keys = MemberAdmin(db), KeyAdmin(db)
    try:
        await people.create_tenant("acme", "Acme")
        odd = ["half \ud800"] if db.dialect == "sqlite" else ["half \ud800", "nul \0"]
        for one in odd:
            for attempt in (
                people.create_tenant("other", one),
                people.rename_tenant(console_principal("acme"), one),
                people.add_member(console_principal("acme"), "ana@example.com", ["viewer"], name=one),
                keys.make(console_principal("acme"), one),
                keys.revoke(console_principal("acme"), one),
            ):
                with pytest.raises(UsageError, match="which no database keeps"):
                    await attempt
        await people.rename_tenant(console_principal("acme"), "Acme Berlin")
        assert [tenant.name for tenant in await people.tenants()] == ["Acme Berlin"]
    finally:
        db.close()
