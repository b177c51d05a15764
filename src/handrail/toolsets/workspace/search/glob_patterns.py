"""Glob patterns: `*`, `?`, `[…]`, `**` for any folders, `{a,b}`; and kinds of files by their suffix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from handrail import ToolError

STAR = "*"
"""Among the pieces of a name: any characters."""

ANY_FOLDERS = "**"
"""Among the parts of a path: any folders, or none."""


def name_regex(pieces: Sequence[str]) -> str:
    """One name: expressions for one character each, and stars."""
    first, *rest = ("".join(group) for group in _split_at(pieces, STAR))
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>[^/]*?{group})" for group in middle) + "[^/]*" + last


def path_regex(parts: Sequence[str]) -> str:
    """A path: expressions for one name each, and any folders. It must end where the expression ends."""
    *above, last = parts
    name = f"(?=[^/]){last}"  # a name has at least one character
    groups = ["".join(f"{name}/" for name in group) for group in _split_at(above, ANY_FOLDERS)]
    first, *rest = groups
    if last == ANY_FOLDERS:
        return first + "".join(_first_place(group) for group in rest) + ".+"
    if not rest:
        return first + name
    *middle, end = rest
    return first + "".join(_first_place(group) for group in middle) + f"(?:[^/]+/)*?{end}{name}"


def _first_place(group: str) -> str:
    return f"(?>(?:[^/]+/)*?{group})"


def _split_at(pieces: Sequence[str], mark: str) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for piece in pieces:
        if piece == mark:
            groups.append([])
        else:
            groups[-1].append(piece)
    return groups


_MAX_ALTERNATIVES = 200
"""How many patterns braces may stand for."""

_SAME_IN_RIPGREP = re.compile(r"[\w.*\- @+#%=]+", re.ASCII)
"""A name that ripgrep understands in the same way; its `?` is one byte."""
_INNERMOST_BRACES = re.compile(r"\{([^{}]*)\}")


class GlobPattern(NamedTuple):
    """A pattern, ready to be tried on paths from the folder that it was given for."""

    regex: re.Pattern[str]
    names: tuple[str, ...] | None
    """Patterns of which the last part of each path fits one; None where that cannot be said."""

    only_names: bool
    """Whether such a name fits in any folder."""

    def fits(self, path: str) -> bool:
        return self.regex.match(path) is not None


@lru_cache(maxsize=256)
def compile_glob(text: str) -> GlobPattern:
    """Read a pattern. Without a slash it speaks of names in any folder; with one, of the path."""
    written = [_normalize(pattern) for pattern in _expand_braces(text)]
    names = [pattern.rpartition("/")[2] for pattern in written]
    is_same = all(_SAME_IN_RIPGREP.fullmatch(name) and name != "**" for name in names)
    regex = "|".join(f"(?:{path_regex([_name(part) for part in pattern.split('/')])})" for pattern in written)
    anywhere = is_same and all(pattern == f"**/{name}" for pattern, name in zip(written, names, strict=True))
    return GlobPattern(re.compile(rf"(?:{regex})\Z", re.DOTALL), tuple(names) if is_same else None, anywhere)


def invalid_glob(reason: str) -> ToolError:
    return ToolError(
        f"The pattern {reason}. Write it like *.py, src/**/*.py or docs/*.{{md,txt}}.", code="INVALID_PATTERN"
    )


def _normalize(text: str) -> str:
    rooted = text.startswith(("/", "./"))
    while text.startswith(("/", "./")):
        text = text.lstrip("/").removeprefix("./")
    if text.endswith("/"):
        text += "**"
    named = [part for part in text.split("/") if part not in ("", ".")]
    parts = [part for at, part in enumerate(named) if part != "**" or named[at - 1 : at] != ["**"]]
    if not parts:
        raise invalid_glob("is empty")
    if ".." in parts:
        raise invalid_glob("leads upwards with `..`, which patterns cannot")
    if len(parts) == 1 and not rooted and parts != ["**"]:
        parts.insert(0, "**")
    return "/".join(parts)


def _expand_braces(text: str) -> list[str]:
    """The patterns that one with braces stands for."""
    done: list[str] = []
    todo = [text]
    while todo:
        pattern = todo.pop()
        if (braces := _INNERMOST_BRACES.search(pattern)) is not None:
            before, after = pattern[: braces.start()], pattern[braces.end() :]
            todo.extend(before + choice + after for choice in braces[1].split(","))
        elif "{" in pattern:
            raise invalid_glob("opens a brace and does not close it")
        else:
            done.append(pattern)
        if len(done) + len(todo) > _MAX_ALTERNATIVES:
            raise invalid_glob(f"stands for more than {_MAX_ALTERNATIVES} others")
    return sorted(set(done))


def _name(part: str) -> str:
    """One part of a path."""
    if part == ANY_FOLDERS:
        return part
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
    return name_regex(pieces)


def _set(inside: str) -> str:
    negated = inside.startswith(("!", "^"))
    inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[negated:]).replace("--", "\\--")
    try:
        re.compile(f"[{inside}]")
    except re.error:
        raise invalid_glob(f"has a range [{inside}] that goes backwards") from None
    return f"[^/{inside}]" if negated else f"(?!/)[{inside}]"


FILE_KINDS: dict[str, tuple[str, ...]] = {
    "c": ("c", "h"),
    "cpp": ("cpp", "cc", "cxx", "hpp", "hh", "hxx", "h"),
    "csharp": ("cs",),
    "css": ("css", "scss", "sass", "less"),
    "docs": ("md", "rst", "txt", "adoc"),
    "go": ("go",),
    "html": ("html", "htm"),
    "java": ("java",),
    "js": ("js", "jsx", "mjs", "cjs"),
    "json": ("json", "jsonl", "json5"),
    "kotlin": ("kt", "kts"),
    "php": ("php",),
    "py": ("py", "pyi"),
    "ruby": ("rb",),
    "rust": ("rs",),
    "shell": ("sh", "bash", "zsh"),
    "sql": ("sql",),
    "swift": ("swift",),
    "toml": ("toml",),
    "ts": ("ts", "tsx", "mts", "cts"),
    "xml": ("xml", "xsd", "svg"),
    "yaml": ("yaml", "yml"),
}


def kind_pattern(kind: str) -> str:
    """The pattern of names of a kind."""
    ends = FILE_KINDS.get(kind)
    if ends is None:
        raise ToolError(
            f"There is no kind {kind!r}. There are {', '.join(FILE_KINDS)}. Or give a glob such as *.txt.",
            code="INVALID_PATTERN",
        )
    return f"*.{{{','.join(ends)}}}"
