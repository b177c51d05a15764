"""What the pages read of the record: the story of a call, sessions by name, and the files of a result."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from handrail import Attachment, Principal, Result
from handrail.core.define.call import BoundCall
from handrail.core.tell.events import OutputAppended
from handrail.ext.events import ToolCompleted, ToolStarted
from handrail.store import blobs
from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.events.queries import events_of_call, list_sessions
from handrail.store.events.rows import MAX_FILE_BYTES

ANA = Principal("acme", "user_ana")


@pytest.fixture(params=["sqlite", "postgresql"])
def log(request: pytest.FixtureRequest) -> Iterator[StoreLog]:
    url = request.getfixturevalue("postgres_url" if request.param == "postgresql" else "migrated_sqlite_url")
    db = Database(url)
    store = StoreLog(db)
    try:
        yield store
    finally:
        store.close()
        db.close()


def ran(log: StoreLog, id: str, session: str | None = None, result: Result | None = None) -> None:
    call = BoundCall("t", ANA, id, source="web", session=session)
    log.append(ToolStarted(call, "t", 1.0, f"run_{id}", {}))
    for at in range(3):
        log.append(OutputAppended(call, "t", 1.0, f"run_{id}", str(at)))
    log.append(ToolCompleted(call, "t", 2.0, f"run_{id}", result or Result(), 1.0))


def names(
    log: StoreLog, *, named: bool = False, prefix: str = "", after: str | None = None, limit: int = 50
) -> list[str]:
    with log.db.reading("acme") as conn:
        found = list_sessions(conn, "acme", named=named, prefix=prefix, after=after, limit=limit)
    return [one.id for one in found]


async def test_sessions_of_single_calls_are_left_out_and_names_can_be_looked_for(log: StoreLog) -> None:
    for at in range(3):
        ran(log, f"call_{at}")
    for at, session in enumerate(("alpha", "BoundCall:me", "call", "caller", "calm", "beta", "be%ta")):
        ran(log, f"named_{at}", session)
    await log.db.flushed()
    every = names(log)
    assert len([one for one in every if one.startswith("call:")]) == 3
    assert names(log, named=True) == [one for one in every if not one.startswith("call:")]
    assert sorted(names(log, named=True, prefix="be")) == ["be%ta", "beta"]
    assert names(log, prefix="be%") == ["be%ta"]
    paged = names(log, named=True, limit=3)
    assert paged + names(log, named=True, after=paged[-1]) == names(log, named=True)


async def test_the_story_of_a_call_comes_without_its_output(log: StoreLog) -> None:
    ran(log, "call_1", "s")
    ran(log, "call_2", "s")
    await log.db.flushed()
    with log.db.reading("acme") as conn:
        told = events_of_call(conn, "acme", "call_1")
    assert [(one.kind, one.call_id) for one in told] == [("started", "call_1"), ("completed", "call_1")]


async def test_the_files_of_a_result_are_kept_under_the_names_that_it_tells(log: StoreLog) -> None:
    small, large = Attachment("a/b", "a", b"\x00\xff"), Attachment("a/b", "b", b"x" * (MAX_FILE_BYTES + 1))
    elsewhere = Attachment("a/b", "c", ref="s3:somewhere")
    ran(log, "call_1", None, Result(attachments=(small, large, elsewhere)))
    ran(log, "call_2", None, Result(attachments=(small,)))
    await log.db.flushed()
    with log.db.reading("acme") as conn:
        [_, end] = events_of_call(conn, "acme", "call_1")
        assert isinstance(end, ToolCompleted)
        refs = [(one.ref or "").removeprefix("sha256:") for one in end.result.attachments]
        assert blobs.get(conn, "acme", refs) == {refs[0]: b"\x00\xff"}
    with log.db.reading("other") as conn:
        assert blobs.get(conn, "other", refs) == {}
