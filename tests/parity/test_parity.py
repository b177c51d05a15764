"""BY-01: the same call gives the same verdict, code, events and payload through every door."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.quick import Quick
from tests.parity.cases import CASES
from tests.parity.doors.cli import Cli
from tests.parity.passing import Passed, compare
from tests.parity.people import open_shop
from tests.parity.world import World


def holds(passed: Passed) -> None:
    assert not passed.differences, "\n\n".join(["", *passed.differences])
    assert len(passed.asked) + len(passed.left_out) == len(CASES)


@pytest.mark.req("BY-01")
@pytest.mark.timeout(300)
async def test_the_command_line_does_as_the_library(quick: Quick, tmp_path: Path) -> None:
    door = Cli(quick, tmp_path)
    try:
        async with open_shop(tmp_path) as hr:
            holds(await compare(door, World(hr), CASES))
    finally:
        await door.close()
