"""Guards: one for everybody, and one for each agent that has a policy of its own, inside the common one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.core.define.decision import Decision
from handrail.core.define.permission import Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.guard.decide import SafetyCheck
from handrail.core.guard.guard import Guard
from handrail.core.guard.policy import Policy

_NOTHING = Policy(allow=())


class Guards(Guard):
    """Decides by who calls. An agent of whom nothing is written may call nothing.

    What a sub-agent has is within what the agents above it have; of one that has no policy of its own, theirs
    holds.
    """

    __slots__ = ("_agents", "_of")

    def __init__(
        self, policy: Policy, safety: tuple[SafetyCheck, ...] = (), agents: Mapping[str, Policy] | None = None
    ) -> None:
        super().__init__(policy, safety)
        self._agents = dict(agents or {})
        self._of: dict[tuple[str, ...], Guard] = {}

    def of(self, principal: Principal) -> Guard:
        if principal.agent is None:
            return Guard.of(self, principal)
        line = (*principal.ancestors, principal.agent)
        guard = self._of.get(line)
        if guard is None:
            guard = Guard(self._policy_of(line), self.safety)
            self._remember(self._of, line, guard)
        return guard

    def _policy_of(self, line: tuple[str, ...]) -> Policy:
        if line[0] not in self._agents:
            return self.policy.spawn(_NOTHING)
        policy = self.policy
        for name in line:
            if name in self._agents:
                policy = policy.spawn(self._agents[name])
        return policy

    def without_plan(self) -> Guard:
        agents = {name: policy.without_plan() for name, policy in self._agents.items()}
        return Guards(self.policy.without_plan(), self.safety, agents)

    def see(self, tool: Tool, principal: Principal) -> Decision:
        guard = self.of(principal)
        return super().see(tool, principal) if guard is self else guard.see(tool, principal)

    def remembered(self, tool: Tool, principal: Principal, source: Source) -> Decision | None:
        guard = self.of(principal)
        if guard is self:
            return super().remembered(tool, principal, source)
        return guard.remembered(tool, principal, source)

    def decide(self, tool: Tool, args: Any, principal: Principal, source: Source) -> Decision:
        guard = self.of(principal)
        if guard is self:
            return super().decide(tool, args, principal, source)
        return guard.decide(tool, args, principal, source)

    def certain(self, tool: Tool, principal: Principal, source: Source) -> Decision:
        guard = self.of(principal)
        if guard is self:
            return super().certain(tool, principal, source)
        return guard.certain(tool, principal, source)
