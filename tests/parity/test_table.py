"""The table itself: it is large enough, of every kind, and a door misses only what is declared."""

from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from tests.parity.cases import CASES, Kind, Need, one_of_each
from tests.parity.compare import Observation, difference
from tests.parity.doors.cli import Cli
from tests.parity.doors.mcp_stdio import McpOverStdio
from tests.parity.doors.rest import Rest
from tests.parity.doors.rest_stream_async import RestAsync, RestStream
from tests.parity.omissions import LACKS
from tests.parity.test_parity import BRIDGES

DOORS = {*(one.name for one in (Cli, Rest, RestStream, RestAsync, McpOverStdio, *BRIDGES)), "mcp", "mcp 2025"}


@pytest.mark.req("BY-01")
def test_the_table_has_sixty_calls_and_more_of_every_kind() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert {case.kind for case in CASES} == set(get_args(Kind)) == {case.kind for case in one_of_each()}


@pytest.mark.req("BY-01")
def test_every_door_is_declared_with_what_it_lacks_and_why() -> None:
    assert LACKS.keys() == DOORS
    for lacks in LACKS.values():
        assert lacks.keys() <= set(get_args(Need)) and all(len(why) > 20 for why in lacks.values())


@pytest.mark.req("BY-01")
def test_no_door_is_spared_more_than_a_few_calls() -> None:
    """What stands in the arguments alone is never a reason: of 20 kinds a door sees at least 15."""
    spared = {
        door: Counter(case.kind for case in CASES if case.needs & lacks.keys())
        for door, lacks in LACKS.items()
    }
    kinds = Counter(case.kind for case in CASES)
    for door, missed in spared.items():
        whole = {kind for kind, number in missed.items() if number == kinds[kind]}
        assert whole <= {"decided", "duplicate", "stale", "cancelled", "scoped"}, door
        assert sum(missed.values()) <= 24, door


def _seen(**more: object) -> Observation:
    event = {"type": "tool.failed", "call_id": "call_0123456789ab_7", "code": "TIMEOUT", "at": 1.0, **more}
    return Observation([event], {"text": "see call_0123456789ab_7", "duration_ms": 3})


@pytest.mark.req("BY-01")
def test_the_comparison_sees_past_ids_and_times_and_nothing_else() -> None:
    other = Observation(
        [{"type": "tool.failed", "call_id": "call_ba9876543210_1", "code": "TIMEOUT", "at": 2.0}],
        {"text": "see call_ba9876543210_1", "duration_ms": 9},
    )
    assert difference(_seen(), other) is None
    assert difference(_seen(code="CANCELLED"), other) is not None
    assert difference(_seen(repairs=[]), other) is not None
    assert difference(_seen(parent="call_0123456789ab_7"), _seen(parent="call_0123456789ab_8")) is not None
    assert difference(_seen(flag=True), _seen(flag=1)) is not None
    wrong = Observation(other.events, {"text": "see call_ba9876543210_2", "duration_ms": 9})
    assert difference(_seen(), wrong) is not None
