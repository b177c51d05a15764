"""file_delete: take one file away, so that undo can bring it back."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.ext import ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.files.diff import Diff, diff
from handrail.toolsets.workspace.files.missing import not_found
from handrail.toolsets.workspace.files.saving import LARGEST_TEXT, FileChange, Held, delete, taken
from handrail.toolsets.workspace.text import readable


def file_delete(workspace: Workspace) -> Tool:
    @tool(
        "file_delete",
        level="destructive",
        capabilities=["write"],
        param_aliases={"path": ("file_path", "filePath", "file", "filename")},
        concurrency="by_path",
        writes=lambda args: workspace.key(args.path),
        preview=lambda args, ctx: _gone(*_found(workspace, args.path)).text,
        category="workspace",
        icon="file-x",
        origin="system",
        output=FileChange,
    )
    def file_delete(
        path: Annotated[str, Field(description="The file, relative to the root of the workspace")],
        *,
        ctx: Context,
    ) -> Result:
        with workspace.turn(path):
            name, before = _found(workspace, path)
            delete(workspace, ctx, name, before)
        summary = f"Deleted {name} ({len(before.data)} bytes)"
        change = _gone(name, before)
        return Result(
            data=FileChange(path=name, operation="deleted", size=0, removed=change.removed, diff=change.text),
            summary=summary,
            output=f"{summary}. undo_file brings it back.",
        )

    return file_delete


def _found(workspace: Workspace, path: str) -> tuple[str, Held]:
    name, before = taken(workspace, path)
    if before is None:
        raise not_found(workspace, path, "Nothing was deleted.")
    if workspace.beneath.link_at(path) is not None:
        raise ToolError(
            f"{path} is a link to {name}. Nothing was deleted. "
            f"Give {name} to delete that file; the link itself is removed by bash with rm.",
            code="NOT_A_FILE",
        )
    return name, before


def _gone(name: str, before: Held) -> Diff:
    text = readable(before.data) if len(before.data) <= LARGEST_TEXT else None
    return diff(text or "", "", name)
