"""ConformanceRule: one thing that a conformant tool does, and the function that finds where one does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from handrail.conformance.finding import Level
from handrail.core.define.tool import Tool

Problem = tuple[str, str]
"""What is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a rule may know beside the tool itself."""

    holders: Mapping[str, Sequence[Tool]] = field(default_factory=dict)
    """Every name among the tools that are checked together, and who bears it."""
    input_less: frozenset[str] = frozenset()
    """Names of tools that take no input on purpose."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """By id: why the initialiser of a tool failed."""


@dataclass(frozen=True, slots=True)
class ConformanceRule:
    """One line of the table of rules."""

    slug: str
    requirement: str
    level: Level
    sentence: str
    """What a conformant tool does."""
    find: Callable[[Tool, Surroundings], Iterable[Problem]]
    early: bool = False
    """Whether it can be said of a tool that waits for its initialiser."""


def alone(find: Callable[[Tool], Iterable[Problem]]) -> Callable[[Tool, Surroundings], Iterable[Problem]]:
    """A rule that looks at nothing but the tool."""
    return lambda tool, _: find(tool)
