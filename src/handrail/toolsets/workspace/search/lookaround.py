"""Look-around: regular expressions that ripgrep does not know, searched for by Python.

The wheel of ripgrep is built without PCRE2: look-around, references to groups and possessive repetition
need Python's own expressions, which run in a process that can be stopped.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handrail.ext.tools import Signal
from handrail.toolsets.workspace.search.process import OutputBuffer, run
from handrail.toolsets.workspace.search.query import (
    MAX_PYTHON_SIZE,
    MatchCounts,
    SearchLine,
    SearchQuery,
    SearchScope,
    UnsupportedPattern,
)
from handrail.toolsets.workspace.search.ripgrep import Ripgrep, search_failed

_WORKER = str(Path(__file__).with_name("regex_worker.py"))


class PythonRegexEngine:
    """Searches by Python in the files that ripgrep lists."""

    def __init__(self, ripgrep: Ripgrep) -> None:
        self._ripgrep = ripgrep

    def count(self, query: SearchQuery, scope: SearchScope, signal: Signal) -> MatchCounts:
        """How many lines match, file by file."""
        paths = self._ripgrep.files(scope, signal)
        path_list = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        answers = self._run_worker(query, signal, path_list, do="count", largest=MAX_PYTHON_SIZE)
        large = sum(1 for _, lines in answers if lines < 0)
        return MatchCounts({paths[index]: lines for index, lines in answers if lines > 0}, large)

    def show(
        self, query: SearchQuery, opened: Sequence[int], signal: Signal, before: int, after: int, most: int
    ) -> list[tuple[int, SearchLine]]:
        """The lines of files that are open already, each with the descriptor of its file."""
        task = {"do": "show", "open": list(opened), "before": before, "after": after, "most": most}
        answers = self._run_worker(query, signal, b"", opened, **task)
        return [(fd, SearchLine(number, text, at)) for fd, number, text, at in answers]

    def _run_worker(
        self, query: SearchQuery, signal: Signal, paths: bytes, keep_open: Sequence[int] = (), **task: Any
    ) -> list[Any]:
        if query.expression.python is None:
            raise UnsupportedPattern
        root = self._ripgrep.root
        task |= {"pattern": query.expression.python, "ignore_case": query.ignore_case, "root": str(root)}
        collected = OutputBuffer()
        result = run(
            [sys.executable, "-I", "-S", "-W", "ignore", _WORKER],
            root,
            signal,
            take=collected.take,
            stdin=json.dumps(task).encode() + b"\n" + paths,
            keep_open=keep_open,
            seconds=self._ripgrep.seconds,
        )
        if result.code != 0:
            raise search_failed()
        return [json.loads(line) for line in collected.output.splitlines()]
