"""Ripgrep: the fastest way to look through many files, where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache

from handrail.ext import Signal
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.search.choosing import chosen
from handrail.toolsets.workspace.search.ignoring import rules_above
from handrail.toolsets.workspace.search.plain import Plain
from handrail.toolsets.workspace.search.process import SECONDS, Collected, run
from handrail.toolsets.workspace.search.query import Line, NotUnderstood, Query, Tally, Where
from handrail.toolsets.workspace.search.records import FORM, Records
from handrail.toolsets.workspace.state import STATE

_ALWAYS = ["--no-config", "--color=never"]
_WALK = [
    "--hidden",
    "--no-messages",
    "--no-ignore-global",
    "--no-ignore-parent",
    "--no-require-git",
    "--null",
]
_TEXT = ["--text", "--crlf", "--no-mmap"]
_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\r?\n")
_OLDEST = 13
_LONGEST_COMMAND = 500_000
_PER_NAME = 9
"""Bytes beside the name itself."""


@lru_cache(maxsize=1)
def find() -> str | None:
    """Where ripgrep is: beside our Python, else on the path. One that is too old is none."""
    for program in (os.path.join(os.path.dirname(sys.executable), "rg"), shutil.which("rg")):
        if program is not None and _version(program) >= _OLDEST:
            return program
    return None


def _version(program: str) -> int:
    try:
        told = subprocess.run([program, "--version"], capture_output=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.match(rb"ripgrep (\d+)", told)
    return int(found[1]) if found else 0


class Ripgrep:
    """Walks and searches by ripgrep."""

    def __init__(self, program: str, workspace: Workspace, seconds: float = SECONDS) -> None:
        self._program = program
        self._workspace = workspace
        self._seconds = seconds
        self._plain = Plain(workspace, seconds)

    def files(self, where: Where, signal: Signal) -> list[str]:
        """All files, in any order."""
        if where.is_file:
            return [where.start]
        rules = self._rules_above(where)
        if rules is None:
            return self._plain.files(where, signal)
        with self._walking(where, rules) as options:
            told = self._listed(["--files", *options, "--", _named(where.start)], signal)
        paths = told.decode("utf-8", "surrogateescape").split("\0")[:-1]
        found = (path.removeprefix("./") for path in paths)
        exact = where.pattern is None or (where.pattern.only_names and chosen(where.names).exactly)
        return list(found) if exact else [path for path in found if where.takes(path)]

    def count(self, query: Query, where: Where, signal: Signal) -> Tally:
        """How many lines match, file by file."""
        if query.expression.ripgrep is None:
            raise NotUnderstood
        words = ["--count", "--with-filename", *_TEXT, *_asked(query)]
        rules = self._rules_above(where)
        if rules is None:
            named = _portions([_named(path) for path in self._plain.files(where, signal)])
            parts = [self._listed([*words, *_WALK, "--no-ignore", "--", *names], signal) for names in named]
        else:
            with self._walking(where, rules) as options:
                parts = [self._listed([*words, *options, "--", _named(where.start)], signal)]
        found = {}
        for name, number in (line for part in parts for line in _COUNTED.findall(part)):
            path = os.fsdecode(name.removeprefix(b"./"))
            if where.takes(path):
                found[path] = int(number)
        return Tally(found)

    def show(
        self, query: Query, opened: Sequence[int], signal: Signal, before: int, after: int, most: int
    ) -> list[tuple[int, Line]]:
        """The lines of files that are open already: which one, and the line."""
        found: list[tuple[int, Line]] = []
        words = [*FORM, *_TEXT, f"-B{before}", f"-A{after}", f"--max-count={most}", *_asked(query), "--"]
        words += [f"/dev/fd/{fd}" for fd in opened]
        records = Records(lambda fd, line: found.append((fd, line)))
        self._run(words, signal, records.take, opened)
        return found

    def _listed(self, words: list[str], signal: Signal) -> bytearray:
        collected = Collected()
        self._run(words, signal, collected.take)
        return collected.output

    def _run(
        self, words: list[str], signal: Signal, take: Callable[[bytes], None], keep_open: Sequence[int] = ()
    ) -> None:
        command = [self._program, *_ALWAYS, *words]
        root = self._workspace.root
        ran = run(command, root, signal, take=take, keep_open=keep_open, seconds=self._seconds)
        # files that cannot be read are passed over without a word: what it says is about the call itself
        if ran.code not in (0, 1, 2) or (ran.code == 2 and ran.errors):
            raise NotUnderstood

    def _never(self, include_ignored: bool) -> Iterator[str]:
        """What need not be walked: none of it is shown. To say so costs time, which most trees are spared."""
        if os.path.lexists(self._workspace.root / ".git"):
            yield "--glob=!.git"
        if include_ignored:  # otherwise its own rules say so
            yield f"--glob=!/{STATE}"

    def _rules_above(self, where: Where) -> str | None:
        """None where ripgrep, to which they all count least, would judge by them otherwise than Python."""
        return "" if where.include_ignored or where.is_file else rules_above(self._workspace, where.start)

    @contextmanager
    def _walking(self, where: Where, rules: str) -> Iterator[list[str]]:
        """The options that say which files to look at."""
        named = chosen(where.names)
        options = [*_WALK, *self._never(where.include_ignored), *named.options]
        if where.include_ignored:
            options.append("--no-ignore")
        rules = named.rules + rules
        if not rules:
            yield options
            return
        with tempfile.NamedTemporaryFile(prefix="handrail-") as file:
            file.write(rules.encode("utf-8", "surrogateescape"))
            file.flush()
            yield [*options, f"--ignore-file={file.name}"]


def _named(start: str) -> str:
    """The start as ripgrep is told of it. From `./.` it would miss rules with a slash further down."""
    return "./" if start == "." else f"./{start}"


def _portions(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many names at a time as a command may have."""
    begin = length = 0
    for at, name in enumerate(names):
        length += len(os.fsencode(name)) + _PER_NAME
        if length > _LONGEST_COMMAND and at > begin:
            yield names[begin:at]
            begin, length = at, 0
    if names:
        yield names[begin:]


def _asked(query: Query) -> list[str]:
    words = ["--ignore-case"] if query.ignore_case else ["--case-sensitive"]
    if query.literal:
        words.append("--fixed-strings")
    assert query.expression.ripgrep is not None
    return [*words, f"--regexp={query.expression.ripgrep}"]
