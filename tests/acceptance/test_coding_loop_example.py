"""The example of a coding agent's loop, as it is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.acceptance import run_command


def run(command: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    words = command.replace("python", sys.executable)
    return run_command.run("bash", "-c", words, TMPDIR=str(folder), **more)


@pytest.mark.req("DD-04", "DD-06", "PM-02", "PM-03", "RC-03")
def test_a_bug_is_found_repaired_with_approval_and_tested(tmp_path: Path) -> None:
    done = run("python -W error -m examples.coding_loop", tmp_path)

    assert (done.returncode, done.stderr, list(tmp_path.iterdir())) == (0, "", [])
    assert done.stdout == snapshot('''\
The task: The tests of this project fail. Find out why, and repair it.
The tools: file_edit, file_list, file_read, tests_run

Pass 1, with 0 results in the prompt. The model: I look around.
  completed  file_list  2 files
  completed  file_read  prices.py has 3 lines
  completed  file_read  test_prices.py has 11 lines

Pass 2, with 3 results in the prompt. The model: What do the tests say? I also want the module, again.
  completed  tests_run  they fail: AssertionError: 190 != 180
  duplicate  file_read  prices.py has 3 lines

Pass 3, with 4 results in the prompt. The model: It subtracts a percentage as if it were money. I repair it.
  Ana is asked: may coder run file_edit on prices.py?
    - price - percent
    + price * (1 - percent / 100)
  She agrees.
  completed  file_edit  prices.py is changed

Pass 4, with 5 results in the prompt. The model: Is it right now?
  completed  tests_run  they pass
  completed  file_read  prices.py has 3 lines

Pass 5, with 7 results in the prompt. The model: Let me be quite sure.
  duplicate  tests_run  they pass
  duplicate  file_read  prices.py has 3 lines

The loop ends: all_tools_duplicate

prices.py is now:
  def discounted(price: float, percent: float) -> float:
      """The price after a discount."""
      return price * (1 - percent / 100)
''')


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_who_reads_only_the_beginning_sees_no_traceback_and_no_folder_stays(
    tmp_path: Path, unbuffered: str
) -> None:
    left = run("python -m examples.coding_loop | head -1", tmp_path, PYTHONUNBUFFERED=unbuffered)

    assert (left.stdout.count("\n"), left.stderr, list(tmp_path.iterdir())) == (1, "", [])
    assert left.stdout.startswith("The task: ")
