"""file_delete: take one file away, so that undo can bring it back."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.toolsets.workspace.file_content import decode_leniently
from handrail.toolsets.workspace.files.diff import Diff, diff
from handrail.toolsets.workspace.files.not_found import not_found
from handrail.toolsets.workspace.files.save import (
    MAX_TEXT_SIZE,
    FileChange,
    FileSnapshot,
    delete,
    read_for_change,
)
from handrail.toolsets.workspace.workspace import Workspace, file_writer


def file_delete(workspace: Workspace) -> Tool:
    @tool(
        "file_delete",
        **{**file_writer(workspace), "level": "destructive"},
        preview=lambda args, ctx: _deletion_diff(*_file_to_delete(workspace, args.path)).text,
        icon="file-x",
        output=FileChange,
    )
    def file_delete(
        path: Annotated[str, Field(description="The file, relative to the root of the workspace")],
        *,
        ctx: Context,
    ) -> Result:
        with workspace.lock_path(path):
            name, before = _file_to_delete(workspace, path)
            delete(workspace, ctx, name, before)
        summary = f"Deleted {name} ({len(before.data)} bytes)"
        change = _deletion_diff(name, before)
        return Result(
            data=FileChange(path=name, operation="deleted", size=0, removed=change.removed, diff=change.text),
            summary=summary,
            output=f"{summary}. undo_file brings it back.",
        )

    return file_delete


def _file_to_delete(workspace: Workspace, path: str) -> tuple[str, FileSnapshot]:
    name, before = read_for_change(workspace, path)
    if before is None:
        raise not_found(workspace, path, "Nothing was deleted.")
    if workspace.resolver.link_at(path) is not None:
        raise ToolError(
            f"{path} is a link to {name}. Nothing was deleted. "
            f"Give {name} to delete that file; the link itself is removed by bash with rm.",
            code="NOT_A_FILE",
        )
    return name, before


def _deletion_diff(name: str, before: FileSnapshot) -> Diff:
    text = decode_leniently(before.data) if len(before.data) <= MAX_TEXT_SIZE else None
    return diff(text or "", "", name)
