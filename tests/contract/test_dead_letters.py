"""What every place for dead letters does: in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from handrail import Principal
from handrail.core.define.call import BoundCall
from handrail.ext.errors import UsageError
from handrail.ext.ports import DeadLetter, MemoryDeadLetters
from tests.contract.backends import KINDS, Backend, BackendProcess, backend_of

pytestmark = pytest.mark.req("RT-02", "RT-04", "RT-06")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


def letter(number: int, tenant: str = "acme", **given: Any) -> DeadLetter:
    session = given.pop("session", "s1")
    call_id = given.pop("call_id", f"call-{number}")
    call = BoundCall("mail.send", Principal(tenant=tenant, user="ana"), call_id, session=session)
    told = {"tool": "mail.send", "args": {"to": "bo"}, "error": "gone", "code": "TOOL_FAILED", "attempts": 1}
    return DeadLetter(**{"id": f"letter-{number}", "call": call, "at": float(number), **told, **given})


async def kept(place: Backend, *letters: DeadLetter) -> BackendProcess:
    process = place.process()
    for one in letters:
        process.letters.add(one)
    await process.settled()
    return place.process()


@pytest.mark.parametrize("error", ["gone", "", "nul \x00 and half \ud800 a pair", "x" * 10_000])
async def test_what_was_added_is_found_as_it_was(place: Backend, error: str) -> None:
    one = letter(
        1,
        error=error,
        raw={"to": "bo", "pin": "4711"},
        secrets=frozenset({"t0p"}),
        earlier_errors=("a", "b\x00"),
        attempts=3,
    )
    letters = (await kept(place, one)).letters
    found = await letters.get("letter-1", "acme")
    assert found == one
    assert found is not None and found.raw == {"to": "bo", "pin": "4711"} and found.secrets == {"t0p"}
    assert await letters.get("letter-2", "acme") is None


async def test_another_tenant_finds_takes_and_removes_nothing(place: Backend) -> None:
    letters = (await kept(place, letter(1))).letters
    assert await letters.get("letter-1", "other") is None
    assert await letters.list("other") == []
    assert await letters.take("letter-1", "other", "call-9") is None
    assert await letters.remove(["letter-1"], "other") == 0
    assert await letters.take("letter-1", "acme", "call-8") is not None
    await letters.ended("call-8", "other", True)
    letters.doubt("call-8", "other")
    found = await letters.get("letter-1", "acme")
    assert found is not None and found.status == "replaying"


async def test_letters_are_listed_by_what_they_are_newest_last(place: Backend) -> None:
    letters = (
        await kept(
            place,
            letter(1, code="TIMEOUT"),
            letter(2, tool="mail.read", session="s2"),
            letter(3, tenant="other"),
            letter(4, session=None),
        )
    ).letters
    await letters.take("letter-4", "acme", "call-9")

    async def ids(**filters: Any) -> list[str]:
        return [one.id for one in await letters.list("acme", **filters)]

    assert await ids() == ["letter-1", "letter-2", "letter-4"]
    assert await ids(tool="mail.send") == ["letter-1", "letter-4"]
    assert await ids(session="s2") == ["letter-2"]
    assert await ids(session="call:call-4") == ["letter-4"]
    assert await ids(code="TIMEOUT") == ["letter-1"]
    assert await ids(status="open") == ["letter-1", "letter-2"]
    assert await ids(status="replaying") == ["letter-4"]
    assert await ids(status="unknown") == []
    assert await ids(since=2, before=4) == ["letter-2"]
    assert await ids(tool="mail.send", code="TIMEOUT", session="s2") == []


@pytest.mark.req("RT-03")
async def test_a_letter_is_taken_once_and_open_again_when_the_replay_did_not_help(place: Backend) -> None:
    letters = (await kept(place, letter(1))).letters
    taken = await letters.take("letter-1", "acme", "call-8")
    assert taken == replace(letter(1), status="replaying", replays=("call-8",))
    assert await place.process().letters.take("letter-1", "acme", "call-9") is None
    await letters.ended("call-8", "acme", False)
    again = await place.process().letters.take("letter-1", "acme", "call-9")
    assert again is not None and again.replays == ("call-8", "call-9")


async def test_a_replay_that_comes_late_does_not_open_what_another_has_in_hand(place: Backend) -> None:
    letters = (await kept(place, letter(1))).letters
    for call_id in ("call-7", "call-8"):
        assert await letters.take("letter-1", "acme", call_id) is not None
        await letters.ended(call_id, "acme", False)
    await letters.take("letter-1", "acme", "call-9")
    await letters.ended("call-7", "acme", False)
    assert await letters.take("letter-1", "acme", "call-10") is None


@pytest.mark.parametrize("final", ["replayed", "unknown"])
async def test_what_is_final_stays_so(place: Backend, final: str) -> None:
    process = await kept(place, letter(1))
    letters = process.letters
    await letters.take("letter-1", "acme", "call-8")
    if final == "replayed":
        await letters.ended("call-8", "acme", True)
    else:
        letters.doubt("call-8", "acme")
    await letters.ended("call-8", "acme", False)
    assert await letters.take("letter-1", "acme", "call-9") is None
    found = await letters.get("letter-1", "acme")
    assert found is not None and found.status == final


async def test_of_many_at_once_in_two_processes_one_takes_it(place: Backend) -> None:
    both = [await kept(place, letter(1)), place.process()]
    tries = (both[n % 2].letters.take("letter-1", "acme", f"call-{n}") for n in range(50))
    assert sum(one is not None for one in await asyncio.gather(*tries)) == 1


@pytest.mark.req("RT-03")
@pytest.mark.parametrize("ending", ["replayed", "unknown", "open"])
async def test_the_whole_chain_learns_how_a_replay_ended(place: Backend, ending: str) -> None:
    process = await kept(place, letter(1), letter(9))
    letters = process.letters
    for number in (1, 2):  # each replay fails and leaves a letter of its own
        assert await letters.take(f"letter-{number}", "acme", f"replay-{number}") is not None
        letters.add(letter(number + 1, call_id=f"replay-{number}"))
        await letters.ended(f"replay-{number}", "acme", False)
    came_from = {one.id: one.replay_of for one in await letters.list("acme")}
    assert came_from == {"letter-1": None, "letter-2": "letter-1", "letter-3": "letter-2", "letter-9": None}

    await letters.take("letter-2", "acme", "replay-3")
    if ending == "unknown":
        letters.doubt("replay-3", "acme")
    await letters.ended("replay-3", "acme", ending == "replayed")
    told = {one.id: one.status for one in await letters.list("acme")}
    assert told == {"letter-1": ending, "letter-2": ending, "letter-3": ending, "letter-9": "open"}


async def test_what_was_removed_is_gone(place: Backend) -> None:
    letters = (await kept(place, letter(1), letter(2))).letters
    await letters.take("letter-1", "acme", "call-8")
    assert await letters.remove(["letter-1", "letter-7"], "acme") == 1
    assert [one.id for one in await letters.list("acme")] == ["letter-2"]
    await letters.ended("call-8", "acme", False)
    letters.add(letter(3, call_id="call-8"))
    assert await letters.get("letter-1", "acme") is None
    assert [one.replay_of for one in await letters.list("acme")] == [None, None]


async def test_what_a_dead_process_had_taken_is_open_again(rows: Backend) -> None:
    dead = await kept(rows, letter(1))
    assert await dead.letters.take("letter-1", "acme", "call-8") is not None
    other = rows.process().letters
    assert await other.take("letter-1", "acme", "call-9") is None
    rows.kill(dead)
    assert [one.id for one in await other.list("acme", status="open")] == ["letter-1"]
    taken = await other.take("letter-1", "acme", "call-9")
    assert taken is not None and taken.replays == ("call-8", "call-9") and taken.status == "replaying"
    assert await rows.process().letters.take("letter-1", "acme", "call-10") is None


@pytest.mark.req("BY-19")
async def test_no_row_shows_what_is_kept_for_the_replay(rows: Backend) -> None:
    process = await kept(rows, letter(1, raw={"pin": "4711-4711"}, secrets=frozenset({"t0p-s3cret"})))
    with process.rows.reading("acme") as conn:
        [row] = conn.exec_driver_sql("SELECT * FROM dead_letters").all()
    assert "4711" not in repr(row) and "t0p-s3cret" not in repr(row) and "mail.send" in repr(row)


async def test_the_twin_in_memory_forgets_the_oldest() -> None:
    letters = MemoryDeadLetters(keep=3)
    for number in range(10):
        letters.add(letter(number))
        await letters.take(f"letter-{number}", "acme", f"replay-{number}")
    assert [one.id for one in await letters.list("acme")] == ["letter-7", "letter-8", "letter-9"]
    assert len(letters) == 3 and len(letters._replays) == 3


async def test_no_tenant_pushes_out_the_letters_of_another_until_there_are_too_many_tenants() -> None:
    letters = MemoryDeadLetters(keep=3, tenants=2)
    letters.add(letter(0))
    for number in range(1, 10):
        letters.add(letter(number, tenant="loud"))
    assert [one.id for one in await letters.list("acme")] == ["letter-0"] and len(letters) == 4
    await letters.take("letter-9", "loud", "replay-9")
    letters.add(letter(10))
    letters.add(letter(11, tenant="third"))
    assert await letters.list("loud") == [] and len(letters._replays) == 0
    assert len(await letters.list("acme")) == 2


def test_no_view_of_a_letter_shows_what_it_keeps_for_the_replay() -> None:
    kept = letter(1, raw={"pin": "4711"}, secrets=frozenset({"t0p-s3cret"}), replay_of="letter-0")
    assert "4711" not in repr(kept) and "t0p-s3cret" not in repr(kept)
    assert kept.to_dict() == {
        "id": "letter-1",
        "status": "open",
        "tool": "mail.send",
        "args": {"to": "bo"},
        "error": "gone",
        "code": "TOOL_FAILED",
        "attempts": 1,
        "earlier_errors": [],
        "at": 1.0,
        "tenant": "acme",
        "session": "s1",
        "user": "ana",
        "agent": None,
        "source": "agent",
        "call_id": "call-1",
        "replay_of": "letter-0",
        "replays": [],
    }


async def test_a_list_is_read_page_by_page_from_the_newest_on(place: Backend) -> None:
    letters = [letter(number, at=float(number // 3)) for number in range(10)]
    others = [letter(20, tenant="other")]
    found = (await kept(place, *letters, *others)).letters
    assert await found.take("letter-4", "acme", "again") is not None
    wanted = sorted(letters, key=lambda one: (one.at, one.id), reverse=True)
    seen: list[str] = []
    after = None
    while page := await found.page("acme", after=after, limit=4):
        seen += [one.id for one in page]
        after = page[-1].cursor
        replays = {one.id: one.replays for one in page if one.replays}
        assert replays == ({"letter-4": ("again",)} if any(one.id == "letter-4" for one in page) else {})
        await found.remove([page[-1].id], "acme")  # the place holds though the letter is gone
    assert seen == [one.id for one in wanted]
    assert [one.id for one in await found.page("other", after=None, limit=4)] == ["letter-20"]
    with pytest.raises(UsageError, match="Begin with the newest"):
        await found.page("acme", after="nowhere", limit=4)
