"""Defining: what files define, found out by a process that can be stopped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import PurePosixPath

from handrail.ext import Signal, ToolError
from handrail.toolsets.workspace.hooks.languages import GRAMMARS
from handrail.toolsets.workspace.search import definitions as program
from handrail.toolsets.workspace.search.definitions import Definition, Grammar
from handrail.toolsets.workspace.search.finding import Finder
from handrail.toolsets.workspace.search.process import Collected, run

_SECONDS = 10.0
_MOST_BYTES = 2_000_000
_NO_CODE = (".html", ".htm", ".css")
_HEADERS = (".h", ".hh", ".hxx")


def grammar_of(end: str) -> Grammar | None:
    """The grammar of files whose names end so."""
    known = GRAMMARS.get(".hpp" if end in _HEADERS else end)
    return None if known is None or end in _NO_CODE else Grammar(*known)


def definitions_in(
    finder: Finder, paths: Sequence[str], words: Sequence[str], signal: Signal, seconds: float = _SECONDS
) -> dict[str, list[Definition]]:
    """What of these names each file defines. What is not found out in time is left out."""
    found: dict[str, list[Definition]] = {}
    for opened in finder.opening(paths):
        collected = Collected()
        ends = {fd: PurePosixPath(path).suffix.lower() for fd, path in opened.items()}
        files = [[fd, end, grammar_of(end)] for fd, end in ends.items()]
        asked = json.dumps({"files": files, "words": list(words), "most": _MOST_BYTES}).encode() + b"\n"
        command = [sys.executable, "-I", "-W", "ignore", program.__file__]
        try:
            root = finder.workspace.root
            run(
                command,
                root,
                signal,
                take=collected.take,
                given=asked,
                keep_open=list(opened),
                seconds=seconds,
            )
        except ToolError:
            signal.throw_if_aborted()
        for line in collected.output.split(b"\n")[:-1]:
            fd, defined = json.loads(line)
            found[opened[fd]] = [Definition(*one) for one in defined]
    return found
