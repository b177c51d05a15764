"""kill -9 in mid-write: the old file or the new one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.files.crashes import PRELOAD, Crashes
from tests.harness.nursery import Nursery

POINTS = 2
"""Of two changes; `make soak` has more of all."""


@pytest.fixture(scope="module")
def crashes() -> Iterator[Crashes]:
    with Nursery(*PRELOAD) as nursery:
        yield Crashes(nursery)


@pytest.mark.req("BF-02")
@pytest.mark.fault("F21")
@pytest.mark.parametrize("name", ["write", "delete"])
def test_a_killed_process_leaves_the_old_file_or_the_new_one(crashes: Crashes, name: str) -> None:
    for at in crashes.draw(name, 21, POINTS):
        crashes.crash(name, at)


@pytest.mark.fault("F21")
@pytest.mark.parametrize("name", ["write", "edit"])
def test_the_new_file_is_there_from_one_line_to_the_next(crashes: Crashes, name: str) -> None:
    lines = [one for one in crashes.points(name) if one[1] == "Draft.take_name"]
    assert [crashes.crash(name, at) for at in lines] == [False, False, True]


@pytest.mark.fault("F21")
def test_a_new_file_is_whole_and_known_from_the_line_on_that_names_it(crashes: Crashes) -> None:
    lines = [one for one in crashes.points("create") if one[1] == "_born"]
    assert [crashes.crash("create", at) for at in (lines[0], *lines[-3:])] == [False, False, True, True]
