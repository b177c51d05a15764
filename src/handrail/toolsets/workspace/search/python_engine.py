"""Python engine: the same search by Python, in a process that can be stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handrail.ext import Signal, ToolError
from handrail.toolsets.workspace.search.process import SECONDS, OutputBuffer, run
from handrail.toolsets.workspace.search.query import (
    MAX_PYTHON_SIZE,
    MatchCounts,
    SearchLine,
    SearchQuery,
    SearchScope,
    UnsupportedPattern,
)
from handrail.toolsets.workspace.search.walk import walk
from handrail.toolsets.workspace.workspace import Workspace

_WORKER = str(Path(__file__).with_name("regex_worker.py"))


class PythonEngine:
    """Walks and searches by Python."""

    def __init__(self, workspace: Workspace, seconds: float = SECONDS) -> None:
        self._workspace = workspace
        self._seconds = seconds

    def files(self, scope: SearchScope, signal: Signal) -> list[str]:
        """All files, in any order."""
        if scope.is_file:
            return [scope.start]
        found = walk(self._workspace, scope.start, signal, include_ignored=scope.include_ignored, sizes=False)
        return [one.path for one in found if one.is_file and scope.includes(one.path)]

    def count(self, query: SearchQuery, scope: SearchScope, signal: Signal) -> MatchCounts:
        """How many lines match, file by file."""
        paths = self.files(scope, signal)
        given = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        answers = self._run_worker(query, signal, given, do="count", largest=MAX_PYTHON_SIZE)
        large = sum(1 for _, number in answers if number < 0)
        return MatchCounts({paths[at]: number for at, number in answers if number > 0}, large)

    def show(
        self, query: SearchQuery, opened: Sequence[int], signal: Signal, before: int, after: int, most: int
    ) -> list[tuple[int, SearchLine]]:
        """The lines of files that are open already: which one, and the line."""
        asked = {"do": "show", "open": list(opened), "before": before, "after": after, "most": most}
        answers = self._run_worker(query, signal, b"", opened, **asked)
        return [(fd, SearchLine(number, text, at)) for fd, number, text, at in answers]

    def _run_worker(
        self, query: SearchQuery, signal: Signal, given: bytes, keep_open: Sequence[int] = (), **asked: Any
    ) -> list[Any]:
        if query.expression.python is None:
            raise UnsupportedPattern
        asked |= {"pattern": query.expression.python, "ignore_case": query.ignore_case}
        head = json.dumps({**asked, "root": str(self._workspace.root)}).encode() + b"\n"
        command = [sys.executable, "-I", "-S", "-W", "ignore", _WORKER]
        collected = OutputBuffer()
        ran = run(
            command,
            self._workspace.root,
            signal,
            take=collected.take,
            given=head + given,
            keep_open=keep_open,
            seconds=self._seconds,
        )
        if ran.code != 0:
            raise ToolError("The search broke off. Narrow it with `path` or `glob`.")
        return [json.loads(line) for line in collected.output.splitlines()]
