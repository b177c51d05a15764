"""Ignoring: which files a project does not count as its own, as `.gitignore` and `.ignore` say it.

`.ignore` counts more than `.gitignore`, and that more than `.git/info/exclude`. Within one kind the folder
that is nearest to a file counts most, and within one file of rules the last line that fits.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from handrail.ext import ToolError
from handrail.toolsets.workspace.desk import Workspace

if TYPE_CHECKING:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_LONGEST = 1_048_576
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
KINDS = (".ignore", ".gitignore")
_EXCLUDE = ".git/info/exclude"
_ENTER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SPECIAL = re.compile(r"([\\*?\[\]!# ])")
_ESCAPED = r"\\\1"
_FOLDER_MARK = "(?P<ps_d>/)"
_ANYTHING = "."


class _Rule(NamedTuple):
    regex: re.Pattern[str]
    ignored: bool


class Rules:
    """One file of rules. Paths are relative to its folder; those of folders end with a slash."""

    def __init__(self, lines: Iterable[str]) -> None:
        made = [rule for line in lines if (rule := _rule(line)) is not None]
        self._rules = made[::-1]
        self._any = _any_of(made)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def say(self, path: str) -> bool | None:
        """Whether the path is ignored; None where no line speaks of it."""
        if self._any is None or self._any.search(path) is None:
            return None
        return next((rule.ignored for rule in self._rules if rule.regex.search(path)), None)


class Level(NamedTuple):
    """The rules of one folder, and those above it."""

    above: Level | None
    prefix: str
    """The path of the folder, with a slash at its end; empty for the root."""
    rules: tuple[Rules, Rules, Rules]
    """`.ignore`, `.gitignore`, `.git/info/exclude`."""

    def ignores(self, path: str) -> bool:
        """Whether a path from the root is ignored; that of a folder ends with a slash."""
        for kind in range(3):
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
    found = [_read(folder, kind) if names is None or kind in names else None for kind in KINDS]
    found.append(_read(folder, _EXCLUDE) if names is None or ".git" in names else None)
    if not any(found):
        return above
    first, second, third = (_rules(text or "") for text in found)
    return Level(above, prefix, (first, second, third))


def rules_above(workspace: Workspace, start: str) -> str:
    """The rules of the folders above a folder or file, written as if they stood in the root."""
    parts = [] if start == "." else start.split("/")
    fd, prefix = workspace.open_folder("."), ""
    lines: list[str] = []
    try:
        for number, part in enumerate(parts):
            kinds = (*((_EXCLUDE,) if number == 0 else ()), ".gitignore", ".ignore")
            for kind in kinds:
                lines += (_rooted(line, prefix) for line in (_read(fd, kind) or "").split("\n"))
            if number == len(parts) - 1:
                break
            inner = os.open(part, _ENTER, dir_fd=fd)
            os.close(fd)
            fd, prefix = inner, f"{prefix}{_SPECIAL.sub(_ESCAPED, part)}/"
    finally:
        os.close(fd)
    return "\n".join(line for line in lines if line)


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


def _read(folder: int, path: str) -> str | None:
    """The text of a file of rules, which is no link and of bounded size."""
    try:
        fd = os.open(path, _READ, dir_fd=folder)
    except OSError:
        return None
    with os.fdopen(fd, "rb") as file:
        try:
            return file.read(_LONGEST).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
        except IsADirectoryError:
            return None


def _rule(line: str) -> _Rule | None:
    spec = _spec()
    try:
        pattern = spec(line.removesuffix("\r"))
    except (ValueError, re.error):
        return None  # as git does with a line that it cannot read
    if pattern.include is None or pattern.regex is None:
        return None
    return _Rule(re.compile(_exact(pattern.regex.pattern), re.DOTALL), pattern.include)


def _exact(regex: str) -> str:
    """The same for what a line names itself. What lies in a folder that it names, the folder has decided."""
    if _FOLDER_MARK in regex:
        return regex.replace(_FOLDER_MARK, "(?:/\\Z)").replace("|$)", "|\\Z)")
    return regex if regex == _ANYTHING else f"{regex}(?=.)"  # `folder/**` is not the folder


def _any_of(rules: list[_Rule]) -> re.Pattern[str] | None:
    """Fits whatever one of the rules fits: most paths are none of theirs."""
    if not rules:
        return None
    return re.compile("|".join(f"(?:{rule.regex.pattern})" for rule in rules), re.DOTALL)


@lru_cache(maxsize=1)
def _spec() -> Callable[[str], GitIgnoreSpecPattern]:
    """A class of a package that is loaded on first use."""
    try:
        from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern
    except ImportError:
        raise ToolError(
            "Searching needs a package that is missing: pip install 'handrail[workspace]'",
            code="NOT_INSTALLED",
        ) from None
    return GitIgnoreSpecPattern
