"""list_files: what a folder has."""

from __future__ import annotations

import stat
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.ext.tools import Signal
from handrail.toolsets.workspace.search import display
from handrail.toolsets.workspace.search.finder import search_scope, search_tool
from handrail.toolsets.workspace.search.query import SearchScope
from handrail.toolsets.workspace.search.walk import MAX_DEPTH, WalkEntry, walk
from handrail.toolsets.workspace.workspace import Workspace

_MAX_COUNTED = 200_000


class Listed(BaseModel):
    """Something in a folder."""

    path: str
    kind: Literal["file", "folder", "link", "other"]
    bytes: int | None = None


class FolderListing(BaseModel):
    """What a folder has, and how much of it is left out here."""

    entries: list[Listed]
    left_out: int


def list_files(workspace: Workspace) -> Tool:
    @tool(
        "list_files",
        **search_tool(workspace),
        aliases=["list"],
        icon="folder-tree",
        output=FolderListing,
    )
    def list_files(
        path: Annotated[str, Field(description="The folder")] = ".",
        glob: Annotated[
            str | None,
            Field(description="Only files whose path in the folder fits, such as *.py or **/test_*.py"),
        ] = None,
        depth: Annotated[
            int,
            Field(
                description="How many levels of folders to show; a glob with slashes goes deeper", ge=1, le=20
            ),
        ] = 1,
        limit: Annotated[int, Field(description="How many entries to show at most", ge=1, le=2000)] = 200,
        include_ignored: Annotated[
            bool, Field(description="Whether to show what .gitignore names too")
        ] = False,
        *,
        ctx: Context,
    ) -> Result:
        scope = search_scope(workspace, path, glob, include_ignored=include_ignored)
        if scope.is_file:
            raise ToolError(
                f"{path} is a file, not a folder. Read it with read_file, or ask get_file_info about it.",
                code="NOT_A_FOLDER",
            )
        deepest = max(depth, MAX_DEPTH if glob and "/" in glob.lstrip("/") else 1)
        return _result(workspace, scope, deepest, limit, ctx.signal)

    return list_files


def _result(workspace: Workspace, scope: SearchScope, deepest: int, limit: int, signal: Signal) -> Result:
    entries: list[Listed] = []
    total = 0
    for entry in walk(workspace, scope.start, signal, include_ignored=scope.include_ignored, deepest=deepest):
        if scope.pattern is not None and (entry.is_folder or not scope.includes(entry.path)):
            continue
        total += 1
        if len(entries) < limit:
            entries.append(_listed(entry))
        elif total >= _MAX_COUNTED:
            break
    more = total - len(entries)
    shown = [_line(entry) for entry in entries]
    counted = f"{total:,}{'+' if total >= _MAX_COUNTED else ''}"
    if more:
        remedy = "Name a folder below, give a glob, or raise the limit"
        shown.append(f"[{len(entries):,} of {counted} entries shown, {more:,} left out. {remedy}.]")
    if not shown:
        shown.append("No file fits." if scope.pattern is not None else "The folder is empty.")
    folder = "the workspace" if scope.start == "." else display.path_text(scope.start)
    summary = f"{display.plural(total, 'entry').replace('entrys', 'entries')} in {folder}"
    return Result(
        data=FolderListing(entries=entries, left_out=more), summary=summary, output="\n".join(shown)
    )


def _listed(entry: WalkEntry) -> Listed:
    path = display.path_text(entry.path)
    if entry.is_file:
        return Listed(path=path, kind="file", bytes=entry.size)
    if entry.is_folder:
        return Listed(path=path, kind="folder")
    return Listed(path=path, kind="link" if stat.S_ISLNK(entry.mode) else "other")


def _line(entry: Listed) -> str:
    if entry.kind == "file":
        return f"{entry.path} ({display.size_text(entry.bytes or 0)})"
    return f"{entry.path}/" if entry.kind == "folder" else f"{entry.path} ({entry.kind})"
