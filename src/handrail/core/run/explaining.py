"""explain: what the guard would say to a call, without running it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from handrail.core.define.call import Call
from handrail.core.define.decision import Decision, Step, strictest
from handrail.core.guard.admit import Admitted, admit
from handrail.core.run.house import House
from handrail.core.run.refusal import Refusal, invalid
from handrail.core.run.seek import hidden_or_denied, seek


async def explain(call: Call, args: Mapping[str, Any] | str | None, house: House) -> Decision:
    """The decision, with every rule that would be consulted; a refusal before it as a decision too."""
    who = call.principal
    assert who is not None
    found = await seek(call, house)
    if isinstance(found, Refusal):
        return _refused(found)
    seen = house.guard.see(found, who)
    if seen.verdict == "deny":
        refused = await hidden_or_denied(seen, found, call, house)
        return seen if refused.decision is seen else _refused(refused)
    admitted = admit(found, args, call.tool, house.repairing)
    if not isinstance(admitted, Admitted):
        return _refused(invalid(found, admitted))
    return house.guard.decide(found, admitted.values, who, call.source)


def _refused(refusal: Refusal) -> Decision:
    step = Step(refusal.layer, "deny", refusal.result.error or "", refusal.rule, refusal.result.code)
    return strictest((step,))
