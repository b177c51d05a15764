"""Times subjects that live in several processes, a round of each in turn.

A machine's speed drifts while it is measured. Taking turns spreads each drift over all subjects,
so that it falls out of their ratios; only one process works at a time.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Any

from benchmarks.environments import OWN, ROOT, Python
from benchmarks.timing import Effort, Measured, NotMeasured, Timing

_STEERING = ("PYTHON", "OPENAI", "LANGCHAIN", "LANGSMITH", "FASTMCP", "LOGFIRE", "OTEL", "HANDRAIL")
_WITHOUT_EXPORT = {
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
}


@dataclass(frozen=True, slots=True)
class Source:
    """A module that ends with `subject_process.main`, and the Python to run it with."""

    module: str
    python: Python


@dataclass(frozen=True, slots=True)
class Times:
    """What was measured, by source and subject."""

    seconds: Mapping[tuple[Source, str], list[float]]
    failures: Mapping[Source, str]

    def of(self, source: Source, subject: str) -> Measured:
        if source in self.failures:
            return NotMeasured(self.failures[source])
        if (source, subject) not in self.seconds:
            return NotMeasured(f"{source.module} has no subject {subject!r}")
        return Timing.over(self.seconds[source, subject])


def own_source(module: str) -> Source:
    """A source in this checkout's own environment."""
    return Source(module, OWN)


def environment(python: Python) -> dict[str, str]:
    """Nothing that steers Python or a library; this checkout on the path of our own Python only."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith(_STEERING)}
    if python.is_own:
        variables["PYTHONPATH"] = str(ROOT / "src")
    return variables | _WITHOUT_EXPORT


def time_together(sources: Sequence[Source], effort: Effort) -> Times:
    """Time every subject of every source, in alternating order from round to round."""
    seconds: dict[tuple[Source, str], list[float]] = {}
    failures: dict[Source, str] = {}
    with ExitStack() as stack:
        running: list[_Process] = []
        for source in sources:
            try:
                running.append(stack.enter_context(_Process(source, effort.seconds)))
            except _Failed as failed:
                failures[source] = str(failed)
        turns = [(process, index, name) for process in running for index, name in enumerate(process.names)]
        for number in range(effort.rounds):
            for process, index, name in turns if number % 2 == 0 else reversed(turns):
                if process.source in failures:
                    continue
                try:
                    seconds.setdefault((process.source, name), []).append(process.round(index))
                except _Failed as failed:
                    failures[process.source] = str(failed)
    return Times(seconds, failures)


class _Failed(Exception):
    """A measuring process could not do its work."""


@dataclass(slots=True)
class _Process:
    """One running source. Entering waits until it has set up and warmed up its subjects."""

    source: Source
    seconds: float
    names: list[str] = field(default_factory=list)
    _process: subprocess.Popen[str] = field(init=False)
    _stderr: IO[str] = field(init=False)

    def __enter__(self) -> _Process:
        python = self.source.python
        if python.missing_because:
            raise _Failed(python.missing_because)
        self._stderr = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [python.path, "-m", self.source.module, "--serve", str(self.seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            cwd=ROOT,
            env=environment(python),
        )
        try:
            self.names = self._answer()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def round(self, index: int) -> float:
        """Seconds for doing one of the subjects once."""
        assert self._process.stdin is not None
        try:
            print(index, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise self._failed() from None
        return float(self._answer())

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._failed()
        return json.loads(line)

    def _failed(self) -> _Failed:
        self._process.wait()
        self._stderr.seek(0)
        lines = [line.strip() for line in self._stderr if line.strip()]
        return _Failed(lines[-1] if lines else f"ended with code {self._process.returncode}")

    def _stop(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()
