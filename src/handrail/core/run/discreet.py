"""Discreet: reasons that quote arguments, without the secrets among them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from handrail.core.define.decision import Decision
from handrail.core.define.secrecy import hidden, masked, scrubbed
from handrail.core.define.tool import Tool


def discreet(
    decision: Decision, tool: Tool, args: dict[str, Any] | None, secrets: Iterable[str] | None
) -> Decision:
    """The decision as records and cards may hold it: a tool or a check may have quoted what it was given."""
    known = set(secrets or ())
    if tool.secrets and args is not None:
        known.update(hidden(args, masked(args, tool.secrets)))
    if not known:
        return decision
    trace = tuple(replace(step, reason=scrubbed(step.reason, known)) for step in decision.trace)
    return replace(decision, reason=scrubbed(decision.reason, known), trace=trace)
