"""Saving: a file as it was read, and the new bytes that take its place, kept by the journal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from stat import S_IMODE

from pydantic import BaseModel

from handrail import Context
from handrail.ext import ToolError
from handrail.toolsets.workspace.atomic import Stamp, stamp_of
from handrail.toolsets.workspace.change import LARGEST_KEPT, Change, Operation
from handrail.toolsets.workspace.desk import Workspace

LARGEST_TEXT = 10_000_000
"""Bytes of a file that is written or edited."""


@dataclass(frozen=True, slots=True)
class Held:
    """The bytes of a file, and what tells whether it is still the same."""

    data: bytes
    stamp: Stamp
    mode: int


class FileChange(BaseModel):
    """What was done to a file."""

    path: str
    operation: str
    """`created`, `written`, `edited`, `deleted` or `unchanged`."""
    size: int
    """Bytes it has now."""
    added: int = 0
    removed: int = 0
    diff: str = ""


def taken(workspace: Workspace, path: str, most: int = LARGEST_KEPT) -> tuple[str, Held | None]:
    """The way from the root to a file without links, and the file as it is now; None when there is none."""
    try:
        name, found, data = workspace.taken(path, most)
    except ToolError as error:
        if error.code != "FILE_NOT_FOUND":
            raise
        if path.endswith("/"):
            raise ToolError(f"{path} names a folder. Give the path of a file.", code="NOT_A_FILE") from None
        return settled(workspace, path), None
    return name, Held(data, stamp_of(found), S_IMODE(found.st_mode))


def save(
    workspace: Workspace, ctx: Context, path: str, operation: Operation, before: Held | None, after: bytes
) -> None:
    """Put the new bytes in place of those that were read, if these are still there."""
    if before is not None and before.data == after:
        return
    if len(after) > LARGEST_TEXT:
        raise ToolError(
            f"The file would have {len(after)} bytes; more than {LARGEST_TEXT} are not written.",
            code="TOO_LARGE",
        )
    change = _change(workspace, ctx, path, "create" if before is None else operation, before, after)
    number = workspace.journal.record(change)
    try:
        workspace.write(path, after, expected=None if before is None else before.stamp)
    except (ToolError, OSError):
        workspace.journal.dropped(number)
        raise
    workspace.journal.done(number)


def delete(workspace: Workspace, ctx: Context, path: str, before: Held) -> None:
    """Take away the file that was read, if it is still there."""
    number = workspace.journal.record(_change(workspace, ctx, path, "delete", before, None))
    try:
        workspace.remove(path, expected=before.stamp)
    except (ToolError, OSError):
        workspace.journal.dropped(number)
        raise
    workspace.journal.done(number)


def _change(
    workspace: Workspace,
    ctx: Context,
    path: str,
    operation: Operation,
    before: Held | None,
    after: bytes | None,
) -> Change:
    if before is not None:
        return Change.of(ctx, path, operation, before.data, after, before.mode)
    return replace(Change.of(ctx, path, operation, None, after, None), made_folders=workspace.missing(path))


def settled(workspace: Workspace, path: str) -> str:
    """The way from the root without links, for a file that may be missing, and its folders with it."""
    try:
        return workspace.relative(path)
    except ToolError as error:
        folder, _, name = path.rstrip("/").rpartition("/")
        if error.code != "FILE_NOT_FOUND" or not folder or name in ("..", "."):
            raise
        return f"{settled(workspace, folder)}/{name}"
