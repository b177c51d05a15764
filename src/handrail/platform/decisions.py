"""A decision of the guard in words: each layer that was asked, and what would let the call pass."""

from __future__ import annotations

from dataclasses import dataclass

from handrail.core.define.decision import Decision, Step

_LAYERS = {
    "find": "Finding the tool",
    "visibility": "Who may see it",
    "allow/deny": "Allow and deny lists",
    "permission": "Permission",
    "capability": "Capabilities",
    "validate": "Arguments",
    "plan": "Plan mode",
    "rules": "Rules",
    "danger": "Danger",
    "level": "Level",
    "policy": "Approval policy",
    "standing": "Standing approval",
    "approval": "Approval",
    "claim": "Use by others",
    "duplicate": "Earlier calls",
    "log": "Record",
    "error": "Policy",
}
_VERDICTS = {
    "allow": "allows it",
    "ask": "wants a person to agree",
    "queue": "puts it on the plan",
    "deny": "refuses it",
}


@dataclass(frozen=True, slots=True)
class LayerReason:
    """One layer that was asked."""

    layer: str
    rule: str | None
    says: str
    reason: str
    verdict: str
    decided: bool


def layer_reasons(decision: Decision) -> list[LayerReason]:
    """Every layer that was consulted, in order, and which one decided."""
    decider = decision.decider
    return [
        LayerReason(
            _LAYERS.get(step.layer, step.layer.capitalize()),
            step.rule,
            _VERDICTS[step.verdict],
            _without_verdict(step.reason),
            step.verdict,
            step is decider,
        )
        for step in decision.trace
    ]


def _without_verdict(reason: str) -> str:
    """A reason without the verdict that it begins with."""
    return reason.removeprefix("Needs approval: ").removeprefix("Needs confirmation: ")


def remedy(step: Step) -> str | None:
    """What would make a call pass that this step stopped; None where that is for the door to say."""
    match step.layer:
        case "allow/deny":
            if step.rule == "deny":
                return "take it off the deny list under [policy] deny, here or in the agent's own policy"
            return "add it to the allow list under [policy] allow, here or in the agent's own policy"
        case "permission":
            return "let the caller hold that permission (`permissions` in handrail.toml)"
        case "capability":
            return "grant the capability under [policy] capabilities"
        case "plan":
            return "switch plan mode off under [policy] plan, or review and run the plan"
    return None
