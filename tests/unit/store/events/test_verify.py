"""verify finds what was done to a log by hand, and names it."""

from __future__ import annotations

import pytest

from handrail.store.database import Database
from handrail.store.events.log import StoreLog
from handrail.store.events.queries import UnreadableEvent
from handrail.store.events.rows import BLOB_THRESHOLD
from handrail.store.events.verify import LogFlaw, VerifiedSession, verify
from tests.unit.store.events.sample_events import completed, started
from tests.unit.store.events.tamper import without_triggers

pytestmark = [pytest.mark.req("BY-13"), pytest.mark.fault("F15")]

THIS = "tenant_id = 'acme' AND session_id = 's1' AND seq"


@pytest.fixture
def told(db: Database, log: StoreLog) -> Database:
    for n in range(6):
        begun = started(n, f"s{n % 2}")
        log.append(begun)
        log.append(completed(begun, value="x" * BLOB_THRESHOLD if n == 5 else n))
    log.settle()
    return db


def flaws(db: Database, tenant: str = "acme", session: str | None = None) -> list[tuple[object, ...]]:
    found = [one for one in verify(db, tenant, session) if isinstance(one, LogFlaw)]
    assert all(str(flaw).startswith(f"tenant {tenant}") for flaw in found)
    return [(flaw.session, flaw.seq, flaw.what) for flaw in found]


def test_a_log_that_nobody_touched_is_sound(told: Database, log: StoreLog) -> None:
    checked = [one for one in verify(told, "acme") if isinstance(one, VerifiedSession)]
    assert flaws(told) == [] and [(one.session, one.events) for one in checked] == [("s0", 6), ("s1", 6)]
    assert flaws(told, "nobody") == []
    log.append(started(7, "s1"))
    log.settle()
    assert flaws(told) == []


@pytest.mark.parametrize(
    "change",
    [
        "type = 'tool.failed'",
        "at = at + 1",
        "started_at = started_at + 1",
        "started_at = NULL",
        "call_id = 'else'",
        "run_id = NULL",
        "tool = 'else'",
        "user_id = 'eve'",
        "agent = NULL",
        "source = 'web'",
        "code = 'X'",
        "code = '\t'",
        "payload = '{}'",
        "position = 0",
    ],
)
def test_a_changed_row_is_named(told: Database, change: str) -> None:
    without_triggers(told, f"UPDATE session_events SET {change} WHERE {THIS} = 3")
    [(session, seq, what)] = flaws(told)
    assert (session, seq) == ("s1", 3) and "changed" in str(what)


@pytest.mark.parametrize("change", ["payload = 'x'", "payload = 'blob ' || blob, blob = NULL"])
def test_a_row_that_is_made_to_look_like_one_with_a_large_payload_is_named(
    told: Database, change: str
) -> None:
    without_triggers(told, f"UPDATE session_events SET {change} WHERE {THIS} = 6")
    [(session, seq, what)] = flaws(told)
    assert (session, seq) == ("s1", 6) and "changed" in str(what)


@pytest.mark.parametrize(
    "change", ["DELETE FROM event_heads", "UPDATE event_heads SET position = 11 WHERE tenant_id = 'acme'"]
)
def test_a_count_that_was_lost_or_lowered_shows(told: Database, change: str) -> None:
    without_triggers(told, change)
    [(session, _, what)] = flaws(told)
    assert session is None and "not counted" in str(what)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE session_events SET payload = 'null' WHERE seq = 3",
        "UPDATE session_events SET payload = '{' WHERE seq = 3",
        "UPDATE session_events SET type = 'tool.danced' WHERE seq = 3",
        "DELETE FROM blobs",
    ],
)
def test_an_event_that_cannot_be_read_says_so_and_what_to_do(
    told: Database, log: StoreLog, change: str
) -> None:
    without_triggers(told, change)
    with pytest.raises(UnreadableEvent, match=r"of session 's1' of acme cannot be read.*handrail verify-log"):
        list(log.read("acme", session="s1"))


def test_a_changed_hash_shows_in_the_row_and_in_the_next(told: Database) -> None:
    without_triggers(told, f"UPDATE session_events SET hash = 'ab' WHERE {THIS} = 3")
    assert [(session, seq) for session, seq, _ in flaws(told)] == [("s1", 3), ("s1", 4)]


def test_a_removed_row_is_named(told: Database) -> None:
    without_triggers(told, f"DELETE FROM session_events WHERE {THIS} IN (3, 4)")
    missing, total = flaws(told)
    assert missing == ("s1", 3, "events 3 to 4 missing")
    assert total[:2] == (None, None) and "12 events were written and 10 are there" in str(total[2])
    assert flaws(told, session="s1") == [missing]


def test_a_log_cut_short_is_named(told: Database) -> None:
    without_triggers(told, f"DELETE FROM session_events WHERE {THIS} > 4")
    cut, total = flaws(told)
    assert cut[:2] == ("s1", 5) and "had 6 events" in str(cut[2]) and total[0] is None


def test_a_session_that_was_removed_wholly_is_missed(told: Database) -> None:
    gone = "session_events WHERE session_id = 's0'", "sessions WHERE id = 's0'"
    without_triggers(told, *(f"DELETE FROM {rows}" for rows in gone))
    [(session, _, what)] = flaws(told)
    assert session is None and "12 events were written and 6 are there" in str(what)


def test_an_event_that_was_put_in_is_named(told: Database) -> None:
    names = "type, at, started_at, call_id, run_id, tool, user_id, agent, source, code, hash, blob, payload"
    without_triggers(
        told,
        f"INSERT INTO session_events (tenant_id, session_id, seq, position, {names}) "
        f"SELECT tenant_id, session_id, 7, 99, {names} FROM session_events WHERE {THIS} = 2",
    )
    (session, seq, what), (_, _, total) = flaws(told)
    assert (session, seq) == ("s1", 7) and "does not fit" in str(what)
    assert "not counted" in str(total)


def test_rows_that_changed_places_are_named(told: Database) -> None:
    without_triggers(
        told,
        f"UPDATE session_events SET seq = 77 WHERE {THIS} = 3",
        f"UPDATE session_events SET seq = 3 WHERE {THIS} = 4",
        f"UPDATE session_events SET seq = 4 WHERE {THIS} = 77",
    )
    assert [seq for _, seq, _ in flaws(told)] == [3, 4, 5]


def test_a_head_that_was_changed_is_named(told: Database) -> None:
    without_triggers(told, "UPDATE sessions SET last_hash = 'ab' WHERE id = 's1'")
    assert flaws(told) == [("s1", 6, "it is not the event that the session ended with")]


def test_events_without_a_head_are_named(told: Database) -> None:
    without_triggers(told, "DELETE FROM sessions WHERE id = 's1'")
    [(session, seq, what)] = flaws(told)
    assert (session, seq) == ("s1", None) and "no head" in str(what)


def test_a_large_payload_that_was_changed_or_removed_is_named(told: Database) -> None:
    kind = "BLOB" if told.dialect == "sqlite" else "bytea"
    without_triggers(told, f"UPDATE blobs SET content = CAST('{{}}' AS {kind})")
    [(session, seq, what)] = flaws(told)
    assert (session, seq) == ("s1", 6) and str(what).endswith("was changed")
    without_triggers(told, "DELETE FROM blobs")
    [(session, seq, what)] = flaws(told)
    assert (session, seq) == ("s1", 6) and str(what).endswith("is missing")
