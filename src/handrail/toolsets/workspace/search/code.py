"""Code: lines that speak of a name, the ones that define it first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from handrail.toolsets.workspace.search.definitions import Definition
from handrail.toolsets.workspace.search.kinds import KINDS
from handrail.toolsets.workspace.search.query import Line

_WORD = re.compile(r"[A-Za-z_$\u0080-\U0010ffff][\w$]*")
_DATA = {end for kind in ("docs", "json", "yaml", "toml", "xml", "html", "css") for end in KINDS[kind]}
_TEST = re.compile(r"(^|/)(tests?|spec|__tests__)/|(^|/)test_[^/]*$|[._](test|spec)\.\w+$")


class Hit(NamedTuple):
    """A line, what it defines where it does, and how well it fits: less is better."""

    rank: tuple[int, int, int, int]
    path: str
    line: int
    kind: str | None
    text: str
    at: int


def is_code(path: str) -> bool:
    """Whether a file is code, and no text or data."""
    return path.rpartition(".")[2].lower() not in _DATA


def words_of(query: str) -> list[str]:
    """The names in a query, each once."""
    return list(dict.fromkeys(_WORD.findall(query)))


def defining(words: Sequence[str]) -> str:
    """An expression that fits most lines which define one of these names, and others."""
    one_of = "|".join(map(re.escape, words))
    before = (
        r"(def|class|function|func|fn|fun|struct|interface|enum|trait|type|const|let|var|val|macro|#define)"
    )
    return rf"{before}\b.*({one_of})|\b({one_of})\w*\s*(\(.*\)\s*\{{|:?=|:)"


def hits(
    path: str, lines: Iterable[Line], defined: Sequence[Definition], words: Sequence[str]
) -> Iterable[Hit]:
    """What the matching lines of a file are worth."""
    here: dict[int, list[Definition]] = {}
    for one in defined:
        here.setdefault(one.line, []).append(one)
    exact = {word: re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in words}
    aside = 2 if not is_code(path) else 1 if _TEST.search(path) else 0
    for line in lines:
        if line.at < 0:
            continue
        best = min((_worth(one, words) for one in here.get(line.number, ())), default=None)
        is_definition = best is not None and best[0] < 3
        missing = sum(1 for regex in exact.values() if not regex.search(line.text))
        tier = best[0] if best is not None and is_definition else 3
        kind = best[1] if best is not None and is_definition else None
        yield Hit((tier, missing, aside, line.number), path, line.number, kind, line.text, line.at)


def _worth(one: Definition, words: Sequence[str]) -> tuple[int, str]:
    """0: it is the name; 1: but for the case; 2: it has the name in it; 3: it is another."""
    if one.name in words:
        return 0, one.kind
    lowered = one.name.lower()
    if any(word.lower() == lowered for word in words):
        return 1, one.kind
    return (2 if any(word.lower() in lowered for word in words) else 3), one.kind


def order(found: Iterable[Hit]) -> list[Hit]:
    """The best first; among equals by path and line."""
    return sorted(found, key=lambda hit: (hit.rank[:3], hit.path, hit.line))
