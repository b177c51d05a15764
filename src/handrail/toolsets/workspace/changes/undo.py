"""Undo: files get back what they held; undo_file and undo_turn.

All is checked first; then each file is changed as a whole.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, Field

from handrail import Context, Result, Tool, ToolError, tool
from handrail.toolsets.workspace.atomic_write import FileStamp
from handrail.toolsets.workspace.changes import history
from handrail.toolsets.workspace.changes.history import (
    FOREIGN_CONTENT,
    ChangeRow,
    ChangeTurn,
    Reversal,
    plan_reversals,
)
from handrail.toolsets.workspace.changes.journal import ChangeJournal, ChangeStep, content_hash
from handrail.toolsets.workspace.file_content import byte_order_mark, is_binary
from handrail.toolsets.workspace.files.diff import diff
from handrail.toolsets.workspace.files.save import resolve_missing
from handrail.toolsets.workspace.workspace import MAX_RECORDED_SIZE, JournalEntry, Workspace


@dataclass(frozen=True, slots=True)
class _CurrentFile:
    """A file as it is now."""

    stamp: FileStamp | None = None
    data: bytes | None = None
    mode: int | None = None
    ours: bool = True
    """False when there is something that our tools would not have left."""


@dataclass(frozen=True, slots=True)
class ReadyReversal:
    """A reversal with the contents at hand."""

    reversal: Reversal
    current: _CurrentFile
    then: bytes | None

    @property
    def path(self) -> str:
        return self.reversal.path

    @property
    def now(self) -> bytes | None:
        return self.current.data


def prepare_undo(changes: ChangeJournal, steps: Sequence[ChangeRow]) -> list[ReadyReversal]:
    """What undoing these steps does to each file. Refuses when somebody else changed one of them."""
    seen: dict[str, _CurrentFile] = {}

    def now(path: str) -> bytes | None:
        seen[path] = _current_file(changes.workspace, path)
        return content_hash(seen[path].data) if seen[path].ours else FOREIGN_CONTENT

    files, clashes = plan_reversals(steps, now)
    if clashes:
        raise _conflict_error(changes, clashes, {reversal.path: reversal.now for reversal in files})
    for reversal in files:
        changes.workspace.check_change(reversal.path)
    return [
        ReadyReversal(reversal, seen[reversal.path], _stored_content(changes, reversal)) for reversal in files
    ]


def apply_undo(changes: ChangeJournal, ready: Sequence[ReadyReversal], ctx: Context) -> None:
    """Do it for all files or for none, and keep that it was done, so that this can be undone as well."""
    workspace = changes.workspace
    whose = JournalEntry.of(ctx, "", "write", None, None, None)
    numbers = changes.begin(whose, [(reversal.now, _undo_steps(workspace, reversal)) for reversal in ready])
    put = 0
    try:
        for reversal in ready:
            _restore(workspace, reversal.path, reversal.then, reversal.current, reversal.reversal.mode)
            put += 1
    except BaseException as error:
        undone = [reversal.path for reversal in ready[:put] if not _roll_back(workspace, reversal)]
        for steps, reversal in zip(numbers, ready, strict=True):
            if reversal.path in undone:
                changes.all_done(steps)
            else:
                changes.dropped(*steps)
        if isinstance(error, ToolError):
            raise _partial_error(error, ready[put].path, undone) from error
        raise
    for step in (step for reversal in ready if reversal.then is None for step in reversal.reversal.steps):
        _remove_created_folders(workspace, step)
    changes.all_done(number for steps in numbers for number in steps)


def _current_file(workspace: Workspace, path: str) -> _CurrentFile:
    try:
        if workspace.relative(path) != path:  # a link stands in the way, perhaps to nothing
            return _CurrentFile(ours=False)
        file_stat = workspace.stat(path)
        if file_stat is None:
            return _CurrentFile()
        if file_stat.st_size > MAX_RECORDED_SIZE:  # these tools leave none that is so large
            return _CurrentFile(ours=False)
        stamp = workspace.stamp(path)
        return _CurrentFile(stamp, workspace.read(path), stat.S_IMODE(file_stat.st_mode))
    except ToolError as error:
        return _CurrentFile(ours=error.code == "FILE_NOT_FOUND")


def _stored_content(changes: ChangeJournal, reversal: Reversal) -> bytes | None:
    if reversal.then is None:
        return None
    data = changes.content(reversal.then)
    if data is None:
        raise ToolError(
            f"What {reversal.path} held before is no longer kept: it was too large, or too long ago. "
            "Nothing was undone.",
            code="NOT_KEPT",
        )
    return data


def _undo_steps(workspace: Workspace, ready: ReadyReversal) -> list[ChangeStep]:
    """A row for each step; between them the file is what it was between the changes."""
    folders = workspace.missing_folders(ready.path) if ready.now is None else ()
    mode, steps = ready.current.mode, []
    for step in ready.reversal.steps:
        word = "redo" if step.operation == "undo" else "undo"
        steps.append(ChangeStep(step.of, word, ready.path, step.after, step.before, mode, folders))
        folders = ()
        if step.after is None or step.before is None:
            mode = step.mode
    return steps


def _restore(
    workspace: Workspace, path: str, data: bytes | None, old: _CurrentFile, mode: int | None
) -> None:
    """Give a file this content in place of the old one; None takes it away."""
    if data is not None:
        workspace.write(path, data, expected=old.stamp, mode=mode)
    elif old.data is not None:
        workspace.remove(path, expected=old.stamp)


def _roll_back(workspace: Workspace, ready: ReadyReversal) -> bool:
    """Give a file back what it held before this undo; False where somebody else was faster."""
    current = _current_file(workspace, ready.path)
    if not current.ours or current.data != ready.then:
        return False
    try:
        _restore(workspace, ready.path, ready.now, current, ready.current.mode)
    except ToolError:
        return False
    return True


def _remove_created_folders(workspace: Workspace, step: ChangeRow) -> None:
    """Remove the folders that were made for a file, if they are still those, and nothing is in them."""
    with suppress(ToolError):
        for name, *identity in reversed(json.loads(step.folders or "[]")):
            file_stat = workspace.stat(name)
            if file_stat is None or identity != [file_stat.st_dev, file_stat.st_ino]:
                return
            with workspace.resolver.resolved(name) as resolved:
                if "/".join(resolved.parts) == name:
                    os.rmdir(resolved.name, dir_fd=resolved.folder)


def _conflict_error(
    changes: ChangeJournal, clashes: Sequence[ChangeRow], now: Mapping[str, bytes | None]
) -> ToolError:
    """What stands in the way of an undo: later changes of these tools, or something else."""
    ours = [last for clash in clashes if (last := _later_change(changes, clash, now[clash.path])) is not None]
    names = ", ".join(clash.path for clash in clashes)
    which = "it" if len(clashes) == 1 else "them"
    later = ", ".join(f"{row.path} in {_turn_or_call(row)}" for row in ours)
    if len(ours) == len(clashes):
        reason = f"changed again since by these tools: {later}. Undo that first. Nothing was undone."
    else:
        reason = (
            f"changed by something else since these tools changed {which} (a shell command, an editor, "
            "another agent). Undoing would lose that, so nothing was undone. Look at what is there now, and "
            "change that instead." + (f" These tools themselves changed {later}." if ours else "")
        )
    return ToolError(f"{names}: {reason}", code="CHANGED_ELSEWHERE")


def _later_change(changes: ChangeJournal, clash: ChangeRow, now: bytes | None) -> ChangeRow | None:
    """The change of these tools that left a file as it is now."""
    rows = changes.query(partial(history.undoable, tenant=clash.tenant, path=clash.path, most=1))
    return next((row for row in rows if row.after == now), None)


def _turn_or_call(row: ChangeRow) -> str:
    return f"call {row.call_id}" if row.turn is None else f"turn {row.turn}"


def _partial_error(error: ToolError, path: str, undone: Sequence[str]) -> ToolError:
    """What stands in the way was not there when all was checked."""
    outcome = (
        f"Undone all the same: {', '.join(undone)}. The rest was not." if undone else "Nothing was undone."
    )
    where = "" if path in str(error) else f"{path}: "
    return ToolError(f"{where}{error} {outcome}", code=error.code)


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
            path=reversal.path,
            action=reversal.reversal.action,
            changes=len(reversal.reversal.steps),
            diff=undo_diff(reversal.path, reversal.now, reversal.then),
        )
        for reversal in ready
    ]
    verb = "bring back" if redo else "undo"
    past = "Brought back" if redo else "Undid"
    named = ", ".join(f"{file.path} ({file.action})" for file in files[:5])
    named += f" and {len(files) - 5} more" if len(files) > 5 else ""
    head = (
        f"This would {verb} {what}: {named}. Nothing was changed." if preview else f"{past} {what}: {named}"
    )
    return Result(
        data=UndoResult(preview=preview, files=files),
        summary=head if preview else f"{head}.",
        output="\n".join([head, *(file.diff for file in files)]),
        metadata={"paths": [file.path for file in files]},
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


_UNDO_TOOL: Mapping[str, Any] = {
    "level": "write",
    "level_fn": lambda args: "read" if args.preview else "write",
    "danger": "moderate",
    "danger_fn": lambda args: "safe" if args.preview else "moderate",
    "capabilities": ["read", "write"],
    "concurrency": "sequential",
    "category": "workspace",
    "origin": "system",
}
_KEPT = "Only what write_file, edit_file and file_delete did is kept"
_NOT_KEPT = "what bash or other programs changed cannot be undone here."


def undo_file(changes: ChangeJournal) -> Tool:
    workspace = changes.workspace

    @tool(
        "undo_file",
        **_UNDO_TOOL,
        reads=lambda args: workspace.key(args.path) if args.preview else (),
        writes=lambda args: () if args.preview else workspace.key(args.path),
        preview=lambda args, ctx: act(args.path, args.steps, args.redo, ctx, preview=True).output,
        icon="undo-2",
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
        rows = changes.query(lambda db: find(db, ctx.tenant_id, name, steps))
        if not rows and redo:
            raise ToolError(
                f"There is no undo of {name} to take back: none was made, or the file was changed since.",
                code="NOTHING_TO_REDO",
            )
        if not rows:
            is_redoable = changes.query(lambda db: history.redoable(db, ctx.tenant_id, name, 1))
            hint = " Use redo=true to bring an undo back." if is_redoable else ""
            nothing = f"There is no change of {name} to undo. {_KEPT}; {_NOT_KEPT}{hint}"
            raise ToolError(nothing, code="NOTHING_TO_UNDO")
        return _undo(changes, rows, ctx, "the last change", preview=preview, redo=redo)

    return undo_file


def _undo(
    changes: ChangeJournal, rows: list[ChangeRow], ctx: Context, single: str, *, preview: bool, redo: bool
) -> Result:
    """Undo or redo these changes, or only say what that would do. `single` is what one of them is called."""
    ready = prepare_undo(changes, rows)
    if not preview:
        apply_undo(changes, ready, ctx)
    count = single if len(rows) == 1 else f"{len(rows)} changes"
    return undo_result(ready, preview=preview, redo=redo, what=count)


def undo_turn(changes: ChangeJournal) -> Tool:
    everything = changes.workspace.key(".") + "/"

    @tool(
        "undo_turn",
        **_UNDO_TOOL,
        reads=lambda args: everything if args.preview else (),
        writes=lambda args: () if args.preview else everything,
        preview=lambda args, ctx: act(args.turn, args.redo, ctx, preview=True).output,
        icon="rotate-ccw-clock",
        output=UndoResult,
    )
    def undo_turn(
        turn: Annotated[
            int | None, Field(description="The turn's number; left out, the current turn")
        ] = None,
        preview: Annotated[bool, Field(description="Only show what would happen")] = False,
        redo: Annotated[bool, Field(description="Bring back what the last undo took")] = False,
        *,
        ctx: Context,
    ) -> Result:
        return act(turn, redo, ctx, preview=preview)

    def act(turn: int | None, redo: bool, ctx: Context, *, preview: bool) -> Result:
        rows = changes.query(lambda db: _steps(db, ctx, turn, redo=redo))
        return _undo(changes, rows, ctx, "1 change", preview=preview, redo=redo)

    return undo_turn


def _steps(db: sqlite3.Connection, ctx: Context, number: int | None, *, redo: bool) -> list[ChangeRow]:
    tenant = ctx.tenant_id
    session = None if ctx.session_id == f"call:{ctx.call_id}" else ctx.session_id
    if redo and number is None:
        rows = history.latest_undo(db, tenant, session)
    else:
        turn = _turn(db, ctx, session, number)
        find = history.redoable_of_turn if redo else history.undoable_of_turn
        rows = [] if turn is None else find(db, tenant, turn)
    if not rows:
        raise _nothing_in_turn(db, tenant, session, number if number is not None else ctx.turn, redo=redo)
    return rows


def _turn(db: sqlite3.Connection, ctx: Context, session: str | None, number: int | None) -> ChangeTurn | None:
    """The turn that is meant; where turns have no numbers, the last call that changed something."""
    if number is None and ctx.turn is None:
        return history.newest_turn(db, ctx.tenant_id, session)
    if number is not None and session is None:
        return history.numbered_turn(db, ctx.tenant_id, number)
    return ChangeTurn(ctx.session_id, ctx.turn if number is None else number, None)


def _nothing_in_turn(
    db: sqlite3.Connection, tenant: str, session: str | None, number: int | None, *, redo: bool
) -> ToolError:
    if redo:
        return ToolError("There is no undo to take back.", code="NOTHING_TO_REDO")
    where = "" if number is None else f" in turn {number}"
    last = history.newest_turn(db, tenant, session) if session is not None else None
    hint = (
        f" The last turn that changed files is {last.number}: give turn={last.number}."
        if last and last.number is not None
        else ""
    )
    return ToolError(f"Nothing is to be undone{where}.{hint} {_KEPT}: {_NOT_KEPT}", code="NOTHING_TO_UNDO")
