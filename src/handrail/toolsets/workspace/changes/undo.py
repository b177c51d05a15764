"""Undo: files get back what they held. All is checked first; then each file is changed as a whole."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Context, Result
from handrail.ext import ToolError
from handrail.toolsets.workspace.atomic_write import FileStamp
from handrail.toolsets.workspace.changes import history
from handrail.toolsets.workspace.changes.history import (
    FOREIGN_CONTENT,
    ChangeRow,
    Reversal,
    UndoConflict,
    plan_reversals,
)
from handrail.toolsets.workspace.changes.journal import ChangeJournal, UndoStep, content_hash
from handrail.toolsets.workspace.file_content import byte_order_mark, is_binary
from handrail.toolsets.workspace.files.diff import diff
from handrail.toolsets.workspace.workspace import MAX_RECORDED_SIZE, JournalEntry, Workspace


@dataclass(frozen=True, slots=True)
class _CurrentFile:
    """A file as it is now."""

    stamp: FileStamp | None
    data: bytes | None
    mode: int | None
    ours: bool = True
    """False when there is something that our tools would not have left."""


@dataclass(frozen=True, slots=True)
class ReadyReversal:
    """A reversal with the contents at hand."""

    reversal: Reversal
    found: _CurrentFile
    then: bytes | None

    @property
    def path(self) -> str:
        return self.reversal.path

    @property
    def now(self) -> bytes | None:
        return self.found.data


def prepare_undo(changes: ChangeJournal, steps: Sequence[ChangeRow]) -> list[ReadyReversal]:
    """What undoing these steps does to each file. Refuses when somebody else changed one of them."""
    seen: dict[str, _CurrentFile] = {}

    def now(path: str) -> bytes | None:
        seen[path] = _current_file(changes.workspace, path)
        return content_hash(seen[path].data) if seen[path].ours else FOREIGN_CONTENT

    files, clashes = plan_reversals(steps, now)
    if clashes:
        raise _conflict_error(changes, clashes, {one.path: one.now for one in files})
    for one in files:
        changes.workspace.check_change(one.path)
    return [ReadyReversal(one, seen[one.path], _stored_content(changes, one)) for one in files]


def apply_undo(changes: ChangeJournal, ready: Sequence[ReadyReversal], ctx: Context) -> None:
    """Do it for all files or for none, and keep that it was done, so that this can be undone as well."""
    workspace = changes.workspace
    whose = JournalEntry.of(ctx, "", "write", None, None, None)
    numbers = changes.begin(whose, [(one.now, _undo_steps(workspace, one)) for one in ready])
    put = 0
    try:
        for one in ready:
            _restore(workspace, one)
            put += 1
    except BaseException as error:
        left = [_roll_back(workspace, one) for one in ready[:put]] + [True] * (len(ready) - put)
        for steps, is_as_before in zip(numbers, left, strict=True):
            if is_as_before:
                changes.dropped(*steps)
            else:
                changes.all_done(steps)
        if isinstance(error, ToolError):
            undone = [one.path for one, is_as_before in zip(ready, left, strict=True) if not is_as_before]
            raise _partial_error(error, ready[put].path, undone) from error
        raise
    for step in (step for one in ready if one.then is None for step in one.reversal.steps):
        _remove_created_folders(workspace, step)
    changes.all_done(number for steps in numbers for number in steps)


def _current_file(workspace: Workspace, path: str) -> _CurrentFile:
    try:
        if workspace.relative(path) != path:  # a link stands in the way, perhaps to nothing
            return _CurrentFile(None, None, None, ours=False)
        found = workspace.stat(path)
        if found is None:
            return _CurrentFile(None, None, None)
        if found.st_size > MAX_RECORDED_SIZE:  # these tools leave none that is so large
            return _CurrentFile(None, None, None, ours=False)
        stamp = workspace.stamp(path)
        return _CurrentFile(stamp, workspace.read(path), stat.S_IMODE(found.st_mode))
    except ToolError as error:
        if error.code == "FILE_NOT_FOUND":
            return _CurrentFile(None, None, None)
        return _CurrentFile(None, None, None, ours=False)


def _stored_content(changes: ChangeJournal, one: Reversal) -> bytes | None:
    if one.then is None:
        return None
    data = changes.content(one.then)
    if data is None:
        raise ToolError(
            f"What {one.path} held before is no longer kept: it was too large, or too long ago. "
            "Nothing was undone.",
            code="NOT_KEPT",
        )
    return data


def _undo_steps(workspace: Workspace, one: ReadyReversal) -> list[UndoStep]:
    """A row for each step; between them the file is what it was between the changes."""
    made = workspace.missing_folders(one.path) if one.now is None else ()
    mode, found = one.found.mode, []
    for step in one.reversal.steps:
        word = "redo" if step.operation == "undo" else "undo"
        found.append(UndoStep(step.of, word, one.path, step.after, step.before, mode, made))
        made = ()
        if step.after is None or step.before is None:
            mode = step.mode
    return found


def _restore(workspace: Workspace, one: ReadyReversal) -> None:
    if one.then is not None:
        workspace.write(one.path, one.then, expected=one.found.stamp, mode=one.reversal.mode)
    elif one.now is not None:
        workspace.remove(one.path, expected=one.found.stamp)


def _roll_back(workspace: Workspace, one: ReadyReversal) -> bool:
    """Give a file back what it held before this undo; False where somebody else was faster."""
    found = _current_file(workspace, one.path)
    if not found.ours or found.data != one.then:
        return False
    try:
        if one.now is not None:
            workspace.write(one.path, one.now, expected=found.stamp, mode=one.found.mode)
        elif one.then is not None:
            workspace.remove(one.path, expected=found.stamp)
    except ToolError:
        return False
    return True


def _remove_created_folders(workspace: Workspace, step: ChangeRow) -> None:
    """Remove the folders that were made for a file, if they are still those, and nothing is in them."""
    with suppress(ToolError):
        for name, *known in reversed(json.loads(step.folders or "[]")):
            found = workspace.stat(name)
            if found is None or known != [found.st_dev, found.st_ino]:
                return
            with workspace.resolver.resolved(name) as resolved:
                if "/".join(resolved.parts) == name:
                    os.rmdir(resolved.name, dir_fd=resolved.folder)


def _conflict_error(
    changes: ChangeJournal, clashes: Sequence[UndoConflict], now: Mapping[str, bytes | None]
) -> ToolError:
    """What stands in the way of an undo: later changes of these tools, or something else."""
    ours = [last for one in clashes if (last := _later_change(changes, one, now[one.path])) is not None]
    names = ", ".join(one.path for one in clashes)
    which = "it" if len(clashes) == 1 else "them"
    later = ", ".join(f"{one.path} in {_turn_or_call(one)}" for one in ours)
    if len(ours) == len(clashes):
        said = f"changed again since by these tools: {later}. Undo that first. Nothing was undone."
    else:
        said = (
            f"changed by something else since these tools changed {which} (a shell command, an editor, "
            "another agent). Undoing would lose that, so nothing was undone. Look at what is there now, and "
            "change that instead." + (f" These tools themselves changed {later}." if ours else "")
        )
    return ToolError(f"{names}: {said}", code="CHANGED_ELSEWHERE")


def _later_change(changes: ChangeJournal, clash: UndoConflict, now: bytes | None) -> ChangeRow | None:
    """The change of these tools that left a file as it is now."""
    found = changes.query(partial(history.undoable, tenant=clash.step.tenant, path=clash.path, most=1))
    return next((one for one in found if one.after == now), None)


def _turn_or_call(one: ChangeRow) -> str:
    return f"call {one.call_id}" if one.turn is None else f"turn {one.turn}"


def _partial_error(error: ToolError, path: str, undone: Sequence[str]) -> ToolError:
    """What stands in the way was not there when all was checked."""
    left = f"Undone all the same: {', '.join(undone)}. The rest was not." if undone else "Nothing was undone."
    where = "" if path in str(error) else f"{path}: "
    return ToolError(f"{where}{error} {left}", code=error.code)


class UndoneFile(BaseModel):
    """One file of an undo."""

    path: str
    action: Annotated[str, Field(description="changed back, restored or removed")]
    changes: Annotated[int, Field(description="How many changes were undone")]
    diff: str


class UndoResult(BaseModel):
    """What was undone, or would be."""

    preview: bool
    files: list[UndoneFile]


def undo_result(ready: list[ReadyReversal], *, preview: bool, redo: bool, what: str) -> Result:
    """The result of an undo of these files."""
    files = [
        UndoneFile(
            path=one.path,
            action=one.reversal.action,
            changes=len(one.reversal.steps),
            diff=undo_diff(one.path, one.now, one.then),
        )
        for one in ready
    ]
    verb = "bring back" if redo else "undo"
    past = "Brought back" if redo else "Undid"
    named = ", ".join(f"{one.path} ({one.action})" for one in files[:5])
    named += f" and {len(files) - 5} more" if len(files) > 5 else ""
    head = (
        f"This would {verb} {what}: {named}. Nothing was changed." if preview else f"{past} {what}: {named}"
    )
    return Result(
        data=UndoResult(preview=preview, files=files),
        summary=head if preview else f"{head}.",
        output="\n".join([head, *(one.diff for one in files)]),
        metadata={"paths": [one.path for one in files]},
    )


def undo_diff(path: str, now: bytes | None, then: bytes | None) -> str:
    """How a file differs from what it will be."""
    if any(is_binary(data) for data in (now, then) if data is not None):
        return f"{path}: binary, {_size_text(now)} to {_size_text(then)}"
    return diff(_lenient_text(now), _lenient_text(then), path).text


def _lenient_text(data: bytes | None) -> str:
    marked = byte_order_mark(data or b"")
    return (data or b"").decode("utf-8" if marked is None else marked[1], "replace")


def _size_text(data: bytes | None) -> str:
    return "no file" if data is None else f"{len(data)} bytes"
