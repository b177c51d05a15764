"""Migrations: step by step to exactly the tables that the code knows."""

from __future__ import annotations

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from handrail.ext import UsageError
from handrail.store.engines import make_engine
from handrail.store.migrate import HEAD, check, is_current, upgrade
from handrail.store.tables import metadata


def test_the_steps_follow_one_another_and_the_last_one_is_known() -> None:
    config = Config()
    config.set_main_option("script_location", "handrail.store:migrations")
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_heads() == [HEAD]
    made = [table for step in scripts.walk_revisions() for table in step.module.TABLES]
    assert sorted(made) == sorted(metadata.tables)


def test_a_migrated_database_has_the_tables_that_the_code_knows_and_nothing_else(database_url: str) -> None:
    upgrade(database_url)
    upgrade(database_url)
    address = database_url.replace("postgresql://", "postgresql+psycopg://")
    engine = create_engine(address)
    try:
        with engine.connect() as conn:
            ours = {"target_metadata": metadata, "compare_type": True, "include_name": _is_ours}
            assert compare_metadata(MigrationContext.configure(conn, opts=ours), metadata) == []
    finally:
        engine.dispose()


def _is_ours(name: str | None, kind: str, parents: object) -> bool:
    return kind != "table" or name in metadata.tables


def test_a_database_without_tables_is_refused_with_the_command_to_run(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    try:
        assert not is_current(engine)
        with pytest.raises(UsageError, match=r"has no tables yet\. Run: handrail db upgrade"):
            check(engine, "x")
        upgrade(sqlite_url)
        assert is_current(engine) and inspect(engine).has_table("session_events")
        check(engine, "x")
        with engine.begin() as conn:
            conn.exec_driver_sql("UPDATE alembic_version SET version_num = '0003'")
        with pytest.raises(UsageError, match=f"is at revision 0003, and this version needs {HEAD}"):
            check(engine, "x")
    finally:
        engine.dispose()
