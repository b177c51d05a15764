"""undo_file: one file as it was before its last change."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.ext import ToolError
from handrail.toolsets.workspace.changes import history
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.changes.undo import UndoResult, apply_undo, prepare_undo, undo_result
from handrail.toolsets.workspace.files.save import resolve_missing


def undo_file(changes: ChangeJournal) -> Tool:
    workspace = changes.workspace

    @tool(
        "undo_file",
        level="write",
        level_fn=lambda args: "read" if args.preview else "write",
        danger="moderate",
        danger_fn=lambda args: "safe" if args.preview else "moderate",
        capabilities=["read", "write"],
        concurrency="sequential",
        reads=lambda args: workspace.key(args.path) if args.preview else (),
        writes=lambda args: () if args.preview else workspace.key(args.path),
        preview=lambda args, ctx: act(args.path, args.steps, args.redo, ctx, preview=True).output,
        category="workspace",
        icon="undo-2",
        origin="system",
        output=UndoResult,
    )
    def undo_file(
        path: Annotated[str, Field(description="The file, relative to the workspace")],
        preview: Annotated[bool, Field(description="Only show what would happen")] = False,
        steps: Annotated[int, Field(description="How many changes to undo", ge=1, le=100)] = 1,
        redo: Annotated[bool, Field(description="Bring back what the last undo of this file took")] = False,
        *,
        ctx: Context,
    ) -> Result:
        return act(path, steps, redo, ctx, preview=preview)

    def act(path: str, steps: int, redo: bool, ctx: Context, *, preview: bool) -> Result:
        name = resolve_missing(workspace, path)
        find = history.redoable if redo else history.undoable
        found = changes.query(lambda db: find(db, ctx.tenant_id, name, steps))
        if not found and redo:
            raise _nothing_to_redo(name)
        if not found:
            again = bool(changes.query(lambda db: history.redoable(db, ctx.tenant_id, name, 1)))
            raise _nothing_to_undo(name, again)
        ready = prepare_undo(changes, found)
        if not preview:
            apply_undo(changes, ready, ctx)
        count = "the last change" if len(found) == 1 else f"{len(found)} changes"
        return undo_result(ready, preview=preview, redo=redo, what=count)

    return undo_file


def _nothing_to_redo(path: str) -> ToolError:
    return ToolError(
        f"There is no undo of {path} to take back: none was made, or the file was changed since.",
        code="NOTHING_TO_REDO",
    )


def _nothing_to_undo(path: str, again: bool) -> ToolError:
    """`again`: whether there is an undo that can be taken back."""
    return ToolError(
        f"There is no change of {path} to undo. Only what write_file, edit_file and file_delete did is kept; "
        "what bash or other programs changed cannot be undone here."
        + (" Use redo=true to bring an undo back." if again else ""),
        code="NOTHING_TO_UNDO",
    )
