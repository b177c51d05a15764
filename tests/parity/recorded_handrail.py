"""A Handrail whose events are recorded, and people who decide in it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from handrail import Handrail, Principal
from handrail.ext.events import Event
from tests.parity.cases import Decide
from tests.parity.compare import as_json
from tests.parity.people import REVIEWER

RECORD = frozenset(
    f"tool.{one}"
    for one in "started output_appended completed failed cancelled needs_approval approved".split()
)
"""The seven types that are kept."""
ENDS = frozenset({"tool.completed", "tool.failed", "tool.cancelled"})
DEADLINE = 20.0


class RecordedHandrail:
    """Hears what is told, in this process."""

    def __init__(self, hr: Handrail) -> None:
        self.hr = hr
        self._heard: list[Event] = []
        hr.subscribe(self._heard.append)

    def take(self) -> list[dict[str, Any]]:
        """The record since the last time."""
        taken = [as_json(event.to_dict()) for event in self._heard if event.type in RECORD]
        self._heard.clear()
        return taken

    async def until_started(self) -> str:
        """Wait until a body runs and has told a piece of output; the id of its call."""

        def running() -> str | None:
            return next((one.call_id for one in self._heard if one.type == "tool.output_appended"), None)

        return str(await until(running))

    async def until_ended(self) -> None:
        """Wait until the end of a call is told."""
        await until(lambda: next((one for one in self._heard if one.type in ENDS), None))


async def until(found: Callable[[], Any]) -> Any:
    """What is there, once it is."""
    async with asyncio.timeout(DEADLINE):
        while True:
            if (value := found()) is not None:
                return value
            await asyncio.sleep(0.005)


async def decide(hr: Handrail, approval_id: str, decision: Decide, caller: Principal) -> None:
    """What somebody does, in the book of a Handrail."""
    by = REVIEWER if decision.by == "reviewer" else caller
    if decision.how in ("approve", "edit"):
        await hr.approvals.approve(approval_id, by=by, edits=decision.what)
    elif decision.how == "reject":
        await hr.approvals.reject(approval_id, by=by, reason=decision.what)
    else:
        await hr.approvals.respond(approval_id, by=by, result=decision.what)
