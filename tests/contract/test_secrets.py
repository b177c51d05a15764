"""Secrets reach a body through its context, and nobody else: in memory, on SQLite, on PostgreSQL."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from handrail import Context, Handrail, Principal, tool
from handrail.core.errors import UsageError
from handrail.store.database import Database
from handrail.store.encryption import (
    MissingKey,
    Seal,
    known_key_ids,
    retire_key,
    rotate_key_file,
    verified_seal,
)
from handrail.store.secrets import StoreSecrets, delete_secret, list_secrets, read_secret
from handrail.testing import FakeClock
from tests.contract.backends import KINDS, Backend, backend_of

pytestmark = pytest.mark.req("BY-19")
ANA = Principal("acme", "ana")
TOKEN = "t0p-s3cret-4711"


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


def kept_in(place: Backend) -> tuple[StoreSecrets, Database]:
    db = place.process().rows
    return StoreSecrets(db, place.seal), db


@tool("bank.use", level="read")
async def use(name: str, ctx: Context) -> str:
    """Use a secret."""
    return f"used {ctx.secret(name)}"


async def test_a_body_gets_the_secret_and_no_record_shows_it(
    place: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    source: Any = {"token": TOKEN}
    if place.url is not None:
        source, _ = kept_in(place)
        await source.set("acme", "token", TOKEN, by="root")
    with caplog.at_level(logging.DEBUG):
        async with Handrail([use], secrets=source) as hr:
            out = await hr.call("bank.use", {"name": "token"}, principal=ANA)
            missing = await hr.call("bank.use", {"name": "other"}, principal=ANA)
            told = repr([event.to_dict() for event in hr.log.read("acme")])
    assert (out.status, out.result.data) == ("completed", "used •••")
    assert missing.code == "SECRET_MISSING"
    assert TOKEN not in told + caplog.text + repr(out) + (repr(source) if place.url else "")


async def test_a_users_own_credential_comes_before_the_tenants(rows: Backend) -> None:
    secrets, _ = kept_in(rows)
    await secrets.set("acme", "token", "the tenant's")
    await secrets.set("acme", "token", "ana's own", user="ana")
    await secrets.set("acme", "private", "bo's own", user="bo")
    await secrets.set("other", "token", "another's")
    assert secrets("token", ANA) == "ana's own"
    assert secrets("token", Principal("acme", "bo")) == secrets("token", Principal("acme")) == "the tenant's"
    assert secrets("private", ANA) is None and secrets("private", Principal("acme", "bo")) == "bo's own"
    assert secrets("token", Principal("third", "ana")) is None


async def test_names_are_listed_and_values_never(rows: Backend) -> None:
    secrets, db = kept_in(rows)
    await secrets.set("acme", "token", TOKEN, by="root")
    await secrets.set("acme", "token", TOKEN + "!", user="ana", by="ana")
    await secrets.set("acme", "mail", TOKEN, user="bo")
    listed = await secrets.list("acme", user="ana")
    assert [(one.name, one.user, one.updated_by) for one in listed] == [
        ("token", None, "root"),
        ("token", "ana", "ana"),
    ]
    assert [one.user for one in await secrets.list("acme")] == [None] and await secrets.list("other") == []
    with db.reading("acme") as conn:
        told = repr(conn.exec_driver_sql("SELECT * FROM secrets").all())
    assert TOKEN not in told + repr(listed) + repr(secrets)


async def test_what_was_changed_or_deleted_holds_at_once_here_and_soon_elsewhere(rows: Backend) -> None:
    secrets, _ = kept_in(rows)
    elsewhere, _ = kept_in(rows)
    await secrets.set("acme", "token", "old")
    assert secrets("token", ANA) == elsewhere("token", ANA) == "old"
    await secrets.set("acme", "token", "new")
    assert secrets("token", ANA) == "new"
    rows.clock.turn(5)
    assert elsewhere("token", ANA) == "new"
    assert await secrets.delete("acme", "token") and not await secrets.delete("acme", "token")
    assert secrets("token", ANA) is None
    rows.clock.turn(5)
    assert elsewhere("token", ANA) is None


@pytest.mark.parametrize(
    ("name", "value", "user"),
    [("", "x", None), ("n" * 201, "x", None), ("a\x00b", "x", None), ("n", "", None), ("n", "x", "")],
)
async def test_what_is_no_secret_is_refused_in_words(
    rows: Backend, name: str, value: str, user: str | None
) -> None:
    secrets, _ = kept_in(rows)
    with pytest.raises(UsageError):
        await secrets.set("acme", name, value, user=user)
    assert secrets("a\x00b", ANA) is None


async def test_a_row_that_was_moved_to_another_name_or_tenant_opens_nothing(rows: Backend) -> None:
    secrets, db = kept_in(rows)
    await secrets.set("acme", "token", TOKEN)
    with db.system() as conn:
        conn.exec_driver_sql("UPDATE secrets SET name = 'other'")
    with pytest.raises(UsageError, match="another place"):
        secrets("other", ANA)
    with db.system() as conn:
        conn.exec_driver_sql("UPDATE secrets SET name = 'token', tenant_id = 'evil'")
    with pytest.raises(UsageError, match="another place"):
        secrets("token", Principal("evil", "eve"))


async def test_a_foreign_tenant_reads_lists_and_deletes_nothing(rows: Backend) -> None:
    secrets, db = kept_in(rows)
    await secrets.set("acme", "token", TOKEN)
    with db.transaction("other") as conn:
        assert read_secret(conn, "other", "token", None, rows.seal) is None
        assert list_secrets(conn, "other") == [] and not delete_secret(conn, "other", "token")
    assert secrets("token", ANA) == TOKEN


Prove = Callable[..., Seal]


@pytest.fixture
def prove(database_url: str, tmp_path: Path) -> Iterator[Prove]:
    """Opens the seal of one database, as a process that starts would."""
    from handrail.store.migrate import upgrade

    upgrade(database_url)
    db = Database(database_url, FakeClock())

    def proving(name: str = "handrail.key", **environ: str) -> Seal:
        with db.transaction("acme") as conn:
            return verified_seal(conn, tmp_path / name, environ)

    proving.db = db  # type: ignore[attr-defined]
    yield proving
    db.close()


def test_a_database_opens_again_with_its_key_and_with_no_other(prove: Prove, tmp_path: Path) -> None:
    first = prove()
    assert prove().newest == first.newest
    with pytest.raises(MissingKey, match="not in HANDRAIL_KEY"):
        prove(HANDRAIL_KEY="11" * 32)
    (tmp_path / "handrail.key").unlink()
    with pytest.raises(MissingKey, match="Put the key back"):
        prove()
    assert not (tmp_path / "handrail.key").exists()


def test_a_second_machine_with_a_key_of_its_own_is_refused(prove: Prove, tmp_path: Path) -> None:
    prove()
    (tmp_path / "there").mkdir()
    with pytest.raises(MissingKey):
        prove("there/handrail.key")


def test_keys_are_changed_and_old_ones_let_go(prove: Prove, tmp_path: Path) -> None:
    old = prove()
    rotate_key_file(tmp_path / "handrail.key")
    new = prove()
    assert new.newest != old.newest and prove().newest == new.newest
    db: Database = prove.db  # type: ignore[attr-defined]
    with db.transaction("acme") as conn:
        assert known_key_ids(conn) == {old.newest, new.newest}
        assert retire_key(conn, old.newest) and not retire_key(conn, old.newest)
    newest = (tmp_path / "handrail.key").read_text().splitlines()[0]
    (tmp_path / "handrail.key").write_text(newest)
    assert prove().key_ids == {new.newest}
