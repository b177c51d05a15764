"""The hook of tests/conftest.py: an `async def` test really runs, and really fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[2] / "conftest.py"

TESTS = """
import asyncio
import pytest
from hypothesis import given, strategies as st

@pytest.fixture
def seven():
    return 7

async def test_pass_with_a_fixture(seven):
    assert seven == 7 and asyncio.get_running_loop()

@given(number=st.integers())
async def test_pass_given(number):
    assert asyncio.get_running_loop() and isinstance(number, int)

class TestMethods:
    async def test_pass_method(self, seven):
        assert asyncio.get_running_loop()

    @given(number=st.integers())
    async def test_pass_given_method(self, number):
        assert asyncio.get_running_loop()

@pytest.mark.parametrize("number", [1, 2])
async def test_fail(number):
    await asyncio.sleep(0)
    assert number == 0

@given(number=st.integers())
async def test_fail_given(number):
    await asyncio.sleep(0)
    assert number < 10

async def test_fail_because_a_coroutine_was_forgotten():
    asyncio.sleep(0)
"""


def test_async_tests_run_and_fail_like_others(tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path / "conftest.py")
    (tmp_path / "test_made_up.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path)]
    options = ["-W", "error", "-p", "no:asyncio", "-p", "no:cacheprovider", "-rA", "-q", str(tmp_path)]

    env = {**os.environ, "PYTHONPATH": str(CONFTEST.parents[1])}
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, cwd=tmp_path, env=env
    )

    ended = sorted(re.findall(r"^((?:PASSED|FAILED|ERROR) \S+)", done.stdout, re.MULTILINE))
    assert [line.replace("test_made_up.py::", "") for line in ended] == [
        "FAILED test_fail[1]",
        "FAILED test_fail[2]",
        "FAILED test_fail_because_a_coroutine_was_forgotten",
        "FAILED test_fail_given",
        "PASSED TestMethods::test_pass_given_method",
        "PASSED TestMethods::test_pass_method",
        "PASSED test_pass_given",
        "PASSED test_pass_with_a_fixture",
    ]
