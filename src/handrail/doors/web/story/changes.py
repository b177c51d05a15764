"""Changes: what differs between two arguments, place by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST = 200
"""Changes that are told one by one."""


class Missing:
    """Where there was nothing."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()


@dataclass(frozen=True, slots=True)
class Change:
    """One place that differs; `MISSING` stands where there was none, or is none any more."""

    path: str
    before: Any
    after: Any


def changes(before: Any, after: Any, path: str = "") -> tuple[Change, ...]:
    """What an edit changed, in the order of the new value; beyond many, the last one tells of the rest."""
    found: list[Change] = []
    for one in _differences(before, after, path):
        if len(found) == MOST:
            return (*found[:-1], Change(path, before, after))
        found.append(one)
    return tuple(found)


def _differences(before: Any, after: Any, path: str) -> Iterator[Change]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in (*after, *(one for one in before if one not in after)):
            below = f"{path}.{name}" if path else str(name)
            yield from _differences(before.get(name, MISSING), after.get(name, MISSING), below)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differences(one, other, f"{path}.{at}" if path else str(at))
    elif not _same(before, after):
        yield Change(path, before, after)


def _same(before: Any, after: Any) -> bool:
    """Equal as JSON: `true` is not 1, and 1 is 1.0."""
    if isinstance(before, bool) is not isinstance(after, bool):
        return False
    if isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)):
        pairs = zip(before, after, strict=False)
        return len(before) == len(after) and all(_same(one, other) for one, other in pairs)
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return before.keys() == after.keys() and all(_same(before[name], after[name]) for name in before)
    return bool(before == after)
