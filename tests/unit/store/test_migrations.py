"""Migrations: step by step to exactly the tables that the code knows."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine, inspect

from handrail import Handrail
from handrail.databases import upgrade as upgrade_all
from handrail.ext.errors import StorageError, UsageError
from handrail.store import migrate
from handrail.store.engines import make_engine
from handrail.store.migrate import REVISIONS, check, is_current, upgrade
from handrail.store.tables import metadata


def test_the_steps_follow_one_another_and_the_last_one_is_known() -> None:
    config = Config()
    config.set_main_option("script_location", "handrail.store:migrations")
    scripts = ScriptDirectory.from_config(config)
    assert [step.revision for step in scripts.walk_revisions()] == list(reversed(REVISIONS))
    made = [table for step in scripts.walk_revisions() for table in step.module.TABLES]
    assert sorted(made) == sorted(metadata.tables)


def test_a_migrated_database_has_the_tables_that_the_code_knows_and_nothing_else(database_url: str) -> None:
    upgrade(database_url)
    upgrade(database_url)
    engine = _owner(database_url)
    try:
        with engine.connect() as conn:
            ours = {"target_metadata": metadata, "compare_type": True, "include_name": _is_ours}
            assert compare_metadata(MigrationContext.configure(conn, opts=ours), metadata) == []
    finally:
        engine.dispose()


def _owner(url: str) -> Engine:
    return create_engine(url.replace("postgresql://", "postgresql+psycopg://"))


def _is_ours(name: str | None, kind: str, parents: object) -> bool:
    return kind != "table" or name in metadata.tables


def test_a_database_without_tables_is_refused_with_the_command_to_run(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(sqlite_url)
    try:
        assert not is_current(engine)
        with pytest.raises(UsageError, match=r"has no tables yet\. Run: handrail db upgrade"):
            check(engine, "x")
        upgrade(sqlite_url)
        assert is_current(engine) and inspect(engine).has_table("session_events")
        check(engine, "x")
        monkeypatch.setattr(migrate, "REVISIONS", (*REVISIONS, "0002_later"))
        with pytest.raises(
            UsageError, match=f"is at revision {REVISIONS[-1]}, and this version needs 0002_later"
        ):
            check(engine, "x")
        assert not is_current(engine)
    finally:
        engine.dispose()


@pytest.mark.parametrize(
    ("change", "stands"),
    [
        ("UPDATE alembic_version SET version_num = '0012'", "is at revision 0012"),
        ("UPDATE alembic_version SET version_num = '0001'", "is at revision 0001"),
        ("UPDATE alembic_version SET version_num = 'ae1027a6acf'", "is at revision ae1027a6acf"),
        ("DELETE FROM alembic_version", "has tables without a revision"),
    ],
)
def test_a_database_of_another_layout_is_refused_and_left_as_it_is(
    database_url: str, change: str, stands: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANDRAIL_KEY", "5a" * 32)
    owner = _owner(database_url)
    try:
        with owner.begin() as conn:
            conn.exec_driver_sql(change)
        before = _contents(owner)
        for attempt in (upgrade, upgrade_all, lambda url: Handrail([], database=url)):
            with pytest.raises(
                StorageError, match=f"{stands}.*Nothing was changed. Start with a new file or an"
            ):
                attempt(database_url)
        assert _contents(owner) == before
    finally:
        owner.dispose()


def test_no_table_of_the_job_engine_is_added_to_a_file_that_is_refused(sqlite_url: str) -> None:
    upgrade(sqlite_url)
    owner = _owner(sqlite_url)
    try:
        with owner.begin() as conn:
            conn.exec_driver_sql("UPDATE alembic_version SET version_num = '0012'")
        before = _contents(owner)
        with pytest.raises(StorageError, match="is at revision 0012"):
            upgrade_all(sqlite_url)
        assert _contents(owner) == before
    finally:
        owner.dispose()


@pytest.mark.parametrize("name", ["customers", "alembic_version"])
def test_tables_of_another_program_in_a_new_database_do_no_harm(sqlite_url: str, name: str) -> None:
    owner = _owner(sqlite_url)
    try:
        with owner.begin() as conn:
            conn.exec_driver_sql(f"CREATE TABLE {name} (version_num VARCHAR(32) NOT NULL)")
        upgrade_all(sqlite_url)
        assert is_current(owner)
    finally:
        owner.dispose()


def _contents(engine: Engine) -> list[object]:
    """Every table and its columns, and the revision."""
    with engine.connect() as conn:
        tables = inspect(conn)
        columns = [(name, repr(tables.get_columns(name))) for name in sorted(tables.get_table_names())]
        return [*columns, *conn.exec_driver_sql("SELECT version_num FROM alembic_version").all()]
