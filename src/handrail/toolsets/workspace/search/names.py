"""Names: how well a path fits a few typed letters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from heapq import nlargest

_PARTS = re.compile(r"[\s/]+")
_WHOLE, _STEM, _BEGIN, _INSIDE, _PATH, _LOOSE = 1000, 900, 700, 500, 300, 100


def best(query: str, paths: Iterable[str], limit: int) -> tuple[list[str], int]:
    """The paths that fit best, the best first, and how many fit at all."""
    words = [word for word in _PARTS.split(query.lower()) if word]
    loose = [_in_order(word) for word in words]
    scored = []
    for path in paths:
        lowered = path.lower()
        if all(regex.search(lowered) for regex in loose):
            scored.append((_score(words, loose, lowered), path))
    top = nlargest(limit, scored, key=lambda one: (one[0], -len(one[1]), _backwards(one[1])))
    return [path for _, path in top], len(scored)


def _in_order(word: str) -> re.Pattern[str]:
    """The letters in their order, with others between. Each is taken where it comes first."""
    return re.compile(
        "".join(f"[^{re.escape(char)}]*?{re.escape(char)}" for char in word).removeprefix(
            f"[^{re.escape(word[0])}]*?"
        ),
        re.DOTALL,
    )


def _score(words: list[str], loose: list[re.Pattern[str]], path: str) -> float:
    name = path.rpartition("/")[2]
    stem = name.partition(".")[0] or name
    return sum(_fit(word, regex, path, name, stem) for word, regex in zip(words, loose, strict=True))


def _fit(word: str, loose: re.Pattern[str], path: str, name: str, stem: str) -> float:
    if word == name:
        return _WHOLE
    if word == stem:
        return _STEM
    if name.startswith(word):
        return _BEGIN + len(word) / len(name)
    if word in name:
        return _INSIDE + len(word) / len(name)
    if word in path:
        return _PATH + len(word) / len(path)
    if found := loose.search(name):
        return _LOOSE + 50 * len(word) / len(found[0])
    found = loose.search(path)
    return 50 * len(word) / len(found[0]) if found else 0.0


def _backwards(path: str) -> tuple[int, ...]:
    """A key by which what comes first in the alphabet is the largest."""
    return tuple(-ord(char) for char in path)
