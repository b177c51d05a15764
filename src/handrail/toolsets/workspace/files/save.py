"""Save: new bytes in place of what was read, kept by the journal; small edits from the event loop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from stat import S_IMODE
from typing import NamedTuple

from pydantic import BaseModel

from handrail import Context, Result, ToolError
from handrail.toolsets.workspace.atomic_write import FileStamp, stamp_of
from handrail.toolsets.workspace.disk_threads import DiskTask
from handrail.toolsets.workspace.locks import WouldBlock
from handrail.toolsets.workspace.workspace import (
    MAX_RECORDED_SIZE,
    Journal,
    JournalEntry,
    Operation,
    Workspace,
)

MAX_TEXT_SIZE = 10_000_000
"""Bytes of a file that is written or edited."""


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """The bytes of a file, and what tells whether it is still the same."""

    data: bytes
    stamp: FileStamp
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


def read_for_change(
    workspace: Workspace, path: str, most: int = MAX_RECORDED_SIZE
) -> tuple[str, FileSnapshot | None]:
    """The way from the root to a file without links, and the file as it is now; None when there is none."""
    try:
        name, file_stat, data = workspace.read_for_change(path, most)
    except ToolError as error:
        if error.code != "FILE_NOT_FOUND":
            raise
        if path.endswith("/"):
            raise ToolError(f"{path} names a folder. Give the path of a file.", code="NOT_A_FILE") from None
        return resolve_missing(workspace, path), None
    return name, FileSnapshot(data, stamp_of(file_stat), S_IMODE(file_stat.st_mode))


def save(
    workspace: Workspace,
    ctx: Context,
    path: str,
    operation: Operation,
    before: FileSnapshot | None,
    after: bytes,
) -> None:
    """Put the new bytes in place of those that were read, if these are still there."""
    if before is not None and before.data == after:
        return
    if len(after) > MAX_TEXT_SIZE:
        raise ToolError(
            f"The file would have {len(after)} bytes; more than {MAX_TEXT_SIZE} are not written.",
            code="TOO_LARGE",
        )
    if before is None:
        change = JournalEntry.of(ctx, path, "create", None, after, None)
        change = replace(change, made_folders=workspace.missing_folders(path))
    else:
        change = JournalEntry.of(ctx, path, operation, before.data, after, before.mode)
    with _journaled(workspace.journal, change):
        workspace.write(path, after, expected=None if before is None else before.stamp)


def delete(workspace: Workspace, ctx: Context, path: str, before: FileSnapshot) -> None:
    """Take away the file that was read, if it is still there."""
    change = JournalEntry.of(ctx, path, "delete", before.data, None, before.mode)
    with _journaled(workspace.journal, change):
        workspace.remove(path, expected=before.stamp)


@contextmanager
def _journaled(journal: Journal, change: JournalEntry) -> Iterator[None]:
    """The journal keeps a change before it happens, and is told afterwards whether it has."""
    number = journal.record(change)
    try:
        yield
    except (ToolError, OSError):
        journal.dropped(number)
        raise
    journal.done(number)


def resolve_missing(workspace: Workspace, path: str) -> str:
    """The way from the root without links, for a file that may be missing, and its folders with it."""
    try:
        return workspace.relative(path)
    except ToolError as error:
        folder, _, name = path.rstrip("/").rpartition("/")
        if error.code != "FILE_NOT_FOUND" or not folder or name in ("..", "."):
            raise
        return f"{resolve_missing(workspace, folder)}/{name}"


_MAX_LOOP_SIZE = 128 * 1024
"""Bytes of a file that is read here."""


class PlannedEdit(NamedTuple):
    """What a file shall hold, and what makes the result of it."""

    after: bytes
    make_result: Callable[[], Result]


async def edit_in_loop(
    workspace: Workspace,
    ctx: Context,
    path: str,
    operation: Operation,
    plan: Callable[[str, bytes], PlannedEdit | None],
) -> Result | None:
    """Change a file that is there; None where that was not to be had without waiting.

    `plan` gets the way to the file without links, and its bytes; None says that it would take long.
    """
    began = time.monotonic()
    if workspace.disk.is_slow:
        return None
    try:
        with workspace.target(path) as target, workspace.try_lock(target):
            file_stat, before = target.read(_MAX_LOOP_SIZE)
            planned = plan(target.name, before)
            if planned is None or planned.after == before:
                return None
            with target.draft_for(planned.after, file_stat) as draft:
                task = workspace.disk.start(partial(target.publish, draft, stamp_of(file_stat)))
                try:
                    mode = S_IMODE(file_stat.st_mode)
                    change = JournalEntry.of(ctx, target.name, operation, before, planned.after, mode)
                    number = workspace.journal.record(change, wait=False)
                    workspace.disk.record_delay(time.monotonic() - began)
                    task.go()
                    try:
                        result = planned.make_result()
                    finally:
                        await _finish(task, workspace, number)
                finally:
                    task.cancel()
    except (WouldBlock, ToolError):
        return None
    workspace.notify_changed(target.name)
    return result


async def _finish(task: DiskTask, workspace: Workspace, number: int) -> None:
    """Wait for the end of what the journal keeps. If it did not happen, the journal is told at once."""
    journal = workspace.journal
    try:
        await task.wait()
    except BaseException:
        await workspace.disk.start(lambda word: journal.dropped(number)).wait()
        raise
    journal.done(number)
