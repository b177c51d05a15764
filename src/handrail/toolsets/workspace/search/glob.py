"""glob: files whose paths fit a pattern."""

from __future__ import annotations

from datetime import UTC, datetime
from heapq import nlargest, nsmallest
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.ext.tools import Signal
from handrail.toolsets.workspace.search import display
from handrail.toolsets.workspace.search.finder import Finder, search_scope, search_tool
from handrail.toolsets.workspace.search.query import SearchScope
from handrail.toolsets.workspace.workspace import Workspace


class FoundFile(BaseModel):
    """A file that fits."""

    path: str
    bytes: int
    modified: datetime


class FoundFiles(BaseModel):
    """The files that fit, and how many there are altogether."""

    files: list[FoundFile]
    total: int


def glob(workspace: Workspace, finder: Finder | None = None) -> Tool:
    finder = finder or Finder.of(workspace)

    @tool("glob", **search_tool(workspace), icon="folder-search", output=FoundFiles)
    def glob(
        pattern: Annotated[
            str,
            Field(description="Such as *.py, src/**/*.ts or docs/*.{md,txt}", min_length=1, max_length=1000),
        ],
        path: Annotated[str, Field(description="The folder to look below")] = ".",
        sort: Annotated[
            Literal["name", "modified"], Field(description="By their paths, or those changed last first")
        ] = "name",
        limit: Annotated[int, Field(description="How many files to show at most", ge=1, le=2000)] = 100,
        include_ignored: Annotated[
            bool, Field(description="Whether to show files that .gitignore names too")
        ] = False,
        *,
        ctx: Context,
    ) -> Result:
        scope = search_scope(workspace, path, pattern, include_ignored=include_ignored)
        if scope.is_file:
            raise ToolError(f"{path} is a file, not a folder.", code="NOT_A_FOLDER")
        return _result(finder, scope, sort == "modified", limit, ctx.signal)

    return glob


def _result(finder: Finder, scope: SearchScope, newest_first: bool, limit: int, signal: Signal) -> Result:
    paths = finder.files(scope, signal)
    if newest_first:
        newest = [(stat.st_mtime_ns, path, stat) for path, stat in finder.stats(paths, signal)]
        total = len(newest)
        shown = [(path, stat) for _, path, stat in nlargest(limit, newest)]
    else:
        total = len(paths)
        shown = sorted(finder.stats(nsmallest(limit, paths), signal))
    files = [
        FoundFile(
            path=display.path_text(path),
            bytes=stat.st_size,
            modified=datetime.fromtimestamp(stat.st_mtime, UTC),
        )
        for path, stat in shown
    ]
    lines = [file.path for file in files]
    if total > len(files):
        lines.append(
            f"[{len(files):,} of {display.plural(total, 'file')} shown. Narrow the pattern or the path.]"
        )
    if not files:
        lines.append("No file fits.")
        if not scope.include_ignored:
            lines.append("Files that .gitignore names were left out: include_ignored=true shows them too.")
    summary = f"Found {display.plural(total, 'file')}"
    return Result(data=FoundFiles(files=files, total=total), summary=summary, output="\n".join(lines))
