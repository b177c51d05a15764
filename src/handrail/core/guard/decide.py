"""decide: may this call run? Pure, and every step it took can be read afterwards.

Layers, in order: visibility, allow/deny, permission, capability, plan, rules, danger, level, policy.
The strictest verdict wins; among equals the earlier layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel

from handrail.core.define.decision import AnsweredBy, Decision, Step, Verdict, strictest
from handrail.core.define.levels import LEVELS, Danger, Level, Source
from handrail.core.define.principal import Principal
from handrail.core.define.tool import Tool
from handrail.core.guard.policy import Policy, listed
from handrail.core.guard.risk import Risk, assess_risk, is_dynamic
from handrail.core.guard.rules import Rule, names_of

CallerKind = Literal["automation", "person", "service"]
SafetyCheck = Callable[[Tool, Any, Principal], Step | None]
"""A further look at tool and arguments (a sandbox, say): a step, or nothing to add.

One with a method `watches(tool) -> bool` looks at the calls of those tools alone; it is asked once for each.
"""

_KINDS: dict[Source, CallerKind] = {
    "agent": "automation",
    "mcp": "automation",
    "job": "automation",
    "web": "person",
    "cli": "person",
}
_NO_FACTS: dict[str, Any] = {}
_IN_SIGHT = Step("visibility", "allow", "this tenant may see it")
_NOT_KEPT_OUT = Step("allow/deny", "allow", "no list keeps it out")
_FREE = Step("permission", "allow", "it requires no permission")
_GRANTED = Step("capability", "allow", "every capability it needs is granted")
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
        *(_lists(tool, link) for link in policy.chain),
        *_key(tool, principal),
        _permission(tool, principal),
        _capability(tool, policy),
    )


def _visibility(tool: Tool, principal: Principal) -> Step:
    if tool.tenants and principal.tenant not in tool.tenants:
        return Step("visibility", "deny", f"Tool not found: {tool.id}", code="TOOL_NOT_FOUND")
    return _IN_SIGHT


def _lists(tool: Tool, policy: Policy) -> Step:
    if policy.denies(tool):
        return _not_permitted("allow/deny", tool, "it is on the deny list", "deny")
    if not policy.allows(tool):
        return _not_permitted("allow/deny", tool, "it is not on the allow list", "allow")
    return _NOT_KEPT_OUT


def _key(tool: Tool, principal: Principal) -> Iterator[Step]:
    """What the key that opened the door reaches: some tools only, up to some level only."""
    if principal.scope is not None and not listed(principal.scope, tool):
        yield _not_permitted("allow/deny", tool, "the key that was used does not reach it", "key")
    if principal.ceiling is not None and not is_dynamic(tool):
        yield from _ceiling(tool, principal.ceiling, tool.level)


def _ceiling(tool: Tool, ceiling: Level, level: Level, because: str = "") -> Iterator[Step]:
    if LEVELS.index(level) > LEVELS.index(ceiling):
        why = f"the key that was used reaches {ceiling}, and this call is {level}"
        if because:
            why = f"{why}: {because}"
        yield _not_permitted("level", tool, why, "key")


def _permission(tool: Tool, principal: Principal) -> Step:
    if tool.requires is None:
        return _FREE
    if principal.holds(tool.requires):
        return Step("permission", "allow", f"the caller holds {tool.requires}")
    return _not_permitted("permission", tool, f"it requires the permission {tool.requires}")


def _capability(tool: Tool, policy: Policy) -> Step:
    if tool.capabilities and (missing := tool.capabilities - policy.grants()):
        names = ", ".join(sorted(missing))
        return _not_permitted("capability", tool, f"it needs a capability that is not granted: {names}")
    return _GRANTED


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
    applying = rules_for(tool, policy) if rules is None else rules
    if args is None:
        applying = tuple(rule for rule in applying if not looks_at_args(rule, tool))
        if is_dynamic(tool):
            steps = _rules(tool, applying, holding(applying, args, principal, source))
            return strictest((*sight(tool, principal, policy), *steps))
    judged = assess_risk(tool, args)
    held = holding(applying, args, principal, source, judged.level, judged.danger)
    checks = [
        _safety_step(tool, step) for check in safety if (step := check(tool, args, principal)) is not None
    ]
    return weigh(tool, principal, policy, source, judged, applying, held, checks)


def weigh(
    tool: Tool,
    principal: Principal,
    policy: Policy,
    source: Source,
    judged: Risk,
    rules: tuple[Rule, ...],
    held: tuple[bool, ...],
    checks: Iterable[Step] = (),
) -> Decision:
    """The decision once it is known what the arguments make of the call, and which rules hold for it."""
    steps = list(sight(tool, principal, policy))
    if principal.ceiling is not None and is_dynamic(tool):
        steps += _ceiling(tool, principal.ceiling, judged.level, judged.level_why)
    steps += (_plan(link, judged.level) for link in policy.chain if link.plan)
    steps += _rules(tool, rules, held)
    steps += checks
    kind = caller_kind(source, principal)
    for link in policy.chain:
        steps += gates(judged, tool.policy, link.approval_mode, link.moderate, kind)
    return strictest(tuple(steps))


def rules_for(tool: Tool, policy: Policy) -> tuple[Rule, ...]:
    """The rules, here and above, that speak of a tool."""
    names = names_of(tool)
    return tuple(rule for rule in policy.all_rules if rule.applies_to(names))


def looks_at_args(rule: Rule, tool: Tool) -> bool:
    """Whether what a rule says of this tool can differ between calls of one principal."""
    return rule.on_args or (rule.on_axes and is_dynamic(tool))


def holding(
    rules: tuple[Rule, ...],
    args: Any,
    principal: Principal,
    source: Source,
    level: Level | None = None,
    danger: Danger | None = None,
) -> tuple[bool, ...]:
    """Of each rule whether its conditions hold: for the agent that calls, or for one above it."""
    if not rules:
        return ()
    arguments: Mapping[str, Any] = {}
    all_facts = [_NO_FACTS]
    for rule in rules:
        if rule.on_args and not arguments:
            arguments = as_mapping(args)
        if rule.on_facts and all_facts[0] is _NO_FACTS:
            all_facts = _facts(principal, source, level, danger)
    if len(all_facts) == 1:
        facts = all_facts[0]
        return tuple([rule.holds(arguments, facts) for rule in rules])
    return tuple([any(rule.holds(arguments, facts) for facts in all_facts) for rule in rules])


def _facts(
    principal: Principal, source: Source, level: Level | None, danger: Danger | None
) -> list[dict[str, Any]]:
    """What rules may ask about the call: with the agent that makes it, then with each agent above it."""
    facts = {
        "@source": source,
        "@tenant": principal.tenant,
        "@user": principal.user,
        "@role": principal.roles,
        "@level": level,
        "@danger": danger,
    }
    return [facts | {"@agent": agent} for agent in (principal.agent, *principal.ancestors)]


def _rules(tool: Tool, rules: Iterable[Rule], held: Iterable[bool]) -> Iterator[Step]:
    """A word for every rule that was consulted, also for one whose conditions do not hold."""
    return (_rule_step(rule, tool) if holds else rule.passed for rule, holds in zip(rules, held, strict=True))


def _rule_step(rule: Rule, tool: Tool) -> Step:
    reason = rule.reason or f"a rule for {rule.tool} says {rule.verdict}"
    if rule.verdict == "deny":
        return _not_permitted("rules", tool, reason, rule.label)
    by: AnsweredBy | None = "reviewer" if rule.verdict == "ask" else None
    return Step("rules", rule.verdict, reason, rule.label, _CODES.get(rule.verdict), by)


def _safety_step(tool: Tool, step: Step) -> Step:
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


def gates(judged: Risk, permission_policy: str, mode: str, moderate: str, kind: CallerKind) -> Iterator[Step]:
    """What danger, level and policy say when every earlier layer allows."""
    level, danger, level_why, danger_why = judged
    always = permission_policy == "always_ask"
    clearable = level == "write" and danger != "dangerous" and not always
    if kind != "automation":
        axes = (("danger", danger, "dangerous", danger_why), ("level", level, "destructive", level_why))
        for layer, value, gravest, why in axes:
            yield (
                _confirm(layer, kind, f"it is {value}", why) if value == gravest else _fine(layer, value, why)
            )
        return
    if danger == "dangerous":
        yield _ask("danger", "it is dangerous", danger_why)
    elif danger == "moderate" and mode == "danger" and moderate == "ask":
        yield _ask("danger", "it is moderately dangerous", danger_why, clearable)
    else:
        yield _fine("danger", danger, danger_why)
    if level == "destructive":
        yield _ask("level", "it is destructive and cannot be taken back", level_why)
    elif level == "write" and mode == "strict":
        yield _ask("level", "it changes real data", level_why, clearable)
    else:
        yield _fine("level", level, level_why)
    if always:
        yield _ask("policy", "it always asks before an agent runs it")


def _ask(layer: str, what: str, why: str = "", clearable: bool = False) -> Step:
    reason = f"Needs approval: {_because(what, why)}"
    return Step(layer, "ask", reason, None, "NEEDS_APPROVAL", "reviewer", clearable)


def _confirm(layer: str, kind: CallerKind, what: str, why: str) -> Step:
    by: AnsweredBy = "caller" if kind == "person" else "reviewer"
    reason = f"Needs confirmation: {_because(what, why)}"
    return Step(layer, "ask", reason, None, "NEEDS_APPROVAL", by)


def _because(what: str, why: str) -> str:
    return f"{what} ({why})" if why else what


@lru_cache(maxsize=64)
def _fine(layer: str, value: str, why: str) -> Step:
    return Step(layer, "allow", _because(f"{value} runs by itself here", why))


def is_standing(decision: Decision) -> bool:
    """Whether a standing approval may clear this ask: every step that asks says so."""
    asking = [step for step in decision.trace if step.verdict == "ask"]
    return decision.verdict == "ask" and bool(asking) and all(step.clearable for step in asking)
