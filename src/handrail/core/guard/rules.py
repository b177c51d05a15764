"""Rules: which calls a policy singles out, by tool name and by argument, with examples that prove it."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail.core.define.decision import STRICTNESS, Verdict
from handrail.core.errors import PolicyError

Test = Callable[[Any], bool]
_FACTS = ("@source", "@tenant", "@user", "@agent", "@role", "@level", "@danger")
_MISSING = object()


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One line of policy: for these tools, when the arguments look like this, say that.

    `when` maps a dotted argument path (`*` is any list item; `@source`, `@user`, `@role` … are facts of the
    call) to a value, a list of values, or `{operator: value}`. All entries must hold. An argument that is not
    there satisfies no condition but `{"exists": False}`. `match` and `not_match` are examples: arguments, a
    tool name, or `{"tool": ..., "args": ...}`; a rule whose examples fail does not load.
    """

    tool: str = "*"
    when: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict = "ask"
    reason: str = ""
    match: Sequence[Any] = ()
    not_match: Sequence[Any] = ()
    name: str | None = None
    tests: tuple[tuple[str, Test], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.verdict not in STRICTNESS:
            raise PolicyError(
                f"rule {self.label!r}: {self.verdict!r} is no verdict", remedy="use allow, ask, queue or deny"
            )
        if not isinstance(self.tool, str) or not self.tool:
            raise PolicyError("a rule names no tool", remedy='give a name or a pattern, such as "data.*"')
        object.__setattr__(self, "tests", tuple(_compile(self.label, self.when)))
        for example in self.match:
            if not self._takes(example):
                raise self._fails(example, "should match, but does not")
        for example in self.not_match:
            if self._takes(example):
                raise self._fails(example, "should not match, but does")

    @property
    def label(self) -> str:
        return self.name or self.tool

    def applies_to(self, names: Iterable[str]) -> bool:
        """Whether the rule speaks of a tool with any of these names."""
        return any(fnmatch.fnmatchcase(name, self.tool) for name in names)

    def holds(self, args: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
        """Whether the conditions hold for these arguments."""
        for path, test in self.tests:
            values = _facts(facts, path) if path.startswith("@") else _at(args, path.split("."))
            if not any(test(value) for value in values):
                return False
        return True

    def _takes(self, example: Any) -> bool:
        if isinstance(example, str):
            return self.applies_to([example])
        if isinstance(example, Mapping) and "tool" in example and set(example) <= {"tool", "args"}:
            return self.applies_to([example["tool"]]) and self.holds(example.get("args", {}), {})
        if isinstance(example, Mapping):
            return self.holds(example, {})
        raise self._fails(example, "is not an example (arguments, a tool name, or both)")

    def _fails(self, example: Any, how: str) -> PolicyError:
        return PolicyError(
            f"rule {self.label!r}: its example {example!r} {how}", remedy="correct the rule or the example"
        )


def _at(value: Any, path: list[str]) -> list[Any]:
    """The values at a path; one stand-in for nothing when there are none."""
    here = [value]
    for part in path:
        following: list[Any] = []
        for node in here:
            if isinstance(node, Mapping) and part in node:
                following.append(node[part])
            elif isinstance(node, Mapping) and part == "*":
                following += node.values()
            elif isinstance(node, list) and part == "*":
                following += node
            elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
                following.append(node[int(part)])
        here = following
    return here or [_MISSING]


def _facts(facts: Mapping[str, Any], path: str) -> list[Any]:
    value = facts.get(path, _MISSING)
    if isinstance(value, (set, frozenset)):
        return list(value) or [_MISSING]
    return [value]


def _compile(label: str, when: Mapping[str, Any]) -> Iterable[tuple[str, Test]]:
    for path, condition in when.items():
        if path.startswith("@") and path not in _FACTS:
            raise PolicyError(
                f"rule {label!r}: {path!r} is no fact of a call", remedy=f"use {', '.join(_FACTS)}"
            )
        if isinstance(condition, Mapping):
            for operator, value in condition.items():
                yield path, _operator(label, operator, value)
        elif isinstance(condition, (list, tuple, set, frozenset)):
            yield path, _operator(label, "in", condition)
        else:
            yield path, _operator(label, "eq", condition)


def _operator(label: str, operator: str, wanted: Any) -> Test:
    try:
        test = _OPERATORS[operator](wanted)
    except KeyError:
        raise PolicyError(
            f"rule {label!r}: {operator!r} is no operator", remedy=f"use one of: {', '.join(_OPERATORS)}"
        ) from None
    except (re.error, TypeError) as error:
        raise PolicyError(f"rule {label!r}: {operator} cannot use {wanted!r}: {error}") from None
    if operator == "exists":
        return test
    return lambda value: value is not _MISSING and test(value)


def _text(test: Callable[[str], bool]) -> Test:
    return lambda value: isinstance(value, str) and test(value)


def _matches_glob(pattern: str) -> Test:
    compiled = re.compile(fnmatch.translate(pattern))
    return _text(lambda value: compiled.match(value) is not None)


def _found(pattern: str) -> Test:
    compiled = re.compile(pattern)
    return _text(lambda value: compiled.search(value) is not None)


def _under(folder: str) -> Test:
    root = posixpath.normpath(folder)
    return _text(lambda value: _beneath(posixpath.normpath(value), root))


def _beneath(path: str, root: str) -> bool:
    return path == root or path.startswith(root if root.endswith("/") else f"{root}/")


_OPERATORS: dict[str, Callable[[Any], Test]] = {
    "eq": lambda wanted: lambda value: _same(value, wanted),
    "neq": lambda wanted: lambda value: not _same(value, wanted),
    "gt": lambda wanted: lambda value: value > wanted,
    "gte": lambda wanted: lambda value: value >= wanted,
    "lt": lambda wanted: lambda value: value < wanted,
    "lte": lambda wanted: lambda value: value <= wanted,
    "in": lambda wanted: lambda value: any(_same(value, one) for one in wanted),
    "not_in": lambda wanted: lambda value: not any(_same(value, one) for one in wanted),
    "contains": lambda wanted: lambda value: wanted in value if hasattr(value, "__contains__") else False,
    "prefix": lambda wanted: _text(lambda value: value.startswith(wanted)),
    "suffix": lambda wanted: _text(lambda value: value.endswith(wanted)),
    "glob": _matches_glob,
    "regex": _found,
    "under": _under,
    "exists": lambda wanted: lambda value: (value is not _MISSING) == bool(wanted),
}


def _same(value: Any, wanted: Any) -> bool:
    """Equal as JSON values: true is not 1."""
    return bool(value == wanted and isinstance(value, bool) == isinstance(wanted, bool))
