"""A process that is killed at any line of its code loses nothing and does nothing twice."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness import scenarios
from tests.harness.ledger import Ledger
from tests.harness.nursery import Nursery
from tests.harness.points import Point, modules_of, points_of


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery("tests.harness.scenarios") as nursery:
        yield nursery


def test_points_are_the_lines_of_the_code() -> None:
    found = {(point.function, point.line) for point in points_of(modules_of("handrail.core.run.pipeline"))}
    assert ("run", 60) in found
    assert all(function != "<module>" for function, _ in found)


def test_a_child_dies_at_the_line_it_is_told_and_what_it_did_before_is_known(
    nursery: Nursery, tmp_path: Path
) -> None:
    with Ledger(tmp_path) as ledger:
        path = str(ledger.path)
        assert nursery.run("tests.harness.scenarios:play", name="a_write", url=None, ledger=path) == 0
        [told] = ledger.of("passed", scenario="a_write")
        passed = [Point(file, function, line) for file, function, line, _ in told["points"]]
        assert set(passed) <= set(scenarios.points())
        body = sorted(point for point in passed if point.function == "charge")
        for point, effects in zip(body, (1, 2), strict=True):
            at = [point.file, point.function, point.line, 1]
            code = nursery.run("tests.harness.scenarios:play", name="a_write", url=None, ledger=path, at=at)
            assert code == -signal.SIGKILL
            assert len(ledger.of("effect", order="write")) == effects
        assert len(ledger.of("answered")) == 1
