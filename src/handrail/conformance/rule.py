"""ConformanceRule: one thing that a good tool does. Finding: a rule that one does not keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from handrail.core.define.tool import Tool

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule that a tool does not keep, and what to do about it."""

    tool: str
    """The tool's id."""
    rule: str
    """The rule's slug, such as `output-schema`."""
    level: Severity
    message: str
    remedy: str
    where: str | None = None
    """The file and line where the tool was written, if they are known."""

    def __str__(self) -> str:
        head = self.tool if self.where is None else f"{self.where}: {self.tool}"
        return f"{head}: {self.level} {self.rule}: {self.message}\n  remedy: {self.remedy}"


Problem = tuple[str, str]
"""What is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class RuleContext:
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
    level: Severity
    sentence: str
    """What a conformant tool does."""
    find: Callable[[Tool, RuleContext], Iterable[Problem]]
    early: bool = False
    """Whether it can be said of a tool that waits for its initialiser."""


def context_rule(
    slug: str, requirement: str, level: Severity, *, early: bool = False
) -> Callable[[Callable[[Tool, RuleContext], Iterable[Problem]]], ConformanceRule]:
    """Makes a rule of a function that finds problems of a tool. Its docstring begins with the sentence."""
    return lambda find: ConformanceRule(slug, requirement, level, _first_paragraph(find), find, early)


def rule(
    slug: str, requirement: str, level: Severity, *, early: bool = False
) -> Callable[[Callable[[Tool], Iterable[Problem]]], ConformanceRule]:
    """The same for a function that looks at nothing but the tool."""
    return lambda find: ConformanceRule(
        slug, requirement, level, _first_paragraph(find), lambda tool, _: find(tool), early
    )


def _first_paragraph(find: Callable[..., object]) -> str:
    return (find.__doc__ or "").partition("\n\n")[0]
