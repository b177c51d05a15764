"""JobOffice: calls that run later, looked after by people: which wait, which are blocked, and why."""

from __future__ import annotations

import builtins

from handrail.core.define.principal import Principal
from handrail.core.run.jobs import JobEntry, Jobs, JobState


class JobOffice:
    """The jobs of one Handrail. Whoever asks sees those of its tenant."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    async def list(self, principal: Principal, *, state: JobState | None = None) -> builtins.list[JobEntry]:
        """The tenant's jobs, oldest first."""
        return await self._jobs.list(principal.tenant, state=state)

    async def get(self, call_id: str, principal: Principal) -> JobEntry | None:
        return await self._jobs.get(call_id, principal.tenant)

    async def caller(self, call_id: str, principal: Principal) -> Principal | None:
        """For whom a job is run that nobody has begun yet; None when there is none, or it is over."""
        return await self._jobs.caller(call_id, principal.tenant)

    async def unblock(self, call_id: str, *, by: Principal) -> bool:
        """Try a blocked job again; False when it is not blocked."""
        return await self._jobs.unblock(call_id, by.tenant)
