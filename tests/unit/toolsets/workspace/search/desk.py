"""A workspace with its tools for searching, called as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail import Handrail, Outcome, Principal
from handrail.toolsets.workspace import Keeping, Workspace
from handrail.toolsets.workspace.search import ripgrep, searching_tools
from handrail.toolsets.workspace.search.finding import Finder

ANA = Principal(tenant="acme", user="ana")
ENGINES = ("ripgrep", "python")


def program(engine: str) -> str | None:
    """Ripgrep itself, or nothing for the engine that is always there."""
    if engine == "python":
        return None
    found = ripgrep.find()
    assert found is not None, "the tests need ripgrep: pip install 'handrail[ripgrep]'"
    return found


class Desk:
    """Calls tools by name."""

    def __init__(self, hr: Handrail) -> None:
        self.hr = hr

    async def call(self, name: str, /, **args: Any) -> Outcome:
        return await self.hr.call(name, args, principal=ANA, source="agent")

    async def data(self, name: str, /, **args: Any) -> Any:
        """The data of a call that must succeed."""
        outcome = await self.call(name, **args)
        assert outcome.status == "completed", outcome.to_model()
        return outcome.result.data

    async def said(self, name: str, /, **args: Any) -> str:
        """What the model reads of a call that must succeed."""
        outcome = await self.call(name, **args)
        assert outcome.status == "completed", outcome.to_model()
        return outcome.to_model()

    async def refused(self, name: str, /, **args: Any) -> tuple[str, str]:
        """The code and the words of a call that must fail."""
        outcome = await self.call(name, **args)
        assert outcome.status in ("failed", "refused"), outcome.to_model()
        return str(outcome.code), str(outcome.result.error)


@asynccontextmanager
async def at(root: Path, engine: str = "ripgrep", keeping: Keeping | None = None) -> AsyncIterator[Desk]:
    workspace = Workspace(root, keeping)
    try:
        async with Handrail(searching_tools(workspace, Finder(workspace, program(engine)))) as hr:
            yield Desk(hr)
    finally:
        workspace.close()
