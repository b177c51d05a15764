"""Showing: what an undo does, as a model and a person read it."""

from __future__ import annotations

from difflib import unified_diff
from typing import Annotated

from pydantic import BaseModel, Field

from handrail import Result
from handrail.toolsets.workspace.changes.undoing import Ready
from handrail.toolsets.workspace.text import is_binary

_MOST_BYTES = 400_000
_MOST_LINES = 400


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
    """How a file differs from what it will be, as a unified diff where that is of use."""
    some = [data for data in (now, then) if data is not None]
    if any(is_binary(data) for data in some):
        return f"{path}: binary, {_size(now)} to {_size(then)}"
    if sum(map(len, some)) > _MOST_BYTES:
        return f"{path}: {_size(now)} to {_size(then)}, too large to be compared"
    old, new = (_lines(data) for data in (now, then))
    names = ("/dev/null" if now is None else f"a/{path}", "/dev/null" if then is None else f"b/{path}")
    lines = list(unified_diff(old, new, *names, lineterm=""))
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"… {len(lines) - _MOST_LINES} more lines"]
    return "\n".join(lines)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").removesuffix("\n").split("\n") if data else []


def _size(data: bytes | None) -> str:
    return "no file" if data is None else f"{len(data)} bytes"
