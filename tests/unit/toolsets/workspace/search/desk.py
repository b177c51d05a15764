"""A workspace with its tools for searching, called as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from handrail import Handrail
from handrail.toolsets.workspace import Keeping, Workspace
from handrail.toolsets.workspace.search import ripgrep, searching_tools
from handrail.toolsets.workspace.search.finding import Finder
from tests.unit.toolsets.workspace.calling import ANA, Caller

__all__ = ["ANA", "ENGINES", "Caller", "at", "program"]

ENGINES = ("ripgrep", "python")


def program(engine: str) -> str | None:
    """Ripgrep itself, or nothing for the engine that is always there."""
    if engine == "python":
        return None
    found = ripgrep.find()
    assert found is not None, "the tests need ripgrep: pip install 'handrail[ripgrep]'"
    return found


@asynccontextmanager
async def at(root: Path, engine: str = "ripgrep", keeping: Keeping | None = None) -> AsyncIterator[Caller]:
    workspace = Workspace(root, keeping)
    try:
        async with Handrail(searching_tools(workspace, Finder(workspace, program(engine)))) as hr:
            yield Caller(hr)
    finally:
        workspace.close()
