"""Policy: what an agent or session may do, as plain frozen data."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from handrail.core.define.levels import CAPABILITIES, Capability
from handrail.core.define.principal import EVERYTHING
from handrail.core.define.tool import Tool
from handrail.core.errors import PolicyError
from handrail.core.guard.rules import Rule, names_of

ApprovalMode = Literal["strict", "policy", "danger"]
_WILD = frozenset("*?[")


@dataclass(frozen=True, slots=True, eq=False)
class Policy:
    """Lists and rules; the strictest word of any of them wins."""

    approval_mode: ApprovalMode = "strict"
    """strict: writes ask; policy: only always_ask, destructive and dangerous; danger: by danger."""
    allow: Iterable[str] | None = None
    """Names or patterns; None allows all, an empty list nothing."""
    deny: Iterable[str] = ()
    """Names or patterns; wins over allow."""
    capabilities: Iterable[Capability] | None = None
    """What is granted; None grants all."""
    rules: Iterable[Rule] = ()
    plan: bool | Literal["all"] = False
    """Plan mode: what would change something is queued; reads run, unless it is "all"."""
    moderate: Literal["ask", "allow"] = "ask"
    """What moderate danger does in approval_mode danger."""
    within: tuple[Policy, ...] = ()
    """The policies of the agents above: a sub-agent never exceeds any of them."""
    chain: tuple[Policy, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _one_of("approval_mode", self.approval_mode, get_args(ApprovalMode))
        _one_of("moderate", self.moderate, ("ask", "allow"))
        _one_of("plan", self.plan, (False, True, "all"))
        if self.allow is not None:
            object.__setattr__(self, "allow", _patterns("allow", self.allow))
        object.__setattr__(self, "deny", _patterns("deny", self.deny))
        if self.capabilities is not None:
            granted = _patterns("capabilities", self.capabilities)
            for name in granted:
                _one_of("capabilities", name, CAPABILITIES)
            object.__setattr__(self, "capabilities", frozenset(granted))
        rules = tuple(self.rules)
        if not all(isinstance(rule, Rule) for rule in rules):
            raise PolicyError("rules are Rule objects", remedy='write Rule(tool="data.*", verdict="ask")')
        object.__setattr__(self, "rules", rules)
        object.__setattr__(
            self, "chain", (self, *(above for parent in self.within for above in parent.chain))
        )

    def allows(self, tool: Tool) -> bool:
        return self.allow is None or listed(self.allow, tool)

    def denies(self, tool: Tool) -> bool:
        return listed(self.deny, tool)

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """The rules of this policy and of those above it, in their order."""
        return tuple(rule for policy in self.chain for rule in policy.rules)

    def grants(self) -> frozenset[Capability]:
        """The capabilities granted here and everywhere above."""
        granted: frozenset[Capability] = frozenset(CAPABILITIES)
        for policy in self.chain:
            if policy.capabilities is not None:
                granted &= frozenset(policy.capabilities)
        return granted

    def spawn(self, child: Policy | None = None) -> Policy:
        """The policy of a sub-agent: its own, inside this one.

        Allow lists intersect (an unset one means all), denies and rules add up, the stricter mode holds.
        """
        child = child or Policy(approval_mode=self.approval_mode, moderate=self.moderate)
        return replace(child, within=(*child.within, self))

    def without_plan(self) -> Policy:
        """The same, but nothing is queued: a plan that somebody runs is not planned again."""
        rules = tuple(rule for rule in self.rules if rule.verdict != "queue")
        within = tuple(above.without_plan() for above in self.within)
        return replace(self, rules=rules, plan=False, within=within)

    @classmethod
    def from_agent_config(cls, config: Mapping[str, Any], **more: Any) -> Policy:
        """A policy from `tools: {allow, deny}` as written in YAML, where an empty allow list means unset."""
        tools = config.get("tools") or {}
        return cls(allow=tools.get("allow") or None, deny=tools.get("deny") or (), **more)


def listed(patterns: Iterable[str], tool: Tool) -> bool:
    """Whether a list names the tool, itself or by a pattern."""
    names = names_of(tool)
    for pattern in patterns:
        if pattern in names:
            return True
        if not _WILD.isdisjoint(pattern) and any(fnmatch.fnmatchcase(name, pattern) for name in names):
            return True
    return False


def _patterns(what: str, names: Iterable[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise PolicyError(f"{what} is a list of names, not one string", remedy=f"write [{names!r}]")
    patterns = tuple(names)
    if not all(isinstance(pattern, str) for pattern in patterns):
        raise PolicyError(f"{what} holds names", remedy="write names or patterns as text")
    return patterns


def _one_of(what: str, value: Any, choices: Iterable[Any]) -> None:
    if not any(value is choice or (isinstance(choice, str) and value == choice) for choice in choices):
        raise PolicyError(f"{value!r} is no {what}", remedy=f"use one of: {', '.join(map(str, choices))}")


def tool_group(tools: Iterable[Tool]) -> Callable[[Iterable[str] | None], list[Tool]]:
    """A function from permissions to the tools of a group that they open; without permissions, none."""
    listed = tuple(tools)

    def group(permissions: Iterable[str] | None = None) -> list[Tool]:
        held = frozenset(permissions or ())
        if not held:
            return []
        return [tool for tool in listed if tool.requires is None or {tool.requires, EVERYTHING} & held]

    return group
