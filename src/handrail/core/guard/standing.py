"""Standing: approvals that hold for the rest of a session. The port, and its twin in memory."""

from __future__ import annotations

from typing import Protocol

from handrail.core.define.principal import Principal


class Standing(Protocol):
    """One tool as it was defined, for one principal in one session.

    One that is forgotten only means that a person is asked again.
    """

    def give(self, principal: Principal, session: str, digest: str, by: str | None, /) -> None:
        """Takes effect in the order in which it was said."""
        ...

    async def holds(self, principal: Principal, session: str, digest: str, /) -> bool: ...


class MemoryStanding:
    """The standing approvals of a process without a database: the newest ones."""

    def __init__(self, keep: int = 10_000) -> None:
        self._keep = keep
        self._given: dict[tuple[Principal, str, str], None] = {}

    def give(self, principal: Principal, session: str, digest: str, by: str | None, /) -> None:
        self._given[principal, session, digest] = None
        if len(self._given) > self._keep:
            del self._given[next(iter(self._given))]

    async def holds(self, principal: Principal, session: str, digest: str, /) -> bool:
        return (principal, session, digest) in self._given
