"""Calls that a door starts: what a request asks for, the calls in flight, and how one ended elsewhere."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError

if TYPE_CHECKING:
    from handrail.core.define.call import Outcome
    from handrail.core.define.levels import Source
    from handrail.engine.handrail import Handrail


@dataclass(frozen=True, slots=True)
class CallRequest:
    """One call that a request asks for."""

    who: Principal
    source: Source
    tool: str
    arguments: dict[str, Any]
    session: str | None = None
    digest: str | None = None
    key: str | None = None
    prefer: str = ""
    durable_start: bool = False
    """Whether the answer waits until `tool.started` is durable, since it names the run (EV-09)."""

    @property
    def options(self) -> dict[str, Any]:
        """Everything but the tool and its arguments, as the engine takes it."""
        return {
            "principal": self.who,
            "source": self.source,
            "session": self.session,
            "idempotency_key": self.key,
            "digest": self.digest,
        }

    @property
    def call_options(self) -> dict[str, Any]:
        """The same for a call that is waited for."""
        return {**self.options, "durable_start": self.durable_start}


class RunningCalls:
    """Calls that go on whether or not a client still listens; they are held here until they end."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Outcome]] = set()

    def start(self, hr: Handrail, request: CallRequest, call_id: str) -> asyncio.Task[Outcome]:
        task = asyncio.create_task(
            hr.call(request.tool, request.arguments, **request.call_options, id=call_id)
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def over(self, seconds: float) -> None:
        """Let them finish for so long; what takes longer is cancelled, and the log says so."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


async def wait_for_outcome(hr: Handrail, tenant: str, call_id: str, seconds: float) -> Outcome | None:
    """The end of a call that a worker runs, if it comes in time."""
    try:
        return await hr.wait(call_id, max(seconds, 0.001), principal=Principal(tenant))
    except (TimeoutError, UsageError):
        return None
