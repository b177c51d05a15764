"""Ignoring: which files a project does not count as its own, as `.gitignore` and `.ignore` say it.

`.rgignore` counts more than `.ignore`, that more than `.gitignore`, and that more than `.git/info/exclude`.
Within one kind the folder that is nearest to a file counts most, and within one file of rules the last line
that fits.
"""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from handrail.toolsets.workspace.beneath import said
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.search.rule_lines import rule_line

_LONGEST = 1_048_576
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_EXCLUDE = ".git/info/exclude"
_GIT = ".gitignore"
_KINDS = (".rgignore", ".ignore", _GIT, _EXCLUDE)
"""What counts most comes first."""
_OUTRANKING = (".rgignore", ".ignore")
"""They count more than a `.gitignore`, however near to a file that is."""
_ENTER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SPECIAL = re.compile(r"([\\*?\[\]{}!# ])")
_ESCAPED = r"\\\1"


class Rules:
    """One file of rules. Paths are relative to its folder; those of folders end with a slash."""

    def __init__(self, lines: Iterable[str]) -> None:
        found = [rule for line in lines if (rule := rule_line(_bytewise(line))) is not None]
        self._by_name = _LastOf([(at, one.regex) for at, one in enumerate(found) if one.by_name])
        self._by_path = _LastOf([(at, one.regex) for at, one in enumerate(found) if not one.by_name])
        self._ignored = [rule.ignored for rule in found]

    def __bool__(self) -> bool:
        return bool(self._ignored)

    def say(self, path: str) -> bool | None:
        """Whether the path is ignored; None where no line speaks of it."""
        path = _bytewise(path)
        name = path[path.rfind("/", 0, -1) + 1 :]
        last = max(self._by_name.fits(name), self._by_path.fits(path))
        return None if last < 0 else self._ignored[last]


def _bytewise(text: str) -> str:
    """A character for each byte: to git a `?` is one byte."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("latin-1")


class _LastOf:
    """Numbered expressions of which the last one that fits counts, tried all at once."""

    def __init__(self, numbered: list[tuple[int, str]]) -> None:
        self._numbers = [number for number, _ in reversed(numbered)]
        self._regex = re.compile("|".join(f"({regex})" for _, regex in reversed(numbered)), re.DOTALL)

    def fits(self, text: str) -> int:
        """The number; -1 where none fits."""
        found = self._regex.match(text) if self._numbers else None
        return -1 if found is None or found.lastindex is None else self._numbers[found.lastindex - 1]


class Level(NamedTuple):
    """The rules of one folder, and those above it."""

    above: Level | None
    prefix: str
    """The path of the folder, with a slash at its end; empty for the root."""
    rules: tuple[Rules, ...]
    """One for each kind."""

    def ignores(self, path: str) -> bool:
        """Whether a path from the root is ignored; that of a folder ends with a slash."""
        for kind in range(len(_KINDS)):
            level: Level | None = self
            while level is not None:
                if (
                    level.rules[kind]
                    and (said := level.rules[kind].say(path[len(level.prefix) :])) is not None
                ):
                    return said
                level = level.above
        return False


def level(folder: int, prefix: str, above: Level | None, names: frozenset[str] | None = None) -> Level | None:
    """The level of an open folder; the one above where it has no rules. `names`: what is in the folder."""
    found = [_read(folder, kind) if names is None or kind.split("/")[0] in names else None for kind in _KINDS]
    if not any(found):
        return above
    return Level(above, prefix, tuple(_rules(text or "") for text in found))


def rules_above(workspace: Workspace, start: str) -> str | None:
    """The rules of the folders above a folder, written as if they stood in the root and counted least.

    With them the folder's own first line where a mark stands before it, which ripgrep takes for a part of it.
    None where some count more than those of kinds that may follow further down.
    """
    parts = [] if start == "." else start.split("/")
    fd, prefix = workspace.open_folder("."), ""
    lines: dict[str, list[str]] = {kind: [] for kind in reversed(_KINDS)}
    try:
        for part in parts:
            for kind, rules in lines.items():
                rules += (_rooted(line, prefix) for line in (_read(fd, kind) or "").split("\n"))
            inner = os.open(part, _ENTER, dir_fd=fd)
            os.close(fd)
            fd, prefix = inner, f"{prefix}{_SPECIAL.sub(_ESCAPED, part)}/"
        lines[_GIT] += (_rooted(line, prefix) for line in _marked(fd))
    except OSError as error:
        raise said(error, start) from error
    finally:
        os.close(fd)
    if any(rule_line(line) for kind in _OUTRANKING for line in lines[kind]):
        return None
    return "\n".join(line for rules in lines.values() for line in rules if line)


def _rooted(line: str, prefix: str) -> str:
    line = line.removesuffix("\r")
    if not prefix or not line.strip() or line.startswith("#"):
        return line
    no, rule = ("!", line[1:]) if line.startswith("!") else ("", line)
    if "/" in rule.rstrip().rstrip("/"):
        return f"{no}/{prefix}{rule.lstrip('/')}"
    return f"{no}/{prefix}**/{rule}"


@lru_cache(maxsize=256)
def _rules(text: str) -> Rules:
    return Rules(text.split("\n"))


def _marked(folder: int) -> list[str]:
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
            return file.read(_LONGEST)
        except IsADirectoryError:
            return None
