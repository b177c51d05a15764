"""undo_turn: all files as they were before a turn."""

from __future__ import annotations

import sqlite3
from typing import Annotated

from pydantic import Field

from handrail import Context, Result, Tool, tool
from handrail.ext import ToolError
from handrail.toolsets.workspace.changes import history
from handrail.toolsets.workspace.changes.history import ChangeRow, ChangeTurn
from handrail.toolsets.workspace.changes.journal import ChangeJournal
from handrail.toolsets.workspace.changes.undo import UndoResult, apply_undo, prepare_undo, undo_result


def undo_turn(changes: ChangeJournal) -> Tool:
    everything = changes.workspace.key(".") + "/"

    @tool(
        "undo_turn",
        level="write",
        level_fn=lambda args: "read" if args.preview else "write",
        danger="moderate",
        danger_fn=lambda args: "safe" if args.preview else "moderate",
        capabilities=["read", "write"],
        concurrency="sequential",
        reads=lambda args: everything if args.preview else (),
        writes=lambda args: () if args.preview else everything,
        preview=lambda args, ctx: act(args.turn, args.redo, ctx, preview=True).output,
        category="workspace",
        icon="rotate-ccw-clock",
        origin="system",
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
        found = changes.query(lambda db: _steps(db, ctx, turn, redo=redo))
        ready = prepare_undo(changes, found)
        if not preview:
            apply_undo(changes, ready, ctx)
        count = "1 change" if len(found) == 1 else f"{len(found)} changes"
        return undo_result(ready, preview=preview, redo=redo, what=count)

    return undo_turn


def _steps(db: sqlite3.Connection, ctx: Context, number: int | None, *, redo: bool) -> list[ChangeRow]:
    tenant = ctx.tenant_id
    session = None if ctx.session_id == f"call:{ctx.call_id}" else ctx.session_id
    if redo and number is None:
        found = history.latest_undo(db, tenant, session)
    else:
        turn = _turn(db, ctx, session, number)
        find = history.redoable_of_turn if redo else history.undoable_of_turn
        found = [] if turn is None else find(db, tenant, turn)
    if not found:
        raise _nothing(db, tenant, session, number if number is not None else ctx.turn, redo=redo)
    return found


def _turn(db: sqlite3.Connection, ctx: Context, session: str | None, number: int | None) -> ChangeTurn | None:
    """The turn that is meant; where turns have no numbers, the last call that changed something."""
    if number is None and ctx.turn is None:
        return history.newest_turn(db, ctx.tenant_id, session)
    if number is not None and session is None:
        return history.numbered_turn(db, ctx.tenant_id, number)
    return ChangeTurn(ctx.session_id, ctx.turn if number is None else number, None)


def _nothing(
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
    return ToolError(
        f"Nothing is to be undone{where}.{hint} Only what write_file, edit_file and file_delete did is kept: "
        "what bash or other programs changed cannot be undone here.",
        code="NOTHING_TO_UNDO",
    )
