"""Ripgrep: the program that looks through many files, what it is told, and what it prints."""

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
from typing import NamedTuple

from handrail import ToolError
from handrail.ext.tools import Signal
from handrail.toolsets.workspace.path_rules import STATE_FOLDER
from handrail.toolsets.workspace.search.gitignore import parent_rules
from handrail.toolsets.workspace.search.process import SECONDS, OutputBuffer, run
from handrail.toolsets.workspace.search.query import (
    MatchCounts,
    SearchLine,
    SearchQuery,
    SearchScope,
    UnsupportedPattern,
)
from handrail.toolsets.workspace.search.walk import walk
from handrail.toolsets.workspace.workspace import Workspace


class NameFilter(NamedTuple):
    """Options, or rules to ignore by, that leave files of certain names."""

    options: tuple[str, ...] = ()
    rules: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether no others are left: a rule of the project may bring a file back."""
        return not self.rules


def name_filter(names: Sequence[str] | None) -> NameFilter:
    """What leaves the files whose names fit one of these patterns.

    A type is the fastest way, but fits no name that ends with a dot.
    """
    if not names or "*" in names:
        return NameFilter()
    if any(name.endswith((".", "*")) for name in names):
        return NameFilter(rules="".join(["*\n", "!*/\n", *(f"!**/{_dot_as_set(name)}\n" for name in names)]))
    return NameFilter(options=(*(f"--type-add=handrail:{name}" for name in names), "--type=handrail"))


def _dot_as_set(name: str) -> str:
    """A pattern as it fits a dot at the end, which ripgrep knows in a set alone."""
    return f"{name[:-1]}[.]" if name.endswith(".") else name


OUTPUT_FORMAT = (
    "--line-number --column --with-filename --no-heading --no-context-separator --null "
    r"--field-match-separator=\x00: --field-context-separator=\x00-"
).split()
_HEAD = re.compile(rb"/dev/fd/(\d+)\0(\d+)\0(?:(-)|:(?:(\d+)\0:)?)")
_MAX_HEAD = 100

_BYTES_AROUND = 1_600
"""Bytes before and after the beginning of a match; more than is shown, in any script."""


class OutputParser:
    """Takes what ripgrep prints in this form and gives each line with the number of its descriptor."""

    def __init__(self, give: Callable[[int, SearchLine], None]) -> None:
        self._give = give
        self._begin_line()

    def take(self, piece: bytes) -> None:
        """The next piece of the output."""
        *ended, rest = piece.split(b"\n")
        for part in ended:
            self._add(part)
            self._end_line()
        self._add(rest)

    def _begin_line(self) -> None:
        self._unread = b""
        self._head: re.Match[bytes] | None = None
        self._text = bytearray()
        self._skipped = 0

    def _add(self, part: bytes) -> None:
        if self._head is None:
            self._unread += part
            if len(self._unread) >= _MAX_HEAD:
                self._read_head()
        else:
            self._keep(part)

    def _read_head(self) -> None:
        self._head = _HEAD.match(self._unread)
        if self._head is not None:
            self._keep(self._unread[self._head.end() :])
        self._unread = b""

    def _keep(self, part: bytes) -> None:
        """What is near enough to the match."""
        begin = max(0, self._match() - _BYTES_AROUND - self._skipped)
        self._skipped += min(begin, len(part))
        self._text += part[begin : begin + 2 * _BYTES_AROUND - len(self._text)]

    def _match(self) -> int:
        """Where the match begins in the line; 0 where nobody says."""
        return int(self._head[4]) - 1 if self._head is not None and self._head[4] else 0

    def _end_line(self) -> None:
        if self._head is None:
            self._read_head()
        if self._head is not None:
            at = -1 if self._head[3] else len(_decoded(self._text[: self._match() - self._skipped]))
            line = SearchLine(int(self._head[2]), _decoded(self._text.removesuffix(b"\r")), at)
            self._give(int(self._head[1]), line)
        self._begin_line()


def _decoded(text: bytes | bytearray) -> str:
    return text.decode("utf-8", "surrogateescape")


_ALWAYS = ["--no-config", "--color=never"]

_WALK = "--hidden --no-messages --no-ignore-global --no-ignore-parent --no-require-git --null".split()
_TEXT = ["--text", "--crlf", "--no-mmap"]
_COUNTED = re.compile(rb"([^\0]+)\0(\d+)\r?\n")
_OLDEST_VERSION = 13
_MAX_COMMAND = 500_000

_PER_NAME = 9
"""Bytes beside the name itself."""


@lru_cache(maxsize=1)
def find_ripgrep() -> str | None:
    """Where ripgrep is: beside our Python, else on the path. One that is too old is none."""
    for program in (os.path.join(os.path.dirname(sys.executable), "rg"), shutil.which("rg")):
        if program is not None and _version(program) >= _OLDEST_VERSION:
            return program
    return None


def _version(program: str) -> int:
    try:
        output = subprocess.run([program, "--version"], capture_output=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    version = re.match(rb"ripgrep (\d+)", output)
    return int(version[1]) if version else 0


def search_failed() -> ToolError:
    return ToolError("The search broke off. Narrow it with `path` or `glob`.")


class Ripgrep:
    """Lists and searches files by ripgrep."""

    def __init__(self, program: str | None, workspace: Workspace, seconds: float = SECONDS) -> None:
        self._program = program
        self._workspace = workspace
        self.root = workspace.root
        self.seconds = seconds

    def files(self, scope: SearchScope, signal: Signal) -> list[str]:
        """All files, in any order."""
        if scope.is_file:
            return [scope.start]
        rules = self._rules_above(scope)
        if rules is None:
            entries = walk(self._workspace, scope.start, signal)
            return [entry.path for entry in entries if entry.is_file and scope.includes(entry.path)]
        with self._walk_options(scope, rules) as options:
            try:
                output = self._output(["--files", *options, "--", _start_argument(scope.start)], signal)
            except UnsupportedPattern:
                raise search_failed() from None
        names = output.decode("utf-8", "surrogateescape").split("\0")[:-1]
        paths = (name.removeprefix("./") for name in names)
        exact = scope.pattern is None or (scope.pattern.only_names and name_filter(scope.names).is_exact)
        return list(paths) if exact else [path for path in paths if scope.includes(path)]

    def count(self, query: SearchQuery, scope: SearchScope, signal: Signal) -> MatchCounts:
        """How many lines match, file by file."""
        words = ["--count", "--with-filename", *_TEXT, *_query_arguments(query)]
        rules = self._rules_above(scope)
        if rules is None:
            batches = _argument_batches([_start_argument(path) for path in self.files(scope, signal)])
            words += [*_WALK, "--no-ignore", "--"]
            outputs = [self._output([*words, *batch], signal) for batch in batches]
        else:
            with self._walk_options(scope, rules) as options:
                outputs = [self._output([*words, *options, "--", _start_argument(scope.start)], signal)]
        counts = {}
        for name, lines in (record for output in outputs for record in _COUNTED.findall(output)):
            path = os.fsdecode(name.removeprefix(b"./"))
            if scope.includes(path):
                counts[path] = int(lines)
        return MatchCounts(counts)

    def show(
        self, query: SearchQuery, opened: Sequence[int], signal: Signal, before: int, after: int, most: int
    ) -> list[tuple[int, SearchLine]]:
        """The lines of files that are open already, each with the descriptor of its file."""
        lines: list[tuple[int, SearchLine]] = []
        extent = (f"-B{before}", f"-A{after}", f"--max-count={most}")
        words = [*OUTPUT_FORMAT, *_TEXT, *extent, *_query_arguments(query), "--"]
        words += [f"/dev/fd/{fd}" for fd in opened]
        parser = OutputParser(lambda fd, line: lines.append((fd, line)))
        self._run(words, signal, parser.take, opened)
        return lines

    def _output(self, words: list[str], signal: Signal) -> bytearray:
        collected = OutputBuffer()
        self._run(words, signal, collected.take)
        return collected.output

    def _run(
        self, words: list[str], signal: Signal, take: Callable[[bytes], None], keep_open: Sequence[int] = ()
    ) -> None:
        if self._program is None:
            raise ToolError(
                "ripgrep is not installed, which searches need: pip install 'handrail[workspace]'",
                code="NOT_INSTALLED",
            )
        command = [self._program, *_ALWAYS, *words]
        result = run(command, self.root, signal, take=take, keep_open=keep_open, seconds=self.seconds)
        # files that cannot be read are passed over without a word: what it says is about the call itself
        if result.code not in (0, 1, 2) or (result.code == 2 and result.errors):
            raise UnsupportedPattern

    def _never(self, include_ignored: bool) -> Iterator[str]:
        """What need not be walked: none of it is shown. To say so costs time, which most trees are spared."""
        if os.path.lexists(self.root / ".git"):
            yield "--glob=!.git"
        if include_ignored:  # otherwise its own rules say so
            yield f"--glob=!/{STATE_FOLDER}"

    def _rules_above(self, scope: SearchScope) -> str | None:
        """None where some outrank those below the start: ripgrep lets all that it is given count least."""
        return "" if scope.include_ignored or scope.is_file else parent_rules(self._workspace, scope.start)

    @contextmanager
    def _walk_options(self, scope: SearchScope, rules: str) -> Iterator[list[str]]:
        """The options that say which files to look at."""
        names = name_filter(scope.names)
        options = [*_WALK, *self._never(scope.include_ignored), *names.options]
        if scope.include_ignored:
            options.append("--no-ignore")
        rules = names.rules + rules
        if not rules:
            yield options
            return
        with tempfile.NamedTemporaryFile(prefix="handrail-") as file:
            file.write(rules.encode("utf-8", "surrogateescape"))
            file.flush()
            yield [*options, f"--ignore-file={file.name}"]


def _start_argument(start: str) -> str:
    """The start as ripgrep is told of it. From `./.` it would miss rules with a slash further down."""
    return "./" if start == "." else f"./{start}"


def _argument_batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many names at a time as a command may have."""
    begin = length = 0
    for at, name in enumerate(names):
        length += len(os.fsencode(name)) + _PER_NAME
        if length > _MAX_COMMAND and at > begin:
            yield names[begin:at]
            begin, length = at, 0
    if names:
        yield names[begin:]


def _query_arguments(query: SearchQuery) -> list[str]:
    if query.expression.ripgrep is None:
        raise UnsupportedPattern
    words = ["--ignore-case"] if query.ignore_case else ["--case-sensitive"]
    if query.literal:
        words.append("--fixed-strings")
    return [*words, f"--regexp={query.expression.ripgrep}"]
