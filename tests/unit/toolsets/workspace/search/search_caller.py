"""A workspace with its tools for searching, called as an agent calls them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from handrail import Handrail, Outcome
from handrail.toolsets.workspace import PathRules, Workspace
from handrail.toolsets.workspace.search import search_tools
from handrail.toolsets.workspace.search.finder import Finder
from handrail.toolsets.workspace.search.ripgrep import find_ripgrep
from tests.unit.toolsets.workspace.caller import ANA, Caller

__all__ = ["ANA", "ENGINES", "Caller", "SearchCaller", "open_search", "pattern_for", "ripgrep_program"]

ENGINES = ("ripgrep", "python")


def ripgrep_program() -> str:
    program = find_ripgrep()
    assert program is not None, "the tests need ripgrep: pip install 'handrail[workspace]'"
    return program


def pattern_for(engine: str, pattern: str) -> str:
    """The pattern; for Python with a look-ahead at nothing, which ripgrep does not know."""
    return f"{pattern}(?=)" if engine == "python" else pattern


class SearchCaller(Caller):
    """Calls grep with patterns for one of the engines."""

    def __init__(self, hr: Handrail, engine: str) -> None:
        super().__init__(hr)
        self._engine = engine

    async def call(self, name: str, /, **args: Any) -> Outcome:
        if name == "grep" and not args.get("literal"):
            args["pattern"] = pattern_for(self._engine, args["pattern"])
        return await super().call(name, **args)


@asynccontextmanager
async def open_search(
    root: Path, engine: str = "ripgrep", path_rules: PathRules | None = None
) -> AsyncIterator[Caller]:
    workspace = Workspace(root, path_rules)
    try:
        async with Handrail(search_tools(workspace, Finder(workspace, ripgrep_program()))) as hr:
            yield SearchCaller(hr, engine)
    finally:
        workspace.close()
