"""RuleBook: which rules of a policy speak of a tool, without trying each rule on each name.

A rule stands under the name it gives; one with a wildcard under what stands before its first wildcard or,
if that is nothing, under what stands behind its last. Only the few that are met there are tried.
"""

from __future__ import annotations

import fnmatch
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from handrail.core.define.tool import Tool
from handrail.core.guard.policy import Policy, names_of
from handrail.core.guard.rules import Rule

_WILD = re.compile(r"\*|\?|\[.*\]|\[", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """A rule with a wildcard, by its number."""

    number: int
    part: str
    """A text that every name it speaks of has inside; cheap to look for."""
    fits: Callable[[str], object] | None
    """Whether a name fits the whole pattern; None where it does if it is met."""


Shelf = dict[str, list[Entry]]
"""The rules to try on names that have a text at one end."""


class RuleBook:
    """The rules of a policy and of those above it, in their order."""

    def __init__(self, policy: Policy) -> None:
        self._rules = tuple(rule for one in policy.chain for rule in one.rules)
        self._exact: dict[str, list[int]] = defaultdict(list)
        heads: Shelf = defaultdict(list)
        tails: Shelf = defaultdict(list)
        for number, rule in enumerate(self._rules):
            pattern = rule.tool
            head, *parts = _WILD.split(pattern)
            if not parts:
                self._exact[pattern].append(number)
                continue
            entry = Entry(number, "", None)
            if pattern not in (f"{head}*", f"*{parts[-1]}"):
                fits = re.compile(fnmatch.translate(pattern)).match
                entry = Entry(number, max(reversed(parts), key=len), fits)
            (heads[head] if head or not parts[-1] else tails[parts[-1]]).append(entry)
        self._ends = [(slice(length), shelf) for length, shelf in _by_length(heads)]
        self._ends += [(slice(-length, None), shelf) for length, shelf in _by_length(tails)]

    def about(self, tool: Tool) -> tuple[Rule, ...]:
        """The rules that speak of a tool under any of its names, in order."""
        if not self._rules:
            return ()
        found: set[int] = set()
        for name in set(names_of(tool)):
            if name in self._exact:
                found.update(self._exact[name])
            for end, shelf in self._ends:
                for entry in shelf.get(name[end], ()):
                    if entry.part in name and (entry.fits is None or entry.fits(name)):
                        found.add(entry.number)
        return tuple([self._rules[number] for number in sorted(found)])


def _by_length(shelf: Shelf) -> list[tuple[int, Shelf]]:
    """The same, apart for each length of end, so that a name needs one look for each."""
    lengths = {len(end) for end in shelf}
    return [(length, {end: met for end, met in shelf.items() if len(end) == length}) for length in lengths]
