"""How long `handrail --help` takes, from the start of the process to its end."""

from __future__ import annotations

import subprocess
import time

from benchmarks.environments import OWN, ROOT, Peers
from benchmarks.measured_processes import environment
from benchmarks.row import Ratio, Row, at_most
from benchmarks.timing import Effort, Measured, NotMeasured, Timing

TITLE = "Help of the command line, whole processes"

_TYPER = """
import typer
app = typer.Typer({})
@app.command()
def main() -> None:
    "Do nothing."
app()
"""
_SUBJECTS = {
    "handrail --help": "from handrail.app import main; main()",
    "an empty typer program --help": _TYPER.format(""),
    "the same without rich": _TYPER.format("rich_markup_mode=None"),
    "python -c pass": "pass",
}


def measure(peers: Peers, effort: Effort) -> list[Row]:
    times = _time_in_turn(effort.imports)
    ours, empty, plain, python = times.values()
    return [
        Row("handrail --help", ours, Ratio(ours, empty, "{:.2f} times an empty typer program"), at_most(2.0)),
        Row("an empty typer program --help", empty),
        Row("the same without rich", plain, Ratio(ours, plain, "handrail takes {:.2f} times as long")),
        Row("python -c pass", python),
    ]


def _time_in_turn(rounds: int) -> dict[str, Measured]:
    """Every program once a round, after one round that only fills the caches of disk and bytecode."""
    seconds: dict[str, list[float]] = {name: [] for name in _SUBJECTS}
    failures: dict[str, Measured] = {}
    for number in range(rounds + 1):
        for name, program in _SUBJECTS.items():
            took = _time_once(program)
            if isinstance(took, NotMeasured):
                failures[name] = took
            elif number > 0:
                seconds[name].append(took)
    return {name: failures.get(name) or Timing.over(seconds[name]) for name in _SUBJECTS}


def _time_once(program: str) -> float | NotMeasured:
    command = [OWN.path, "-P", "-c", program, "--help"]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment(OWN))
    took = time.perf_counter() - start
    if done.returncode != 0 or (program != "pass" and "Usage:" not in done.stdout):
        return NotMeasured(f"it did not show its help: {done.stderr.strip()[-100:]}")
    return took
