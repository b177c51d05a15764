"""Query: what is looked for, in the dialect of each engine, where, and what an engine answers."""

from __future__ import annotations

import re
import sys
import warnings
from typing import NamedTuple

from handrail import ToolError
from handrail.toolsets.workspace.search.glob_patterns import GlobPattern

_SPECIAL = "\\.+*?()|[]{}^$#&-~"
_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")
_NAME = re.compile(r"\(\?P?<([A-Za-z_]\w*)>")
_FLAGS = re.compile(r"\(\?([A-Za-z-]+)([:)])")
_PROPERTY = re.compile(r"\\[pP](\{\^?[\w=: -]+\}|[A-Z])")
_CODE = re.compile(r"\\[xuU]\{([0-9A-Fa-f]{1,8})\}")
_NAMED = re.compile(r"\\N\{[^{}]*\}")
_PYTHON_GROUPS = ("(?=", "(?!", "(?<=", "(?<!", "(?P=", "(?(", "(?>", "(?#")

_INVALID_BYTES = r"\udc80-\udcff"
"""What stands in Python's texts for bytes that are no UTF-8, which fit nothing in ripgrep."""
_SPELLED = {"}": ("\\}", "\\}"), ".": (".", rf"[^\n\r{_INVALID_BYTES}]")}

_ESCAPES = {
    "S": rf"[^\s{_INVALID_BYTES}]",
    "W": rf"[^\w{_INVALID_BYTES}]",
    "D": rf"[^\d{_INVALID_BYTES}]",
    "B": rf"(?!\b|[{_INVALID_BYTES}])(?<![{_INVALID_BYTES}])",
}
"""As Python writes them outside of sets; its own `\\B` fits no empty line."""

_BLANKS = " \t\v\f"
"""They count for nothing in an expression with the flag x."""

_ANCHORS = {"<": "\\b", ">": "\\b", "A": "^", "z": "$", "Z": "$"}
"""Places that not both know by these names; a text is one line here."""
_SETS = ("&&", "--", "~~")


class EngineRegex(NamedTuple):
    """A pattern as each engine writes it; None for an engine that does not know what it says."""

    ripgrep: str | None
    python: str | None


def translate_regex(pattern: str, *, literal: bool = False) -> EngineRegex:
    """The pattern for both engines. Raises ToolError when it means nothing to either."""
    if "\n" in pattern or "\r" in pattern:
        raise invalid_regex("it has a line break, but lines are searched one by one")
    if "\0" in pattern or any("\ud800" <= char <= "\udfff" for char in pattern):
        raise invalid_regex("it has a character that no text has")
    if literal:
        return EngineRegex(pattern, re.escape(pattern))
    translated = _RegexTranslator(pattern).read()
    problem = None if translated.python is None else python_problem(translated.python)
    if problem is None:
        return translated
    if translated.ripgrep is None:
        raise invalid_regex(problem)
    return EngineRegex(translated.ripgrep, None)


def python_problem(pattern: str) -> str | None:
    """What Python finds wrong with a pattern."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, FutureWarning, DeprecationWarning, OverflowError, RecursionError) as error:
        return str(error)
    return None


def invalid_regex(reason: str) -> ToolError:
    return ToolError(
        f"The pattern is no regular expression that can be searched for: {reason}. Put a backslash before "
        "characters that stand for themselves, or search for the text as it is with literal=true.",
        code="INVALID_PATTERN",
    )


class _RegexTranslator:
    """Reads a pattern once, from left to right, and writes it twice."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._ripgrep: list[str] = []
        self._python: list[str] = []
        self._only: set[str] = set()
        self._repeatable = False

    def read(self) -> EngineRegex:
        while self._at < len(self._pattern):
            char = self._pattern[self._at]
            if char == "\\" and self._pattern[self._at + 1 : self._at + 2] in _ANCHORS:
                self._write(2, _ANCHORS[self._pattern[self._at + 1]])
            elif char == "\\":
                self._escape()
            elif char == "[":
                self._set()
            elif char == "(":
                self._group()
            elif char in "*+?{":
                self._repeat(char)
            elif char in "}.":
                self._write(1, *_SPELLED[char])
            else:
                self._write(1, char)
            if char not in "*+?{":
                self._repeatable = char not in "(|"
        ripgrep = None if "python" in self._only else "".join(self._ripgrep)
        python = None if "ripgrep" in self._only else "".join(self._python)
        if ripgrep is None and python is None:
            raise invalid_regex("it mixes what only Python and what only ripgrep knows")
        return EngineRegex(ripgrep, python)

    def _write(self, length: int, ripgrep: str, python: str | None = None) -> None:
        self._at += length
        self._ripgrep.append(ripgrep)
        self._python.append(ripgrep if python is None else python)

    def _keep(self, length: int, only: str | None = None) -> None:
        """Take the next characters as they are."""
        if only is not None:
            self._only.add(only)
        self._write(length, self._pattern[self._at : self._at + length])

    def _escape(self, in_set: bool = False) -> None:
        rest = self._pattern[self._at :]
        char = rest[1:2]
        if not char:
            raise invalid_regex("it ends with a lone backslash")
        if char == "n":
            raise invalid_regex("it has a line break, but lines are searched one by one")
        if match := _PROPERTY.match(rest):
            self._keep(match.end(), "ripgrep")
        elif match := _CODE.match(rest):
            code = int(match[1], 16)
            if code > sys.maxunicode or 0xD800 <= code <= 0xDFFF:
                raise invalid_regex("it has a character that no text has")
            self._write(match.end(), f"\\x{{{match[1]}}}", re.escape(chr(code)))
        elif match := _NAMED.match(rest):
            self._keep(match.end(), "python")
        elif char in _ESCAPES and not in_set:
            self._write(2, rest[:2], _ESCAPES[char])
        elif char in _BLANKS:
            self._write(2, _by_code(char))
        elif char.isdigit() or char == "N":
            self._keep(2, "python")
        elif not char.isalnum() and char not in _SPECIAL:
            self._write(2, char)
        else:
            self._keep(2)

    def _set(self) -> None:
        """A set of characters in brackets."""
        begin, open_to_all = len(self._python), False
        self._keep(1)
        negated = self._pattern.startswith("^", self._at)
        if negated:
            self._write(1, "^", f"^{_INVALID_BYTES}")
        if self._pattern.startswith("]", self._at):
            self._write(1, "\\]")
        while self._at < len(self._pattern):
            char = self._pattern[self._at]
            if char == "]":
                self._keep(1)
                if open_to_all and not negated:
                    self._python[begin:] = [f"(?:(?![{_INVALID_BYTES}])", *self._python[begin:], ")"]
                return
            if char == "\\":
                open_to_all |= self._pattern[self._at + 1 : self._at + 2] in _ESCAPES
                self._escape(in_set=True)
            elif char in _BLANKS or char == "#":
                self._write(1, _by_code(char), char)
            elif self._pattern.startswith("[:", self._at) and ":]" in self._pattern[self._at :]:
                self._keep(self._pattern.index(":]", self._at) + 2 - self._at, "ripgrep")
            elif char == "[":
                self._write(1, "\\[")
            elif self._pattern.startswith(_SETS, self._at):
                self._keep(2, "ripgrep")
            else:
                self._keep(1)
        raise invalid_regex("a bracket is opened and not closed")

    def _group(self) -> None:
        rest = self._pattern[self._at :]
        if named := _NAME.match(rest):
            self._write(named.end(), f"(?P<{named[1]}>")
        elif rest.startswith(_PYTHON_GROUPS):
            self._keep(2, "python")
        elif flags := _FLAGS.match(rest):
            within = self._at > 0 and flags[2] == ")"
            if set(flags[1]) & {"U", "R"} or within:
                self._only.add("ripgrep")
            if set(flags[1]) & {"a", "L"}:
                self._only.add("python")
            self._keep(flags.end())
        else:
            self._keep(1)

    def _repeat(self, char: str) -> None:
        count = _COUNT.match(self._pattern, self._at)
        if char != "{":
            self._keep(1)
        elif count is not None and (count[1] or count[3]) and self._repeatable:
            self._write(len(count[0]), f"{{{count[1] or 0}{count[2]}{count[3]}}}")
        else:
            self._repeatable = True
            self._write(1, "\\{")
            return
        following = self._pattern[self._at : self._at + 1]
        if following == "?":
            self._keep(1)
        elif following == "+":
            self._keep(1, "python")


def _by_code(char: str) -> str:
    return f"\\x{ord(char):02x}"


MAX_PYTHON_SIZE = 64 * 1_048_576
"""Bytes of the largest file that Python searches for look-around; ripgrep takes any."""


class UnsupportedPattern(Exception):
    """The pattern means nothing to this engine."""


class SearchQuery(NamedTuple):
    """A regular expression or a text."""

    expression: EngineRegex
    literal: bool = False
    ignore_case: bool = False


class SearchScope(NamedTuple):
    """Files to look at: those below a folder, or one file."""

    start: str
    """From the root of the workspace, without links."""
    is_file: bool = False
    pattern: GlobPattern | None = None
    """What their paths from the start must fit."""
    include_ignored: bool = False

    @property
    def names(self) -> tuple[str, ...] | None:
        return None if self.pattern is None else self.pattern.names

    def includes(self, path: str) -> bool:
        """Whether a path from the root fits."""
        if self.pattern is None or self.is_file:
            return True
        return self.pattern.fits(path if self.start == "." else path[len(self.start) + 1 :])


class MatchCounts(NamedTuple):
    """How many lines match, file by file."""

    files: dict[str, int]
    large: int = 0
    """Files that were not searched because of their size."""
    binary: int = 0
    """Files that match and are no text."""
    linked: int = 0
    """Files that match and have another name, which may lie outside."""


class SearchLine(NamedTuple):
    """A line of a file."""

    number: int
    text: str
    """All of it; of a long one what is around the match."""
    at: int
    """Where the match begins in the text; -1 for a line around one."""
