"""SyntaxCheck: says after an edit where the file no longer parses. The edit stays, to be repaired."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from handrail import Context, Result, Tool
from handrail.toolsets.workspace.changes.journal import Changes
from handrail.toolsets.workspace.hooks.languages import check_of
from handrail.toolsets.workspace.hooks.parsing import parse
from handrail.toolsets.workspace.hooks.problems import Problem, line_of
from handrail.toolsets.workspace.hooks.syntax_trees import LARGEST, SyntaxTrees

_EDITS = frozenset({"write_file", "edit_file"})


class SyntaxCheck:
    """A hook around the tools that write text."""

    def __init__(self, changes: Changes, trees: SyntaxTrees) -> None:
        self._changes, self._trees = changes, trees

    def watches(self, tool: Tool) -> bool:
        return tool.id in _EDITS

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        if not result.success or check_of(values.path) is None:
            return result
        path = self._changes.workspace.relative(values.path)
        found = await self._trees.of(path)
        if found is None or found[1].problem is None:
            return result
        data, problem = found[0], found[1].problem
        said = _said(path, problem, line_of(data, problem))
        earlier = await self._earlier(ctx, path)
        if earlier is not None:
            said += f" It did not parse before this change either (line {earlier.line}: {earlier.text})."
        else:
            said += " The change was made; repair it with another edit, or undo it with undo_file."
        return replace(result.with_metadata(warning=said), output=f"{result.text()}\nWarning: {said}")

    async def _earlier(self, ctx: Context, path: str) -> Problem | None:
        """What was wrong with the file before this call changed it."""
        before = self._changes.before(ctx.tenant_id, ctx.session_id, ctx.call_id, path)
        check = check_of(path)
        if before is None or check is None or len(before) > LARGEST:
            return None
        return (await parse(check, before)).problem


def _said(path: str, problem: Problem, line: str) -> str:
    return f"{path} may not parse: line {problem.line}, column {problem.column}: {problem.text}: `{line}`."
