"""search_files: files by parts of their names."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, tool
from handrail.ext import Signal, ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.search import showing
from handrail.toolsets.workspace.search.finding import Finder, looked_at, place
from handrail.toolsets.workspace.search.names import best
from handrail.toolsets.workspace.search.query import Where


class NamedFiles(BaseModel):
    """Paths that fit, the best first, and how many fit at all."""

    paths: list[str]
    total: int


def search_files(workspace: Workspace, finder: Finder | None = None) -> Tool:
    finder = finder or Finder.of(workspace)

    @tool(
        "search_files",
        level="read",
        capabilities=["read"],
        concurrency="parallel",
        reads=lambda args: looked_at(workspace, args.path),
        category="workspace",
        icon="file-search",
        origin="system",
        output=NamedFiles,
    )
    def search_files(
        query: Annotated[
            str,
            Field(
                description="Parts of the name or path, such as `user contr`", min_length=1, max_length=200
            ),
        ],
        path: Annotated[str, Field(description="The folder to look below")] = ".",
        limit: Annotated[int, Field(description="How many files to show at most", ge=1, le=200)] = 20,
        include_ignored: Annotated[
            bool, Field(description="Whether to show files that .gitignore names too")
        ] = False,
        *,
        ctx: Context,
    ) -> Result:
        where = place(workspace, path, include_ignored=include_ignored)
        if where.is_file:
            raise ToolError(f"{path} is a file, not a folder.", code="NOT_A_FOLDER")
        if not query.strip(" /\t"):
            raise ToolError("The query is empty. Give parts of a name or path.", code="INVALID_PATTERN")
        return _result(finder, where, query, limit, ctx.signal)

    return search_files


def _result(finder: Finder, where: Where, query: str, limit: int, signal: Signal) -> Result:
    found, total = best(query, finder.files(where, signal), limit)
    there = {path for path, _ in finder.stats(sorted(found), signal)}
    paths = [showing.name(path) for path in found if path in there]
    lines = list(paths)
    if total > len(paths):
        lines.append(f"[{len(paths):,} of {showing.several(total, 'file')} shown, the best first.]")
    if not paths:
        lines.append("No path has these letters in this order. Try fewer or shorter parts.")
    summary = f"Found {showing.several(total, 'file')}"
    return Result(data=NamedFiles(paths=paths, total=total), summary=summary, output="\n".join(lines))
