"""recover: the end of a run whose process is gone, told by somebody else."""

from __future__ import annotations

from handrail.core.define.call import Outcome
from handrail.core.define.result import Result
from handrail.core.guard.keys import key_id
from handrail.core.run import refusal
from handrail.core.run.house import House
from handrail.core.run.tale import begin
from handrail.core.tell.events import ToolStarted


def recover(started: ToolStarted, repeatable: bool, house: House) -> Outcome:
    """Whoever waits for the call learns that nobody will end it, and whether it may be made again."""
    call = started.call
    tale = begin(call, dict(started.input), house)
    tale.tool = house.registry.get(started.tool)
    tale.run_id = started.run_id
    tale.begun = not repeatable
    if call.idempotency_key is not None and call.principal is not None:
        tale.key = key_id(call.principal, call.idempotency_key)
    if not repeatable:
        unknown = refusal.unknown_outcome(f"{started.tool} began, and its process was gone before it ended.")
        return tale.fail(unknown.status, unknown.result)
    error = f"The process that ran {started.tool} was gone before it ended. It may be called again."
    tale.key = None  # who comes with it learns that it is free from how the call ended; or has it already
    return tale.fail(
        "failed", Result.fail(error, code="INTERRUPTED", summary=f"{started.tool} was interrupted")
    )
