"""Scheduler: where calls are kept that are made again and again. The port; its place is a database."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Schedule:
    """One schedule, as a list shows it."""

    name: str
    tool: str
    when: str
    next_at: float
    last_call_id: str | None


@runtime_checkable
class Scheduler(Protocol):
    """Makes a job of a call whenever its time has come, once, however many workers look."""

    async def put(
        self,
        name: str,
        tool: str,
        args: Mapping[str, Any] | None = None,
        *,
        principal: Principal,
        cron: str | None = None,
        every: float | None = None,
        zone: str | None = None,
        session: str | None = None,
    ) -> Schedule:
        """Have a tool called by `cron` or `every` so many seconds, in the place of what had this name.

        Each call goes through the whole guard when its time has come, as the principal that scheduled it.
        """
        ...

    async def list(self, principal: Principal) -> builtins.list[Schedule]: ...

    async def remove(self, name: str, principal: Principal) -> bool:
        """Forget a schedule; False when there is none."""
        ...


def scheduler_of(jobs: object) -> Scheduler:
    """The schedules beside these jobs."""
    schedules = getattr(jobs, "schedules", None)
    if not isinstance(schedules, Scheduler):
        raise UsageError(
            "Schedules are kept in a database: Handrail(tools, database='sqlite:///handrail.db')."
        )
    return schedules
