"""SyntaxCheck: says after an edit where the file no longer parses. The edit stays, to be repaired."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from handrail import Context, Result, Tool, ToolError
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.syntax_errors import ParseResult, SyntaxProblem, line_of
from handrail.toolsets.workspace.syntax_parsers import parse, parser_for
from handrail.toolsets.workspace.workspace import Workspace

MAX_PARSED_SIZE = 1024 * 1024
"""A larger file is not parsed: that takes long, and few are written by hand."""
_MAX_CACHED_FILES = 64


class ParseCache:
    """The parsed files of a workspace, the most recent ones."""

    def __init__(self, workspace: Workspace, most: int = _MAX_CACHED_FILES) -> None:
        self._workspace, self._most = workspace, most
        self._kept: OrderedDict[str, tuple[int, ParseResult]] = OrderedDict()
        """By path: the hash of the bytes, and what they yielded."""
        self._lock = threading.Lock()
        workspace.listen(self.changed)

    def __contains__(self, path: str) -> bool:
        return path in self._kept

    async def of(self, path: str) -> tuple[bytes, ParseResult] | None:
        """The bytes of a file and what parsing them yields; None for what is not parsed."""
        check = parser_for(path)
        if check is None:
            return None
        try:
            data = self._workspace.read(path, MAX_PARSED_SIZE + 1)
        except ToolError:
            return None
        if len(data) > MAX_PARSED_SIZE:
            return None
        same = hash(data)
        with self._lock:
            cached = self._kept.get(path)
            if cached is not None and cached[0] == same:
                self._kept.move_to_end(path)
                return data, cached[1]
        parsed = await parse(check, data)
        with self._lock:
            self._kept[path] = (same, parsed)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return data, parsed

    def changed(self, path: str | None) -> None:
        """Drop the tree of a file; all of them when nobody knows which changed."""
        with self._lock:
            if path is None:
                self._kept.clear()
            else:
                self._kept.pop(path, None)


_EDITS = frozenset({"write_file", "edit_file"})


class SyntaxCheck:
    """A hook around the tools that write text."""

    def __init__(self, changes: ChangeJournal, trees: ParseCache) -> None:
        self._changes, self._trees = changes, trees

    def watches(self, tool: Tool) -> bool:
        return tool.id in _EDITS

    async def before(self, tool: Tool, values: Any, ctx: Context, /) -> Result | None:
        return None

    async def after(self, tool: Tool, values: Any, ctx: Context, result: Result, /) -> Result:
        if not result.success or parser_for(values.path) is None:
            return result
        path = self._changes.workspace.relative(values.path)
        parsed = await self._trees.of(path)
        if parsed is None or parsed[1].problem is None:
            return result
        data, problem = parsed[0], parsed[1].problem
        where = f"line {problem.line}, column {problem.column}"
        warning = f"{path} may not parse: {where}: {problem.text}: `{line_of(data, problem)}`."
        earlier = await self._earlier(ctx, path)
        if earlier is not None:
            warning += f" It did not parse before this change either (line {earlier.line}: {earlier.text})."
        else:
            warning += " The change was made; repair it with another edit, or undo it with undo_file."
        return replace(result.with_metadata(warning=warning), output=f"{result.text()}\nWarning: {warning}")

    async def _earlier(self, ctx: Context, path: str) -> SyntaxProblem | None:
        """What was wrong with the file before this call changed it."""
        before = self._changes.before(ctx.tenant_id, ctx.session_id, ctx.call_id, path)
        check = parser_for(path)
        if before is None or check is None or len(before) > MAX_PARSED_SIZE:
            return None
        return (await parse(check, before)).problem
