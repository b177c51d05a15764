"""A thousand questions, each answered by everybody at once: one wins each, wherever they are kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.answer_races import race_in_processes, race_in_threads
from tests.contract.backends import KINDS, Backend, backend_of

ROUNDS = 1_000
pytestmark = [pytest.mark.req("AP-08", "BY-03"), pytest.mark.fault("F04"), pytest.mark.timeout(900)]


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


def test_a_thousand_races_in_threads_have_one_winner_each(place: Backend) -> None:
    won = race_in_threads(place, ROUNDS)
    assert len(won) == ROUNDS and len(set(won)) > 1, "somebody else must win now and then, or it is no race"


def test_a_thousand_races_in_processes_have_one_winner_each(rows: Backend) -> None:
    won = race_in_processes(rows, ROUNDS)
    assert len(won) == ROUNDS and len(set(won)) > 1
