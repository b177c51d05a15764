"""Showing: what an undo does, as a model and a person read it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Result
from handrail.toolsets.workspace.changes.undoing import Ready
from handrail.toolsets.workspace.files.diff import diff
from handrail.toolsets.workspace.text import is_binary, mark_of


class UndoneFile(BaseModel):
    """One file of an undo."""

    path: str
    action: Annotated[str, Field(description="changed back, restored or removed")]
    changes: Annotated[int, Field(description="How many changes were undone")]
    diff: str


class Undone(BaseModel):
    """What was undone, or would be."""

    preview: bool
    files: list[UndoneFile]


def undone(ready: list[Ready], *, preview: bool, redo: bool, what: str) -> Result:
    """The result of an undo of these files."""
    files = [
        UndoneFile(
            path=one.path,
            action=one.reversal.action,
            changes=len(one.reversal.steps),
            diff=difference(one.path, one.now, one.then),
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
        data=Undone(preview=preview, files=files),
        summary=head if preview else f"{head}.",
        output="\n".join([head, *(one.diff for one in files)]),
        metadata={"paths": [one.path for one in files]},
    )


def difference(path: str, now: bytes | None, then: bytes | None) -> str:
    """How a file differs from what it will be."""
    if any(is_binary(data) for data in (now, then) if data is not None):
        return f"{path}: binary, {_size(now)} to {_size(then)}"
    return diff(_text(now), _text(then), path).text


def _text(data: bytes | None) -> str:
    marked = mark_of(data or b"")
    return (data or b"").decode("utf-8" if marked is None else marked[1], "replace")


def _size(data: bytes | None) -> str:
    return "no file" if data is None else f"{len(data)} bytes"
