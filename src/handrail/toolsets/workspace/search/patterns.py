"""Patterns of names: `*`, `?`, `[…]`, `**` for any folders, `{a,b}` for one of several."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from handrail.ext import ToolError
from handrail.toolsets.workspace.search.stars import FOLDERS, STAR, name_of, path_of

_MOST = 200
"""How many patterns braces may stand for."""
_PLAIN = re.compile(r"[\w.*\- @+#%=]+", re.ASCII)
"""A name that ripgrep understands in the same way; its `?` is one byte."""


class Pattern(NamedTuple):
    """A pattern, ready to be tried on paths from the folder that it was given for."""

    regex: re.Pattern[str]
    names: tuple[str, ...] | None
    """Patterns of which the last part of each path fits one; None where that cannot be said."""

    only_names: bool
    """Whether such a name fits in any folder."""

    def fits(self, path: str) -> bool:
        return self.regex.match(path) is not None


@lru_cache(maxsize=256)
def pattern_of(text: str) -> Pattern:
    """Read a pattern. Without a slash it speaks of names in any folder; with one, of the path."""
    written = [_cleaned(one) for one in _spread(text)]
    names = [one.rpartition("/")[2] for one in written]
    known = all(_PLAIN.fullmatch(one) and one != "**" for one in names)
    regex = "|".join(f"(?:{_regex(one)})" for one in written)
    anywhere = known and all(one == f"**/{name}" for one, name in zip(written, names, strict=True))
    return Pattern(re.compile(rf"(?:{regex})\Z", re.DOTALL), tuple(names) if known else None, anywhere)


def wrong(reason: str) -> ToolError:
    return ToolError(
        f"The pattern {reason}. Write it like *.py, src/**/*.py or docs/*.{{md,txt}}.", code="INVALID_PATTERN"
    )


def _cleaned(text: str) -> str:
    rooted = text.startswith(("/", "./"))
    while text.startswith(("/", "./")):
        text = text.lstrip("/").removeprefix("./")
    if text.endswith("/"):
        text += "**"
    named = [part for part in text.split("/") if part not in ("", ".")]
    parts = [part for at, part in enumerate(named) if part != "**" or named[at - 1 : at] != ["**"]]
    if not parts:
        raise wrong("is empty")
    if ".." in parts:
        raise wrong("leads upwards with `..`, which patterns cannot")
    if len(parts) == 1 and not rooted and parts != ["**"]:
        parts.insert(0, "**")
    return "/".join(parts)


def _spread(text: str) -> list[str]:
    """The patterns that one with braces stands for."""
    done: list[str] = []
    todo = [text]
    while todo:
        one = todo.pop()
        found = _innermost(one)
        if found is None:
            done.append(one)
        else:
            begin, end = found
            todo.extend(one[:begin] + choice + one[end + 1 :] for choice in one[begin + 1 : end].split(","))
        if len(done) + len(todo) > _MOST:
            raise wrong(f"stands for more than {_MOST} others")
    return sorted(set(done))


def _innermost(text: str) -> tuple[int, int] | None:
    """The first pair of braces that has none inside."""
    begin = None
    for at, char in enumerate(text):
        if char == "{":
            begin = at
        elif char == "}" and begin is not None:
            return begin, at
    if begin is not None:
        raise wrong("opens a brace and does not close it")
    return None


def _regex(text: str) -> str:
    return path_of([FOLDERS if part == FOLDERS else _name(part) for part in text.split("/")])


def _name(part: str) -> str:
    """One part of a path."""
    pieces: list[str] = []
    at = 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            if not pieces or pieces[-1] != STAR:
                pieces.append(STAR)
        elif char == "?":
            pieces.append("[^/]")
        elif char == "[" and (end := part.find("]", at + 1 + part.startswith(("!", "^"), at))) > 0:
            pieces.append(_set(part[at:end]))
            at = end + 1
        else:
            pieces.append(re.escape(char))
    return name_of(pieces)


def _set(inside: str) -> str:
    negated = inside.startswith(("!", "^"))
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[negated:]).replace("--", "\\--")
    try:
        re.compile(f"[{inside}]")
    except re.error:
        raise wrong(f"has a range [{inside}] that goes backwards") from None
    return f"[^/{inside}]" if negated else f"(?!/)[{inside}]"
