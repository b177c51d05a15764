"""Rule lines: one line of a `.gitignore` as a regular expression, as git itself reads it."""

from __future__ import annotations

import re
from typing import NamedTuple

from handrail.toolsets.workspace.search.stars import FOLDERS, STAR, name_of, path_of

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


class RuleLine(NamedTuple):
    """What a line says; what ends with a slash is a folder."""

    regex: str
    """To be tried on a path from the folder of the file, or on the last name of that path."""
    by_name: bool
    ignored: bool


class _Unreadable(Exception):
    """Git takes such a line as one that fits nothing."""


def rule_line(text: str) -> RuleLine | None:
    """The rule of a line; None where it has none."""
    line = _trimmed(text.removesuffix("\r"))
    ignored = not line.startswith("!")
    pattern = line if ignored else line[1:]
    only_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern or line.startswith("#"):
        return None
    try:
        parts = _Reader(pattern.removeprefix("/")).parts()
    except _Unreadable:
        return None
    by_name = "/" not in pattern
    names = [FOLDERS if _is_folders(part) and not by_name else name_of(_single(part)) for part in parts]
    return RuleLine(f"{path_of(names)}{'/' if only_folders else '/?'}\\Z", by_name, ignored)


def _trimmed(line: str) -> str:
    """Without the blanks at its end that no backslash stands before."""
    kept = line.rstrip(" ")
    backslashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if backslashes % 2 and kept != line else kept


def _is_folders(pieces: list[str]) -> bool:
    return len(pieces) > 1 and set(pieces) == {STAR}


def _single(pieces: list[str]) -> list[str]:
    """Stars that follow each other are one."""
    return [one for at, one in enumerate(pieces) if one != STAR or pieces[at - 1 : at] != [STAR]]


class _Reader:
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
            else:
                parts[-1].append(self._piece(char))
        return parts

    def _piece(self, char: str) -> str:
        if char == "[":
            return self._set()
        return {"*": STAR, "?": "[^/]"}.get(char) or re.escape(char)

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise _Unreadable
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
                    raise _Unreadable
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
