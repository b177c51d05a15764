"""kill -9 in mid-write: the old file or the new one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.acceptance.files.crash_check import PRELOAD, CrashCheck
from tests.harness.fork_server import ForkServer

POINTS = 2
"""Of two changes; `make soak` has more of all."""


@pytest.fixture(scope="module")
def crashes() -> Iterator[CrashCheck]:
    with ForkServer(*PRELOAD) as fork_server:
        yield CrashCheck(fork_server)


@pytest.mark.req("BF-02")
@pytest.mark.fault("F21")
@pytest.mark.parametrize("name", ["write", "delete"])
def test_a_killed_process_leaves_the_old_file_or_the_new_one(crashes: CrashCheck, name: str) -> None:
    for at in crashes.draw(name, 21, POINTS):
        crashes.crash(name, at)


@pytest.mark.fault("F21")
@pytest.mark.parametrize("name", ["write", "edit"])
def test_the_new_file_is_there_from_one_line_to_the_next(crashes: CrashCheck, name: str) -> None:
    lines = [one for one in crashes.points(name) if one[1] == "DraftFile.publish_as"]
    assert [crashes.crash(name, at) for at in lines] == [False, False, True]


@pytest.mark.fault("F21")
def test_a_new_file_is_whole_and_known_from_the_line_on_that_names_it(crashes: CrashCheck) -> None:
    lines = [one for one in crashes.points("create") if one[1] == "_create_unnamed"]
    assert [crashes.crash("create", at) for at in (lines[0], *lines[-3:])] == [False, False, True, True]
