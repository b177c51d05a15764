"""Guard: `decide` with a memory, so that a call pays only for what its arguments can change."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from handrail.core.define.decision import Decision, Step, strictest
from handrail.core.define.levels import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.guard.decide import SafetyCheck, decide, holding, looks_at_args, sight, weigh
from handrail.core.guard.policy import Policy
from handrail.core.guard.risk import assess_risk, is_dynamic
from handrail.core.guard.rules import Rule, RuleIndex

_log = logging.getLogger("handrail.guard")


class Guard:
    """One policy, and the decisions it has already taken. An error while deciding refuses."""

    __slots__ = (
        "_facts",
        "_fixed",
        "_last",
        "_rule_index",
        "_seen",
        "_weighed",
        "granted",
        "policy",
        "safety",
    )

    def __init__(self, policy: Policy, safety: tuple[SafetyCheck, ...] = ()) -> None:
        self.policy = policy
        self.safety = safety
        self.granted = policy.grants()
        self._rule_index: RuleIndex | None = None
        self._seen: dict[tuple[Tool, Principal], Decision] = {}
        self._fixed: dict[tuple[Tool, Principal, Source], Decision] = {}
        self._weighed: dict[tuple[Any, ...], Decision] = {}
        self._last: dict[Tool, tuple[Principal, Source, Decision]] = {}
        """The newest of those by tool: most callers come back, and are recognised without hashing."""
        self._facts: dict[Tool, tuple[tuple[Rule, ...], tuple[SafetyCheck, ...], bool]] = {}

    def of(self, principal: Principal) -> Guard:
        """The guard that decides about this principal."""
        return self

    def without_plan(self) -> Guard:
        """The same, but nothing is queued."""
        return Guard(self.policy.without_plan(), self.safety)

    def see(self, tool: Tool, principal: Principal) -> Decision:
        """Whether the principal may know of the tool at all."""
        key = (tool, principal)
        decision = self._seen.get(key)
        if decision is None:
            try:
                decision = strictest(sight(tool, principal, self.policy))
            except Exception as error:
                return self._failed(tool, error)
            self._remember(self._seen, key, decision)
        return decision

    def remembered(self, tool: Tool, principal: Principal, source: Source) -> Decision | None:
        """The decision taken before, where arguments cannot change it; only tools in sight have one."""
        last = self._last.get(tool)
        if last is not None and last[0] is principal and last[1] == source:
            return last[2]
        decision = self._fixed.get((tool, principal, source))
        if decision is not None:
            self._remember(self._last, tool, (principal, source, decision))
        return decision

    def decide(self, tool: Tool, args: Any, principal: Principal, source: Source) -> Decision:
        """The decision for a call."""
        key = (tool, principal, source)
        decision = self._fixed.get(key)
        if decision is not None:
            return decision
        try:
            rules, checks, varying = self._facts_of(tool)
            if varying and not checks:
                return self._weighed_by_args(tool, args, principal, source, rules)
            decision = decide(tool, args, principal, self.policy, source, checks, rules)
        except Exception as error:
            return self._failed(tool, error)
        if not varying and decision.verdict != "deny":
            self._remember(self._fixed, key, decision)
        return decision

    def _weighed_by_args(
        self, tool: Tool, args: Any, principal: Principal, source: Source, rules: tuple[Rule, ...]
    ) -> Decision:
        """Arguments can change only what level and danger are and which rules hold: that is remembered by.

        Where the tool says why, it speaks of this very call, and nothing is remembered.
        """
        judged = assess_risk(tool, args)
        held = holding(rules, args, principal, source, judged.level, judged.danger)
        if judged.explained:
            return weigh(tool, principal, self.policy, source, judged, rules, held)
        key = (tool, principal, source, judged.level, judged.danger, held)
        decision = self._weighed.get(key)
        if decision is None:
            decision = weigh(tool, principal, self.policy, source, judged, rules, held)
            self._remember(self._weighed, key, decision)
        return decision

    def certain(self, tool: Tool, principal: Principal, source: Source) -> Decision:
        """What can be said before the arguments are known."""
        try:
            rules, _, varying = self._facts_of(tool)
            if varying:
                return decide(tool, None, principal, self.policy, source, (), rules)
        except Exception as error:
            return self._failed(tool, error)
        return self.decide(tool, None, principal, source)

    def varies(self, tool: Tool) -> bool:
        """Whether what is said of a tool depends on the arguments of the call."""
        return self._facts_of(tool)[2]

    def _facts_of(self, tool: Tool) -> tuple[tuple[Rule, ...], tuple[SafetyCheck, ...], bool]:
        """The rules that speak of a tool, the checks that watch it, whether its decisions vary by call."""
        facts = self._facts.get(tool)
        if facts is None:
            if self._rule_index is None:
                self._rule_index = RuleIndex(self.policy.all_rules)
            rules = self._rule_index.about(tool)
            conditional = any(looks_at_args(rule, tool) for rule in rules)
            checks = watchers_of(self.safety, tool)
            facts = (rules, checks, conditional or is_dynamic(tool) or bool(checks))
            self._remember(self._facts, tool, facts)
        return facts

    @staticmethod
    def _remember(memory: dict[Any, Any], key: Any, value: Any) -> None:
        if len(memory) >= MAX_REMEMBERED_TOOLS:
            memory.clear()
        memory[key] = value

    @staticmethod
    def _failed(tool: Tool, error: Exception) -> Decision:
        _log.error("policy failed for tool %s, so the call is refused", tool.id, exc_info=error)
        reason = (
            f"Tool not permitted: {tool.id} (the policy could not be evaluated: {type(error).__name__}). "
            "Nothing was run. Tell whoever runs this system."
        )
        return strictest((Step("error", "deny", reason, None, "POLICY_ERROR"),))


_NO_TOOLS = Policy(allow=())


class AgentGuards(Guard):
    """Decides by who calls. An agent of whom nothing is written may call nothing.

    What a sub-agent has is within what the agents above it have; of one that has no policy of its own, theirs
    holds.
    """

    __slots__ = ("_agents", "_of", "_without_agent")

    def __init__(
        self, policy: Policy, safety: tuple[SafetyCheck, ...] = (), agents: Mapping[str, Policy] | None = None
    ) -> None:
        super().__init__(policy, safety)
        self._agents = dict(agents or {})
        self._without_agent = Guard(policy, safety)
        self._of: dict[tuple[str, ...], Guard] = {}

    def of(self, principal: Principal) -> Guard:
        if principal.agent is None:
            return self._without_agent
        line = (*principal.ancestors, principal.agent)
        guard = self._of.get(line)
        if guard is None:
            guard = Guard(self._policy_of(line), self.safety)
            self._remember(self._of, line, guard)
        return guard

    def _policy_of(self, line: tuple[str, ...]) -> Policy:
        if line[0] not in self._agents:
            return self.policy.spawn(_NO_TOOLS)
        policy = self.policy
        for name in line:
            if name in self._agents:
                policy = policy.spawn(self._agents[name])
        return policy

    def without_plan(self) -> Guard:
        agents = {name: policy.without_plan() for name, policy in self._agents.items()}
        return AgentGuards(self.policy.without_plan(), self.safety, agents)

    def see(self, tool: Tool, principal: Principal) -> Decision:
        return self.of(principal).see(tool, principal)

    def remembered(self, tool: Tool, principal: Principal, source: Source) -> Decision | None:
        return self.of(principal).remembered(tool, principal, source)

    def decide(self, tool: Tool, args: Any, principal: Principal, source: Source) -> Decision:
        return self.of(principal).decide(tool, args, principal, source)

    def certain(self, tool: Tool, principal: Principal, source: Source) -> Decision:
        return self.of(principal).certain(tool, principal, source)


Watcher = TypeVar("Watcher")

MAX_REMEMBERED_TOOLS = 20_000
"""How many tools a memory by tool holds before it begins anew."""


def watchers_of(watchers: Iterable[Watcher], tool: Tool) -> tuple[Watcher, ...]:
    """Those whose `watches(tool)` says so, and those that have no such word: they see every tool."""
    return tuple(
        watcher
        for watcher in watchers
        if (watches := getattr(watcher, "watches", None)) is None or watches(tool)
    )


def make_guard(
    policy: Policy, safety: tuple[SafetyCheck, ...], agents: Mapping[str, Policy] | None = None
) -> Guard:
    """The guard of a policy; with agents, inside it one for each that has a policy of its own."""
    return Guard(policy, safety) if agents is None else AgentGuards(policy, safety, agents)
