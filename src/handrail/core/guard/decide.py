"""decide: may this call run? Pure, and every step it took can be read afterwards.

Layers, in order: visibility, allow/deny, permission, capability, plan, rules, danger, level, policy.
The strictest verdict wins; among equals the earlier layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel

from handrail.core.define.decision import Asked, Decision, Step, Verdict, strictest
from handrail.core.define.permission import DANGERS, LEVELS, Danger, Level, Source, danger_of, level_of
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.guard.policy import Policy, names_of
from handrail.core.guard.rules import Rule

CallerKind = Literal["automation", "person", "service"]
SafetyCheck = Callable[[Tool, Any, Principal], Step | None]
"""A further look at tool and arguments (a sandbox, say): a step, or nothing to add."""

_KINDS: dict[Source, CallerKind] = {
    "agent": "automation",
    "mcp": "automation",
    "job": "automation",
    "web": "person",
    "cli": "person",
}
_CODES: dict[Verdict, str] = {"deny": "NOT_PERMITTED", "ask": "NEEDS_APPROVAL", "queue": "PLANNED"}


def caller_kind(source: Source, principal: Principal) -> CallerKind:
    """Whether a person acts here, or something that acts for one."""
    if source == "api":
        return "automation" if principal.key == "agent" else principal.key
    return _KINDS[source]


def sight(tool: Tool, principal: Principal, policy: Policy) -> tuple[Step, ...]:
    """The layers that do not look at arguments: what they all allow may be seen."""
    return (
        _visibility(tool, principal),
        *(_lists(tool, one) for one in policy.chain),
        _permission(tool, principal),
        _capability(tool, policy),
    )


def _visibility(tool: Tool, principal: Principal) -> Step:
    if tool.tenants and principal.tenant not in tool.tenants:
        return Step("visibility", "deny", f"Tool not found: {tool.id}", code="TOOL_NOT_FOUND")
    return Step("visibility", "allow", "this tenant may see it")


def _lists(tool: Tool, policy: Policy) -> Step:
    if policy.denies(tool):
        return _not_permitted("allow/deny", tool, "it is on the deny list", "deny")
    if not policy.allows(tool):
        return _not_permitted("allow/deny", tool, "it is not on the allow list", "allow")
    return Step("allow/deny", "allow", "no list keeps it out")


def _permission(tool: Tool, principal: Principal) -> Step:
    if tool.requires is None:
        return Step("permission", "allow", "it requires no permission")
    if principal.holds(tool.requires):
        return Step("permission", "allow", f"the caller holds {tool.requires}")
    return _not_permitted("permission", tool, f"it requires the permission {tool.requires}")


def _capability(tool: Tool, policy: Policy) -> Step:
    missing = tool.capabilities - policy.grants()
    if missing:
        names = ", ".join(sorted(missing))
        return _not_permitted("capability", tool, f"it needs a capability that is not granted: {names}")
    return Step("capability", "allow", "every capability it needs is granted")


def _not_permitted(layer: str, tool: Tool, why: str, rule: str | None = None) -> Step:
    return Step(layer, "deny", f"Tool not permitted: {tool.id} ({why})", rule, "NOT_PERMITTED")


def decide(
    tool: Tool,
    args: Any,
    principal: Principal,
    policy: Policy,
    source: Source = "agent",
    safety: tuple[SafetyCheck, ...] = (),
    rules: tuple[Rule, ...] | None = None,
) -> Decision:
    """The decision for validated arguments; for None (not known yet), what is certain without them.

    `rules` are those that speak of the tool, where somebody has them at hand.
    """
    steps = list(sight(tool, principal, policy))
    applying = rules_for(tool, policy) if rules is None else rules
    facts = _facts(principal, source) if applying else []
    if args is None:
        applying = tuple(rule for rule in applying if not looks_at_args(rule, tool))
        if is_dynamic(tool):
            return strictest((*steps, *_rules(tool, args, applying, facts)))
    level, danger = axes(tool, args)
    kind = caller_kind(source, principal)
    steps += (_plan(one, level) for one in policy.chain if one.plan)
    steps += _rules(tool, args, applying, [one | {"@level": level, "@danger": danger} for one in facts])
    steps += (_checked(tool, step) for check in safety if (step := check(tool, args, principal)) is not None)
    for one in policy.chain:
        steps += gates(level, danger, tool.policy, one.approval_mode, one.moderate, kind)
    return strictest(tuple(steps))


def axes(tool: Tool, args: Any) -> tuple[Level, Danger]:
    """Level and danger of this very call.

    Where the tool computes its danger, that decides the level too. A computed level brings its own danger,
    unless the tool declares one that its static level does not stand for.
    """
    level, danger = tool.level, tool.danger
    if tool.danger_of_call is not None:
        danger = tool.danger_of_call(args)
        if danger not in DANGERS:
            raise ValueError(f"the danger function of {tool.id} said {danger!r}, which is no danger")
        level = level_of(danger)
    if tool.level_of_call is not None:
        level = tool.level_of_call(args)
        if level not in LEVELS:
            raise ValueError(f"the level function of {tool.id} said {level!r}, which is no level")
        if tool.danger_of_call is None and tool.danger == danger_of(tool.level):
            danger = danger_of(level)
    return level, danger


def is_dynamic(tool: Tool) -> bool:
    """Whether level or danger depend on the arguments."""
    return tool.level_of_call is not None or tool.danger_of_call is not None


def rules_for(tool: Tool, policy: Policy) -> tuple[Rule, ...]:
    """The rules, here and above, that speak of a tool."""
    names = names_of(tool)
    return tuple(rule for one in policy.chain for rule in one.rules if rule.applies_to(names))


def looks_at_args(rule: Rule, tool: Tool) -> bool:
    """Whether what a rule says of this tool can differ between calls of one principal."""
    return rule.on_args or (rule.on_axes and is_dynamic(tool))


def _facts(principal: Principal, source: Source) -> list[dict[str, Any]]:
    """What rules may ask about the caller: for the agent that calls, then for each agent above it."""
    facts = {
        "@source": source,
        "@tenant": principal.tenant,
        "@user": principal.user,
        "@role": principal.roles,
    }
    return [facts | {"@agent": agent} for agent in (principal.agent, *principal.ancestors)]


def _rules(tool: Tool, args: Any, rules: Iterable[Rule], facts: list[dict[str, Any]]) -> Iterator[Step]:
    """A word for every rule that was consulted, also for one whose conditions do not hold."""
    given = as_mapping(args) if any(rule.on_args for rule in rules) else {}
    for rule in rules:
        held = any(rule.holds(given, one) for one in facts)
        yield _said(rule, tool) if held else rule.passed


def _said(rule: Rule, tool: Tool) -> Step:
    reason = rule.reason or f"a rule for {rule.tool} says {rule.verdict}"
    if rule.verdict == "deny":
        return _not_permitted("rules", tool, reason, rule.label)
    by: Asked | None = "reviewer" if rule.verdict == "ask" else None
    return Step("rules", rule.verdict, reason, rule.label, _CODES.get(rule.verdict), by)


def _checked(tool: Tool, step: Step) -> Step:
    """What a safety check said, with the code, the answerer and the tool's name that it may leave out."""
    if not isinstance(step, Step):
        raise TypeError(f"a safety check said {step!r}, which is no Step")
    if step.verdict == "deny" and tool.id not in step.reason:
        step = replace(step, reason=f"Tool not permitted: {tool.id} ({step.reason})")
    by = "reviewer" if step.verdict == "ask" and step.by is None else step.by
    return replace(step, code=step.code or _CODES.get(step.verdict), by=by)


def as_mapping(args: Any) -> Mapping[str, Any]:
    """Validated arguments, defaults included, as JSON data."""
    if isinstance(args, BaseModel):
        return args.model_dump(mode="json", by_alias=True)
    return args if isinstance(args, Mapping) else {}


def _plan(policy: Policy, level: Level) -> Step:
    if level == "read" and policy.plan != "all":
        return Step("plan", "allow", "reads run in plan mode, so that a plan can be made")
    return Step("plan", "queue", "plan mode queues it for review", code="PLANNED")


def gates(
    level: Level,
    danger: Danger,
    permission_policy: str,
    mode: str,
    moderate: str,
    kind: CallerKind,
) -> Iterator[Step]:
    """What danger, level and policy say when every earlier layer allows."""
    always = permission_policy == "always_ask"
    clearable = level == "write" and danger != "dangerous" and not always
    if kind != "automation":
        yield (
            _confirm("danger", kind, "it is dangerous") if danger == "dangerous" else _fine("danger", danger)
        )
        destructive = level == "destructive"
        yield _confirm("level", kind, "it is destructive") if destructive else _fine("level", level)
        return
    if danger == "dangerous":
        yield _ask("danger", "it is dangerous", False)
    elif danger == "moderate" and mode == "danger" and moderate == "ask":
        yield _ask("danger", "it is moderately dangerous", clearable)
    else:
        yield _fine("danger", danger)
    if level == "destructive":
        yield _ask("level", "it is destructive and cannot be taken back", False)
    elif level == "write" and mode == "strict":
        yield _ask("level", "it changes real data", clearable)
    else:
        yield _fine("level", level)
    if always:
        yield _ask("policy", "it always asks before an agent runs it", False)


def _ask(layer: str, why: str, clearable: bool) -> Step:
    return Step(layer, "ask", f"Needs approval: {why}", None, "NEEDS_APPROVAL", "reviewer", clearable)


def _confirm(layer: str, kind: CallerKind, why: str) -> Step:
    by: Literal["reviewer", "caller"] = "caller" if kind == "person" else "reviewer"
    return Step(layer, "ask", f"Needs confirmation: {why}", None, "NEEDS_APPROVAL", by)


def _fine(layer: str, value: str) -> Step:
    return Step(layer, "allow", f"{value} runs by itself here")


def is_standing(decision: Decision) -> bool:
    """Whether a standing approval may clear this ask: every step that asks says so."""
    asking = [step for step in decision.trace if step.verdict == "ask"]
    return decision.verdict == "ask" and bool(asking) and all(step.clearable for step in asking)
