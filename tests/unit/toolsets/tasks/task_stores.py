"""Both twins of the task book, and a Handrail over one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail import Handrail, Outcome, Principal
from handrail.toolsets.tasks import MemoryTaskStore, SqliteTaskStore, TaskStore, task_tools

TWINS = ("memory", "file")
ANA = Principal(tenant="acme", user="ana")


def store_of(twin: str, folder: Path) -> TaskStore:
    return MemoryTaskStore() if twin == "memory" else SqliteTaskStore(folder)


class Caller:
    """Somebody who calls task tools in one session."""

    def __init__(self, hr: Handrail, principal: Principal = ANA, session: str | None = "s1") -> None:
        self.hr, self.principal, self.session = hr, principal, session

    def as_(self, principal: Principal = ANA, session: str | None = "s1") -> Caller:
        return Caller(self.hr, principal, session)

    async def __call__(self, tool: str, **args: Any) -> Outcome:
        return await self.hr.call(tool, args, principal=self.principal, session=self.session, source="agent")

    async def says(self, tool: str, **args: Any) -> str:
        return (await self(tool, **args)).to_model()


@asynccontextmanager
async def caller(store: TaskStore) -> AsyncIterator[Caller]:
    async with Handrail(task_tools(store)) as hr:
        try:
            yield Caller(hr)
        finally:
            await store.close()
