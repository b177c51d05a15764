"""A workspace with its tools for searching, called as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from handrail import Handrail
from handrail.toolsets.workspace import PathRules, Workspace
from handrail.toolsets.workspace.search import ripgrep, search_tools
from handrail.toolsets.workspace.search.finder import Finder
from tests.unit.toolsets.workspace.caller import ANA, Caller

__all__ = ["ANA", "ENGINES", "Caller", "engine_program", "open_search"]

ENGINES = ("ripgrep", "python")


def engine_program(engine: str) -> str | None:
    """Ripgrep itself, or nothing for the engine that is always there."""
    if engine == "python":
        return None
    found = ripgrep.find_ripgrep()
    assert found is not None, "the tests need ripgrep: pip install 'handrail[ripgrep]'"
    return found


@asynccontextmanager
async def open_search(
    root: Path, engine: str = "ripgrep", path_rules: PathRules | None = None
) -> AsyncIterator[Caller]:
    workspace = Workspace(root, path_rules)
    try:
        async with Handrail(search_tools(workspace, Finder(workspace, engine_program(engine)))) as hr:
            yield Caller(hr)
    finally:
        workspace.close()
