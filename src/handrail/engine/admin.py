"""Jobs and secrets, looked after by people."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from handrail.core.define.principal import Principal
from handrail.core.errors import UsageError
from handrail.core.run.jobs.job import JobEntry, Jobs, JobState
from handrail.core.run.runtime import Secrets


class JobAdmin:
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


MANAGE = "secrets.manage"
"""The permission to keep secrets of the tenant. A person keeps their own credentials without it."""


@dataclass(frozen=True, slots=True)
class SecretName:
    """That there is a secret; never what it is."""

    name: str
    user: str | None
    """Whose credential it is; None where it is the tenant's."""
    updated_at: float
    updated_by: str | None


@runtime_checkable
class SecretStore(Protocol):
    """Where secrets are kept."""

    async def set(
        self, tenant: str, name: str, value: str, *, user: str | None = None, by: str | None = None
    ) -> None: ...

    async def list(self, tenant: str, *, user: str | None = None) -> builtins.list[SecretName]: ...

    async def delete(self, tenant: str, name: str, *, user: str | None = None) -> bool: ...


def secret_source(source: Mapping[str, str] | Secrets | None) -> Secrets | None:
    """Where the bodies of tools get their secrets, given as a function or by name."""
    if source is None or not isinstance(source, Mapping):
        return source
    secrets = dict(source)
    return lambda name, principal: secrets.get(name)


class SecretAdmin:
    """The secrets of one Handrail, for whoever may look after them."""

    def __init__(self, source: object) -> None:
        self._source = source

    async def set(self, name: str, value: str, *, by: Principal, user: str | None = None) -> None:
        """Keep a secret of the tenant, or, with `user`, a credential of one of its users."""
        _check(by, user)
        await self._secret_store().set(by.tenant, name, value, user=user, by=by.user)

    async def list(self, by: Principal) -> builtins.list[SecretName]:
        """Which secrets there are: the tenant's, and one's own."""
        _check(by, by.user)
        return await self._secret_store().list(by.tenant, user=by.user)

    async def delete(self, name: str, *, by: Principal, user: str | None = None) -> bool:
        """Forget a secret; False when there is none."""
        _check(by, user)
        return await self._secret_store().delete(by.tenant, name, user=user)

    def _secret_store(self) -> SecretStore:
        if not isinstance(self._source, SecretStore):
            raise UsageError(
                "Secrets are kept in a database. Without one, give them when Handrail is made: `secrets=`."
            )
        return self._source


def _check(by: Principal, user: str | None) -> None:
    if by.agent is not None:
        raise UsageError("Secrets are looked after by people, not by agents.")
    if not by.holds(MANAGE) and (user is None or user != by.user):
        raise UsageError(
            f"Your own credentials are yours to keep; any other takes the permission {MANAGE!r}."
        )
