"""Approve, edit, reject, respond and expire at the same moment: one wins. The soak runs the full number."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.places import KINDS, Place, place_of
from tests.contract.racing import race_in_processes, race_in_threads

ROUNDS = 20
pytestmark = [pytest.mark.req("AP-08", "BY-03"), pytest.mark.fault("F04")]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    yield from place_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Place]:
    yield from place_of(request)


def test_of_those_who_answer_at_once_in_threads_exactly_one_wins(place: Place) -> None:
    won = race_in_threads(place, ROUNDS)
    assert len(won) == ROUNDS
    if place.url is not None:
        assert sorted(request.id for request, _ in place.won) == sorted(f"a{n}" for n in range(ROUNDS))


def test_of_those_who_answer_at_once_in_processes_exactly_one_wins(rows: Place) -> None:
    assert len(race_in_processes(rows, ROUNDS, ("approve", "reject", "expire"))) == ROUNDS
