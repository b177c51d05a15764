"""Approve, edit, reject, respond and expire at the same moment: one wins. The soak runs the full number."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.answer_races import race_in_processes, race_in_threads
from tests.contract.backends import KINDS, Backend, backend_of

ROUNDS = 20
pytestmark = [pytest.mark.req("AP-08", "BY-03"), pytest.mark.fault("F04")]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


def test_of_those_who_answer_at_once_in_threads_exactly_one_wins(place: Backend) -> None:
    won = race_in_threads(place, ROUNDS)
    assert len(won) == ROUNDS
    if place.url is not None:
        assert sorted(request.id for request, _ in place.won) == sorted(f"a{n}" for n in range(ROUNDS))


def test_of_those_who_answer_at_once_in_processes_exactly_one_wins(rows: Backend) -> None:
    assert len(race_in_processes(rows, ROUNDS, ("approve", "reject", "expire"))) == ROUNDS
