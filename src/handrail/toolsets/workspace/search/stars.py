"""Stars: `*` and `**` as regular expressions of which each star takes the first place that fits and keeps it.

What stands between two stars has a fixed length, so the first place is as good as any later one. A star that
could give its place back would try all ways to share a name out among the stars, and never be done with it.
"""

from __future__ import annotations

from collections.abc import Sequence

STAR = "*"
"""Among the pieces of a name: any characters."""
FOLDERS = "**"
"""Among the parts of a path: any folders, or none."""


def name_of(pieces: Sequence[str]) -> str:
    """One name: expressions for one character each, and stars."""
    first, *rest = ("".join(group) for group in _between(pieces, STAR))
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(f"(?>[^/]*?{one})" for one in middle) + "[^/]*" + last


def path_of(parts: Sequence[str]) -> str:
    """A path: expressions for one name each, and any folders. It must end where the expression ends."""
    *above, last = parts
    name = f"(?=[^/]){last}"  # a name has at least one character
    groups = ["".join(f"{one}/" for one in group) for group in _between(above, FOLDERS)]
    first, *rest = groups
    if last == FOLDERS:
        return first + "".join(_found(one) for one in rest) + ".+"
    if not rest:
        return first + name
    *middle, end = rest
    return first + "".join(_found(one) for one in middle) + f"(?:[^/]+/)*?{end}{name}"


def _found(group: str) -> str:
    return f"(?>(?:[^/]+/)*?{group})"


def _between(pieces: Sequence[str], mark: str) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for piece in pieces:
        if piece == mark:
            groups.append([])
        else:
            groups[-1].append(piece)
    return groups
