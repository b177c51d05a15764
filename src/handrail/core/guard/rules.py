"""Rules: which calls a policy singles out, by tool name and by argument, with examples that prove it."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from handrail.core.define.decision import STRICTNESS, Step, Verdict
from handrail.core.define.names import wire_name
from handrail.core.define.tool import Tool
from handrail.core.errors import PolicyError

Test = Callable[[Any], bool]

Condition = tuple[str, tuple[str, ...], Callable[[list[Any]], bool]]
"""A path, its steps (a fact has none), and whether what is found there will do."""
_FACTS = ("@source", "@tenant", "@user", "@agent", "@role", "@level", "@danger")
_AXES = frozenset({"@level", "@danger"})


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One line of policy: for these tools, when the arguments look like this, say that.

    `when` maps a dotted argument path (`*` is any list item; `@source`, `@user`, `@role` … are facts of the
    call) to a value, a list of values, or `{operator: value}`. All entries must hold. An argument that is not
    there satisfies no condition but `{"exists": False}`; a fact that is not there (no agent, no role) differs
    from every value. `match` and `not_match` are examples: arguments and facts, a tool name, or
    `{"tool": ..., "args": ...}`; a rule whose examples fail does not load.
    """

    tool: str = "*"
    when: Mapping[str, Any] = field(default_factory=dict)
    verdict: Verdict = "ask"
    reason: str = ""
    match: Sequence[Any] = ()
    not_match: Sequence[Any] = ()
    name: str | None = None
    conditions: tuple[Condition, ...] = field(init=False, repr=False)
    on_args: bool = field(init=False, repr=False)
    """Whether it looks at arguments."""
    on_facts: bool = field(init=False, repr=False)
    """Whether it looks at facts of the call."""
    on_axes: bool = field(init=False, repr=False)
    """Whether it looks at level or danger, which may depend on arguments."""
    passed: Step = field(init=False, repr=False)
    """What a trace says of it when its conditions do not hold."""

    def __post_init__(self) -> None:
        if not isinstance(self.tool, str) or not self.tool:
            raise PolicyError("a rule names no tool", remedy='give a name or a pattern, such as "data.*"')
        if not isinstance(self.verdict, str) or self.verdict not in STRICTNESS:
            raise _wrong(self.label, f"{self.verdict!r} is no verdict", "use allow, ask, queue or deny")
        if not isinstance(self.when, Mapping):
            raise _wrong(self.label, f"when is {self.when!r}", 'map paths to values: {"limit": 5}')
        object.__setattr__(self, "conditions", tuple(_compile(self.label, self.when)))
        object.__setattr__(self, "on_args", any(not _is_fact(path) for path in self.when))
        object.__setattr__(self, "on_facts", any(map(_is_fact, self.when)))
        object.__setattr__(self, "on_axes", not _AXES.isdisjoint(self.when))
        object.__setattr__(self, "passed", Step("rules", "allow", "its conditions do not hold", self.label))
        for example in self._examples("match"):
            if not self._takes(example):
                raise self._fails(example, "should match, but does not")
        for example in self._examples("not_match"):
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
        for path, steps, test in self.conditions:
            if not steps:
                values = _fact(facts, path)
            elif len(steps) == 1 and type(args) is dict and path in args:
                values = [args[path]]
            else:
                values = _at(args, steps)
            if not test(values):
                return False
        return True

    def _examples(self, which: str) -> Sequence[Any]:
        examples: Sequence[Any] = getattr(self, which)
        if isinstance(examples, (str, Mapping)):
            raise _wrong(self.label, f"{which} is a list of examples", f"write [{examples!r}]")
        return examples

    def _takes(self, example: Any) -> bool:
        if isinstance(example, str):
            return self.applies_to([example])
        if not isinstance(example, Mapping):
            raise self._fails(example, "is not an example (arguments, a tool name, or both)")
        facts = {name: value for name, value in example.items() if _is_fact(name)}
        args = {name: value for name, value in example.items() if name not in facts}
        try:
            if "tool" in args and set(args) <= {"tool", "args"}:
                return self.applies_to([args["tool"]]) and self.holds(args.get("args", {}), facts)
            return self.holds(args, facts)
        except Exception as error:
            raise self._fails(example, f"cannot be compared: {error}") from error

    def _fails(self, example: Any, how: str) -> PolicyError:
        return _wrong(self.label, f"its example {example!r} {how}", "correct the rule or the example")


def _wrong(label: str, problem: str, remedy: str) -> PolicyError:
    return PolicyError(f"rule {label!r}: {problem}", remedy=remedy)


def _is_fact(path: str) -> bool:
    return path.startswith("@")


def _at(value: Any, path: tuple[str, ...]) -> list[Any]:
    """The values at a path."""
    nodes = [value]
    for part in path:
        following: list[Any] = []
        for node in nodes:
            if isinstance(node, Mapping) and part in node:
                following.append(node[part])
            elif isinstance(node, Mapping) and part == "*":
                following += node.values()
            elif isinstance(node, list) and part == "*":
                following += node
            elif isinstance(node, list) and part.isdecimal() and int(part) < len(node):
                following.append(node[int(part)])
        nodes = following
    return nodes


def _fact(facts: Mapping[str, Any], path: str) -> list[Any]:
    """The values of a fact: none, one, or every role."""
    value = facts.get(path)
    if value is None:
        return []
    return list(value) if isinstance(value, (set, frozenset, list, tuple)) else [value]


def _compile(label: str, when: Mapping[str, Any]) -> Iterator[Condition]:
    for path, condition in when.items():
        if not isinstance(path, str) or (_is_fact(path) and path not in _FACTS):
            raise _wrong(label, f"{path!r} is no fact of a call", f"use {', '.join(_FACTS)}")
        steps = () if _is_fact(path) else tuple(path.split("."))
        for operator, value in _operators(label, path, condition):
            yield path, steps, _condition(label, path, operator, value)


def _operators(label: str, path: str, condition: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(condition, Mapping):
        if not condition:
            raise _wrong(label, f"{path} names no operator", f"use one of: {', '.join(_OPERATORS)}")
        return condition.items()
    if isinstance(condition, (list, tuple, set, frozenset)):
        return [("in", condition)]
    if condition is None and _is_fact(path):
        return [("exists", False)]
    return [("eq", condition)]


def _condition(label: str, path: str, operator: str, operand: Any) -> Callable[[list[Any]], bool]:
    try:
        test = _OPERATORS[operator](operand)
    except KeyError:
        remedy = f"use one of: {', '.join(_OPERATORS)}"
        raise _wrong(label, f"{operator!r} is no operator", remedy) from None
    except (re.error, TypeError) as error:
        raise PolicyError(f"rule {label!r}: {operator} cannot use {operand!r}: {error}") from None
    if operator == "exists":
        return lambda values: test(bool(values))
    if _is_fact(path) and operator in ("neq", "not_in"):
        return lambda values: all(map(test, values))
    return lambda values: any(map(test, values))


def _on_text(compile_operand: Callable[[str], Callable[[str], object]]) -> Callable[[Any], Test]:
    """An operator between texts; a value that is none does not pass."""

    def operator(operand: Any) -> Test:
        if not isinstance(operand, str):
            raise TypeError("it is not text")
        test = compile_operand(operand)
        return lambda value: isinstance(value, str) and bool(test(value))

    return operator


def _among(values: Any, expected: bool = True) -> Test:
    if isinstance(values, (str, Mapping)):
        raise TypeError("it is not a list")
    choices = tuple(values)
    return lambda value: any(_same(value, choice) for choice in choices) is expected


def _contains(operand: Any) -> Test:
    def test(value: Any) -> bool:
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, (list, Mapping)) and any(_same(item, operand) for item in value)

    return test


def _under(folder: str) -> Callable[[str], bool]:
    root = _resolved(folder)
    return lambda path: _beneath(_resolved(path), root)


def _resolved(path: str) -> str:
    """The path without `.`, `..` and doubled slashes; POSIX would keep two at the front."""
    resolved = posixpath.normpath(path)
    return resolved[1:] if resolved.startswith("//") else resolved


def _beneath(path: str, root: str) -> bool:
    if path == root:
        return True
    start = "" if root == "." else root if root.endswith("/") else f"{root}/"
    rest = path[len(start) :]
    return path.startswith(start) and not rest.startswith(("/", "../")) and rest != ".."


def _exists(expected: Any) -> Test:
    if not isinstance(expected, bool):
        raise TypeError("it is neither true nor false")
    return lambda exists: exists is expected


_OPERATORS: dict[str, Callable[[Any], Test]] = {
    "eq": lambda operand: lambda value: _same(value, operand),
    "neq": lambda operand: lambda value: not _same(value, operand),
    "gt": lambda operand: lambda value: value > operand,
    "gte": lambda operand: lambda value: value >= operand,
    "lt": lambda operand: lambda value: value < operand,
    "lte": lambda operand: lambda value: value <= operand,
    "in": _among,
    "not_in": lambda operand: _among(operand, expected=False),
    "contains": _contains,
    "prefix": _on_text(lambda start: lambda text: text.startswith(start)),
    "suffix": _on_text(lambda end: lambda text: text.endswith(end)),
    "glob": _on_text(lambda pattern: re.compile(fnmatch.translate(pattern)).match),
    "regex": _on_text(lambda pattern: re.compile(pattern).search),
    "under": _on_text(_under),
    "exists": _exists,
}


def _same(value: Any, other: Any) -> bool:
    """Equal as JSON values: true is not 1."""
    return bool(value == other and isinstance(value, bool) == isinstance(other, bool))


_WILD = re.compile(r"\*|\?|\[.*\]|\[", re.DOTALL)


@dataclass(frozen=True, slots=True)
class IndexedRule:
    """A rule with a wildcard, by its number."""

    number: int
    part: str
    """A text that every name it speaks of has inside; cheap to look for."""
    fits: Callable[[str], object] | None
    """Whether a name fits the whole pattern; None where it does if it is met."""


def names_of(tool: Tool) -> tuple[str, ...]:
    """Every name under which a tool can be called: a list or rule may use any of them."""
    return (*tool.names, *map(wire_name, tool.names), tool.slug)


RulesByText = dict[str, list[IndexedRule]]
"""The rules to try on names that have a text at one end."""


class RuleIndex:
    """Rules in their order, and which of them speak of a tool, without trying each on each name."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._exact: dict[str, list[int]] = defaultdict(list)
        heads: RulesByText = defaultdict(list)
        tails: RulesByText = defaultdict(list)
        for number, rule in enumerate(self._rules):
            pattern = rule.tool
            head, *parts = _WILD.split(pattern)
            if not parts:
                self._exact[pattern].append(number)
                continue
            entry = IndexedRule(number, "", None)
            if pattern not in (f"{head}*", f"*{parts[-1]}"):
                fits = re.compile(fnmatch.translate(pattern)).match
                entry = IndexedRule(number, max(reversed(parts), key=len), fits)
            (heads[head] if head or not parts[-1] else tails[parts[-1]]).append(entry)
        self._ends = [(slice(length), bucket) for length, bucket in _by_length(heads)]
        self._ends += [(slice(-length, None), bucket) for length, bucket in _by_length(tails)]

    def about(self, tool: Tool) -> tuple[Rule, ...]:
        """The rules that speak of a tool under any of its names, in order."""
        if not self._rules:
            return ()
        numbers: set[int] = set()
        for name in set(names_of(tool)):
            if name in self._exact:
                numbers.update(self._exact[name])
            for end, bucket in self._ends:
                for entry in bucket.get(name[end], ()):
                    if entry.part in name and (entry.fits is None or entry.fits(name)):
                        numbers.add(entry.number)
        return tuple([self._rules[number] for number in sorted(numbers)])


def _by_length(bucket: RulesByText) -> list[tuple[int, RulesByText]]:
    """The same, apart for each length of end, so that a name needs one look for each."""
    lengths = {len(end) for end in bucket}
    return [(length, {end: met for end, met in bucket.items() if len(end) == length}) for length in lengths]
