"""What every place for dead letters does. A new one joins `PLACES` and runs the same tests."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from handrail import Call, Principal
from handrail.core.tell.letters import LetterStatus
from handrail.ext import DeadLetter, DeadLetters, MemoryDeadLetters

PLACES: list[Callable[[], DeadLetters]] = [MemoryDeadLetters]
pytestmark = pytest.mark.req("RT-02", "RT-06")


@pytest.fixture(params=PLACES)
def letters(request: pytest.FixtureRequest) -> DeadLetters:
    place: Callable[[], DeadLetters] = request.param
    return place()


def letter(number: int, tenant: str = "acme", **given: Any) -> DeadLetter:
    session = given.pop("session", "s1")
    call = Call("mail.send", None, Principal(tenant=tenant, user="ana"), session=session, id=f"call-{number}")
    told = {"tool": "mail.send", "args": {"to": "bo"}, "error": "gone", "code": "TOOL_FAILED", "attempts": 1}
    return DeadLetter(**{"id": f"letter-{number}", "call": call, "at": float(number), **told, **given})


def test_what_was_added_is_found_as_it_was(letters: DeadLetters) -> None:
    kept = letter(1, raw={"to": "bo", "pin": "4711"}, secrets=frozenset({"t0p"}), earlier_errors=("a",))
    letters.add(kept)
    found = letters.get("letter-1", "acme")
    assert found == kept
    assert found is not None and found.raw == {"to": "bo", "pin": "4711"} and found.secrets == {"t0p"}
    assert letters.get("letter-2", "acme") is None


def test_another_tenant_finds_takes_and_removes_nothing(letters: DeadLetters) -> None:
    letters.add(letter(1))
    assert letters.get("letter-1", "other") is None
    assert letters.list("other") == []
    assert letters.take("letter-1", "other", "call-9") is None
    assert letters.remove(["letter-1"], "other") == 0
    letters.settle("letter-1", "other", "replayed")
    assert letters.get("letter-1", "acme") == letter(1)


def test_letters_are_listed_by_what_they_are_newest_last(letters: DeadLetters) -> None:
    letters.add(letter(1, code="TIMEOUT"))
    letters.add(letter(2, tool="mail.read", session="s2"))
    letters.add(letter(3, tenant="other"))
    letters.add(letter(4, session=None))
    letters.take("letter-4", "acme", "call-9")

    def ids(**filters: Any) -> list[str]:
        return [one.id for one in letters.list("acme", **filters)]

    assert ids() == ["letter-1", "letter-2", "letter-4"]
    assert ids(tool="mail.send") == ["letter-1", "letter-4"]
    assert ids(session="s2") == ["letter-2"]
    assert ids(session="call:call-4") == ["letter-4"]
    assert ids(code="TIMEOUT") == ["letter-1"]
    assert ids(status="open") == ["letter-1", "letter-2"]
    assert ids(since=2, before=4) == ["letter-2"]
    assert ids(tool="mail.send", code="TIMEOUT", session="s2") == []


def test_a_letter_is_taken_once_and_open_again_when_the_replay_did_not_help(letters: DeadLetters) -> None:
    letters.add(letter(1))
    taken = letters.take("letter-1", "acme", "call-8")
    assert taken == replace(letter(1), status="replaying", replays=("call-8",))
    assert letters.take("letter-1", "acme", "call-9") is None
    letters.settle("letter-1", "acme", "open")
    again = letters.take("letter-1", "acme", "call-9")
    assert again is not None and again.replays == ("call-8", "call-9")


@pytest.mark.parametrize("final", ["replayed", "unknown"])
def test_what_is_final_stays_so(letters: DeadLetters, final: LetterStatus) -> None:
    letters.add(letter(1))
    letters.take("letter-1", "acme", "call-8")
    letters.settle("letter-1", "acme", final)
    letters.settle("letter-1", "acme", "open")
    assert letters.take("letter-1", "acme", "call-9") is None
    found = letters.get("letter-1", "acme")
    assert found is not None and found.status == final


def test_of_many_at_once_one_takes_it(letters: DeadLetters) -> None:
    letters.add(letter(1))
    with ThreadPoolExecutor(8) as threads:
        taken = list(threads.map(lambda n: letters.take("letter-1", "acme", f"call-{n}"), range(50)))
    assert sum(one is not None for one in taken) == 1


def test_the_letter_behind_a_replay_is_found_in_its_tenant(letters: DeadLetters) -> None:
    letters.add(letter(1))
    letters.take("letter-1", "acme", "call-8")
    behind = letters.behind("call-8", "acme")
    assert behind is not None and behind.id == "letter-1"
    assert letters.behind("call-8", "other") is None
    assert letters.behind("call-1", "acme") is None


def test_what_was_removed_is_gone(letters: DeadLetters) -> None:
    letters.add(letter(1))
    letters.add(letter(2))
    letters.take("letter-1", "acme", "call-8")
    assert letters.remove(["letter-1", "letter-7"], "acme") == 1
    assert [one.id for one in letters.list("acme")] == ["letter-2"]
    assert letters.behind("call-8", "acme") is None
    letters.settle("letter-1", "acme", "open")
    assert letters.get("letter-1", "acme") is None


def test_the_twin_in_memory_forgets_the_oldest() -> None:
    letters = MemoryDeadLetters(keep=3)
    for number in range(10):
        letters.add(letter(number))
        letters.take(f"letter-{number}", "acme", f"replay-{number}")
    assert [one.id for one in letters.list("acme")] == ["letter-7", "letter-8", "letter-9"]
    assert len(letters) == 3 and len(letters._replays) == 3


def test_no_tenant_pushes_out_the_letters_of_another_until_there_are_too_many_tenants() -> None:
    letters = MemoryDeadLetters(keep=3, tenants=2)
    letters.add(letter(0))
    for number in range(1, 10):
        letters.add(letter(number, tenant="loud"))
    assert [one.id for one in letters.list("acme")] == ["letter-0"] and len(letters) == 4
    letters.take("letter-9", "loud", "replay-9")
    letters.add(letter(10))
    letters.add(letter(11, tenant="third"))
    assert letters.list("loud") == [] and letters.behind("replay-9", "loud") is None
    assert len(letters.list("acme")) == 2 and len(letters._replays) == 0


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
