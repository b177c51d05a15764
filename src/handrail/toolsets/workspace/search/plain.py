"""Plain: the same search by Python alone. The expression runs in a process that can be stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from handrail.ext import Signal, ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.search.process import SECONDS, Collected, run
from handrail.toolsets.workspace.search.query import LARGEST, Line, NotUnderstood, Query, Tally, Where
from handrail.toolsets.workspace.search.walking import walk

_SEEKER = str(Path(__file__).with_name("seeker.py"))


class Plain:
    """Walks and searches by Python."""

    def __init__(self, workspace: Workspace, seconds: float = SECONDS) -> None:
        self._workspace = workspace
        self._seconds = seconds

    def files(self, where: Where, signal: Signal) -> list[str]:
        """All files, in any order."""
        if where.is_file:
            return [where.start]
        found = walk(self._workspace, where.start, signal, include_ignored=where.include_ignored, sizes=False)
        return [one.path for one in found if one.is_file and where.takes(one.path)]

    def count(self, query: Query, where: Where, signal: Signal) -> Tally:
        """How many lines match, file by file."""
        paths = self.files(where, signal)
        given = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        answers = self._seek(query, signal, given, do="count", largest=LARGEST)
        large = sum(1 for _, number in answers if number < 0)
        return Tally({paths[at]: number for at, number in answers if number > 0}, large)

    def show(
        self, query: Query, opened: Sequence[int], signal: Signal, before: int, after: int, most: int
    ) -> list[tuple[int, Line]]:
        """The lines of files that are open already: which one, and the line."""
        asked = {"do": "show", "open": list(opened), "before": before, "after": after, "most": most}
        answers = self._seek(query, signal, b"", opened, **asked)
        return [(fd, Line(number, text, at)) for fd, number, text, at in answers]

    def _seek(
        self, query: Query, signal: Signal, given: bytes, keep_open: Sequence[int] = (), **asked: Any
    ) -> list[Any]:
        if query.expression.python is None:
            raise NotUnderstood
        asked |= {"pattern": query.expression.python, "ignore_case": query.ignore_case}
        head = json.dumps({**asked, "root": str(self._workspace.root)}).encode() + b"\n"
        command = [sys.executable, "-I", "-S", "-W", "ignore", _SEEKER]
        collected = Collected()
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
