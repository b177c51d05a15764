"""Runs the conformance suite against a server, or against a client program, and reads the scores."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tests.mcp_suite.packages import HERE, command, environment
from tests.mcp_suite.scores import Score, scores

STABLE = "0.1.16"
ALPHA = "0.2.0-alpha.12"


@dataclass(frozen=True)
class SuiteRun:
    """One run of the suite: which of its versions, and which revision of the protocol it speaks."""

    suite: str
    spec: str

    def __str__(self) -> str:
        return f"{self.suite} at {self.spec}"


SUITE_RUNS = (
    SuiteRun(STABLE, "2025-11-25"),
    SuiteRun(ALPHA, "2025-06-18"),
    SuiteRun(ALPHA, "2025-11-25"),
    SuiteRun(ALPHA, "2026-07-28"),
)


def run_server(leg: SuiteRun, url: str, *scenarios: str) -> dict[str, Score]:
    """The scores of the server at an address: of these scenarios, or of all that the revision knows."""
    return _each("server", ["--url", url], leg, scenarios)


def run_client(leg: SuiteRun, program: str, *scenarios: str) -> dict[str, Score]:
    """The scores of a client program, which is started with the address of a server."""
    return _each("client", ["--command", program], leg, scenarios)


@cache
def listed(leg: SuiteRun, kind: str) -> frozenset[str]:
    """The scenarios that a version of the suite has for one revision."""
    told = subprocess.run(
        [*command(leg.suite), "list", f"--{kind}", "--spec-version", leg.spec],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = (line.strip() for line in told.splitlines())
    return frozenset(line.split()[1] for line in lines if line.startswith("- "))


def _each(kind: str, target: list[str], leg: SuiteRun, scenarios: tuple[str, ...]) -> dict[str, Score]:
    if not scenarios:
        return _run(kind, target, leg, "--suite", "all")
    found: dict[str, Score] = {}
    for scenario in scenarios:
        found |= _run(kind, target, leg, "--scenario", scenario)
    return found


def _run(kind: str, target: list[str], leg: SuiteRun, *which: str) -> dict[str, Score]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command(leg.suite), kind, *target, *which, "--spec-version", leg.spec, "--output-dir", folder],
            cwd=HERE.parents[1],
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        found = scores(Path(folder), kind)
    if not found:
        raise RuntimeError(f"The suite {leg} told nothing:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    if kind == "client" and done.returncode:  # whoever ends in an error has not passed
        said = done.stderr[-2000:]
        return {name: one if one.bad else replace(one, bad={"exit": said}) for name, one in found.items()}
    return found
