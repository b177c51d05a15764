"""Gitignore: which files a project ignores, by `.gitignore`, `.ignore` and `.rgignore`.

Ripgrep applies these rules to the files that it lists. It says nothing of a single path, which get_file_info
tells about, nor of folders, links and pipes, which list_files shows: for them the rules are read here.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from handrail.toolsets.workspace.path_resolution import path_error
from handrail.toolsets.workspace.search.glob_patterns import ANY_FOLDERS, STAR, name_regex, path_regex
from handrail.toolsets.workspace.workspace import Workspace

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t-\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class IgnoreRule(NamedTuple):
    """What a line says; what ends with a slash is a folder."""

    regex: str
    """To be tried on a path from the folder of the file, or on the last name of that path."""
    by_name: bool
    ignored: bool


class _InvalidRule(Exception):
    """Git takes such a line as one that fits nothing."""


def parse_rule(text: str) -> IgnoreRule | None:
    """The rule of a line; None where it has none."""
    line = _strip_blanks(text.removesuffix("\r"))
    ignored = not line.startswith("!")
    pattern = line if ignored else line[1:]
    only_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern or line.startswith("#"):
        return None
    try:
        parts = _RuleReader(pattern.removeprefix("/")).parts()
    except _InvalidRule:
        return None
    by_name = "/" not in pattern
    names = [
        ANY_FOLDERS if _is_any_folders(part) and not by_name else name_regex(_merge_stars(part))
        for part in parts
    ]
    return IgnoreRule(f"{path_regex(names)}{'/' if only_folders else '/?'}\\Z", by_name, ignored)


def _strip_blanks(line: str) -> str:
    """Without the blanks at its end that no backslash stands before."""
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    return stripped + " " if backslashes % 2 and stripped != line else stripped


def _is_any_folders(pieces: list[str]) -> bool:
    return len(pieces) > 1 and set(pieces) == {STAR}


def _merge_stars(pieces: list[str]) -> list[str]:
    """Stars that follow each other are one."""
    return [piece for at, piece in enumerate(pieces) if piece != STAR or pieces[at - 1 : at] != [STAR]]


class _RuleReader:
    """Reads a pattern from left to right: parts of expressions for one character each, and stars."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def parts(self) -> list[list[str]]:
        parts: list[list[str]] = [[]]
        while self._at < len(self._pattern):
            char = self._next()
            if char == "\\":
                char = self._next()
                parts[-1:] = [parts[-1], []] if char == "/" else [[*parts[-1], re.escape(char)]]
            elif char == "/":
                parts.append([])
            elif char == "[":
                parts[-1].append(self._set())
            else:
                parts[-1].append({"*": STAR, "?": "[^/]"}.get(char) or re.escape(char))
        return parts

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise _InvalidRule
        self._at += 1
        return self._pattern[self._at - 1]

    def _set(self) -> str:
        """A set in brackets, whose first character may be a closing one."""
        negated = self._pattern[self._at : self._at + 1] in ("!", "^")
        self._at += negated
        inside: list[str] = []
        before = ""
        char = self._next()
        while True:
            if char == "[" and (named := re.compile(r":([^]]*):\]").match(self._pattern, self._at)):
                if named[1] not in _CLASSES:
                    raise _InvalidRule
                inside.append(_CLASSES[named[1]])
                self._at, before = named.end(), ""
            elif char == "-" and before and self._pattern[self._at : self._at + 1] != "]":
                last = self._character(self._next())
                if before <= last:
                    inside.append(f"{_quoted(before)}-{_quoted(last)}")
                before = ""
            else:
                before = self._character(char)
                inside.append(_quoted(before))
            char = self._next()
            if char == "]":
                break
        if negated:
            return f"[^/{''.join(inside)}]"
        return f"(?!/)[{''.join(inside)}]" if inside else "(?!)"

    def _character(self, char: str) -> str:
        return self._next() if char == "\\" else char


def _quoted(char: str) -> str:
    return char if char.isalnum() else f"\\{char}" if char.isascii() else char


_MAX_BYTES = 1_048_576
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_EXCLUDE = ".git/info/exclude"
_GIT = ".gitignore"

_RULE_FILES = (".rgignore", ".ignore", _GIT, _EXCLUDE)
"""What counts most comes first."""

_OUTRANKING = (".rgignore", ".ignore")
"""They count more than a `.gitignore`, however near to a file that is."""
_ENTER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SPECIAL = re.compile(r"([\\*?\[\]{}!# ])")
_ESCAPED = r"\\\1"


class IgnoreRules:
    """One file of rules. Paths are relative to its folder; those of folders end with a slash."""

    def __init__(self, lines: Iterable[str]) -> None:
        rules = [rule for line in lines if (rule := parse_rule(_bytewise(line))) is not None]
        self._by_name = _LastMatch([(at, rule.regex) for at, rule in enumerate(rules) if rule.by_name])
        self._by_path = _LastMatch([(at, rule.regex) for at, rule in enumerate(rules) if not rule.by_name])
        self._ignored = [rule.ignored for rule in rules]

    def __bool__(self) -> bool:
        return bool(self._ignored)

    def decision(self, path: str) -> bool | None:
        """Whether the path is ignored; None where no line speaks of it."""
        path = _bytewise(path)
        name = path[path.rfind("/", 0, -1) + 1 :]
        last = max(self._by_name.fits(name), self._by_path.fits(path))
        return None if last < 0 else self._ignored[last]


def _bytewise(text: str) -> str:
    """A character for each byte: to git a `?` is one byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


class _LastMatch:
    """Numbered expressions of which the last one that fits counts, tried all at once."""

    def __init__(self, numbered: list[tuple[int, str]]) -> None:
        self._numbers = [number for number, _ in reversed(numbered)]
        self._regex = re.compile("|".join(f"({regex})" for _, regex in reversed(numbered)), re.DOTALL)

    def fits(self, text: str) -> int:
        """The number; -1 where none fits."""
        match = self._regex.match(text) if self._numbers else None
        return -1 if match is None or match.lastindex is None else self._numbers[match.lastindex - 1]


class IgnoreLevel(NamedTuple):
    """The rules of one folder, and those above it."""

    above: IgnoreLevel | None
    prefix: str
    """The path of the folder, with a slash at its end; empty for the root."""
    rules: tuple[IgnoreRules, ...]
    """One for each kind."""

    def ignores(self, path: str) -> bool:
        """Whether a path from the root is ignored; that of a folder ends with a slash."""
        for kind in range(len(_RULE_FILES)):
            level: IgnoreLevel | None = self
            while level is not None:
                if (
                    level.rules[kind]
                    and (decision := level.rules[kind].decision(path[len(level.prefix) :])) is not None
                ):
                    return decision
                level = level.above
        return False


def load_level(
    folder: int, prefix: str, above: IgnoreLevel | None, names: frozenset[str] | None = None
) -> IgnoreLevel | None:
    """The level of an open folder; the one above where it has no rules. `names`: what is in the folder."""
    texts = [
        _read(folder, kind) if names is None or kind.split("/")[0] in names else None for kind in _RULE_FILES
    ]
    if not any(texts):
        return above
    return IgnoreLevel(above, prefix, tuple(_rules(text or "") for text in texts))


def parent_rules(workspace: Workspace, start: str) -> str | None:
    """The rules of the folders above a folder, written as if they stood in the root and counted least.

    With them the folder's own first line where a mark stands before it, which ripgrep takes for a part of it.
    None where some count more than those of kinds that may follow further down.
    """
    parts = [] if start == "." else start.split("/")
    fd, prefix = workspace.open_folder("."), ""
    lines: dict[str, list[str]] = {kind: [] for kind in reversed(_RULE_FILES)}
    try:
        for part in parts:
            for kind, rules in lines.items():
                rules += (_prefix_rule(line, prefix) for line in (_read(fd, kind) or "").split("\n"))
            inner = os.open(part, _ENTER, dir_fd=fd)
            os.close(fd)
            fd, prefix = inner, f"{prefix}{_SPECIAL.sub(_ESCAPED, part)}/"
        lines[_GIT] += (_prefix_rule(line, prefix) for line in _marked_line(fd))
    except OSError as error:
        raise path_error(error, start) from error
    finally:
        os.close(fd)
    if any(parse_rule(line) for kind in _OUTRANKING for line in lines[kind]):
        return None
    return "\n".join(line for rules in lines.values() for line in rules if line)


def _prefix_rule(line: str, prefix: str) -> str:
    line = line.removesuffix("\r")
    if not prefix or not line.strip() or line.startswith("#"):
        return line
    no, rule = ("!", line[1:]) if line.startswith("!") else ("", line)
    if "/" in rule.rstrip().rstrip("/"):
        return f"{no}/{prefix}{rule.lstrip('/')}"
    return f"{no}/{prefix}**/{rule}"


@lru_cache(maxsize=256)
def _rules(text: str) -> IgnoreRules:
    return IgnoreRules(text.split("\n"))


def _marked_line(folder: int) -> list[str]:
    """The first line of a folder's `.gitignore` that begins with a byte order mark."""
    data = _data(folder, _GIT) or b""
    return _decoded(data).split("\n")[:1] if data.startswith(BOM_UTF8) else []


def _read(folder: int, path: str) -> str | None:
    """The text of a file of rules."""
    data = _data(folder, path)
    return None if data is None else _decoded(data)


def _decoded(data: bytes) -> str:
    return data.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")


def _data(folder: int, path: str) -> bytes | None:
    """What is in a file of rules, which is no link and of bounded size."""
    try:
        fd = os.open(path, _READ, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        try:
            return file.read(_MAX_BYTES)
        except IsADirectoryError:
            return None
