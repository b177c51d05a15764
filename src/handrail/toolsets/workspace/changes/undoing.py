"""Undoing: files get back what they held. All is checked first; then each file is changed as a whole."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from handrail import Context
from handrail.ext import ToolError
from handrail.toolsets.workspace.atomic import Stamp
from handrail.toolsets.workspace.change import LARGEST_KEPT, Change
from handrail.toolsets.workspace.changes import past
from handrail.toolsets.workspace.changes.journal import Changes, Toggle, hash_of
from handrail.toolsets.workspace.changes.past import Kept
from handrail.toolsets.workspace.changes.reverting import ELSEWHERE, Clash, Reversal, reversals
from handrail.toolsets.workspace.desk import Workspace


@dataclass(frozen=True, slots=True)
class _Found:
    """A file as it is now."""

    stamp: Stamp | None
    data: bytes | None
    mode: int | None
    ours: bool = True
    """False when there is something that our tools would not have left."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A reversal with the contents at hand."""

    reversal: Reversal
    found: _Found
    then: bytes | None

    @property
    def path(self) -> str:
        return self.reversal.path

    @property
    def now(self) -> bytes | None:
        return self.found.data


def prepared(changes: Changes, steps: Sequence[Kept]) -> list[Ready]:
    """What undoing these steps does to each file. Refuses when somebody else changed one of them."""
    seen: dict[str, _Found] = {}

    def now(path: str) -> bytes | None:
        seen[path] = _look(changes.workspace, path)
        return hash_of(seen[path].data) if seen[path].ours else ELSEWHERE

    files, clashes = reversals(steps, now)
    if clashes:
        raise _changed_since(changes, clashes, {one.path: one.now for one in files})
    for one in files:
        changes.workspace.check_change(one.path)
    return [Ready(one, seen[one.path], _content(changes, one)) for one in files]


def undo(changes: Changes, ready: Sequence[Ready], ctx: Context) -> None:
    """Do it for all files or for none, and keep that it was done, so that this can be undone as well."""
    workspace = changes.workspace
    whose = Change.of(ctx, "", "write", None, None, None)
    numbers = changes.begin(whose, [(one.now, _toggles(workspace, one)) for one in ready])
    put = 0
    try:
        for one in ready:
            _put(workspace, one)
            put += 1
    except BaseException as error:
        left = [_is_put_back(workspace, one) for one in ready[:put]] + [True] * (len(ready) - put)
        for steps, is_as_before in zip(numbers, left, strict=True):
            if is_as_before:
                changes.dropped(*steps)
            else:
                changes.all_done(steps)
        if isinstance(error, ToolError):
            undone = [one.path for one, is_as_before in zip(ready, left, strict=True) if not is_as_before]
            raise _stopped(error, ready[put].path, undone) from error
        raise
    for step in (step for one in ready if one.then is None for step in one.reversal.steps):
        _remove_made(workspace, step)
    changes.all_done(number for steps in numbers for number in steps)


def _look(workspace: Workspace, path: str) -> _Found:
    try:
        if workspace.relative(path) != path:  # a link stands in the way, perhaps to nothing
            return _Found(None, None, None, ours=False)
        found = workspace.stat(path)
        if found is None:
            return _Found(None, None, None)
        if found.st_size > LARGEST_KEPT:  # these tools leave none that is so large
            return _Found(None, None, None, ours=False)
        stamp = workspace.stamp(path)
        return _Found(stamp, workspace.read(path), stat.S_IMODE(found.st_mode))
    except ToolError as error:
        if error.code == "FILE_NOT_FOUND":
            return _Found(None, None, None)
        return _Found(None, None, None, ours=False)


def _content(changes: Changes, one: Reversal) -> bytes | None:
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


def _toggles(workspace: Workspace, one: Ready) -> list[Toggle]:
    """A row for each step; between them the file is what it was between the changes."""
    made = workspace.missing(one.path) if one.now is None else ()
    mode, found = one.found.mode, []
    for step in one.reversal.steps:
        word = "redo" if step.operation == "undo" else "undo"
        found.append(Toggle(step.of, word, one.path, step.after, step.before, mode, made))
        made = ()
        if step.after is None or step.before is None:
            mode = step.mode
    return found


def _put(workspace: Workspace, one: Ready) -> None:
    if one.then is not None:
        workspace.write(one.path, one.then, expected=one.found.stamp, mode=one.reversal.mode)
    elif one.now is not None:
        workspace.remove(one.path, expected=one.found.stamp)


def _is_put_back(workspace: Workspace, one: Ready) -> bool:
    """Give a file back what it held before this undo; False where somebody else was faster."""
    found = _look(workspace, one.path)
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


def _remove_made(workspace: Workspace, step: Kept) -> None:
    """Remove the folders that were made for a file, if they are still those, and nothing is in them."""
    with suppress(ToolError):
        for name, *known in reversed(json.loads(step.folders or "[]")):
            found = workspace.stat(name)
            if found is None or known != [found.st_dev, found.st_ino]:
                return
            with workspace.beneath.spot(name) as spot:
                if "/".join(spot.parts) == name:
                    os.rmdir(spot.name, dir_fd=spot.folder)


def _changed_since(changes: Changes, clashes: Sequence[Clash], now: Mapping[str, bytes | None]) -> ToolError:
    """What stands in the way of an undo: later changes of these tools, or something else."""
    ours = [last for one in clashes if (last := _later(changes, one, now[one.path])) is not None]
    names = ", ".join(one.path for one in clashes)
    which = "it" if len(clashes) == 1 else "them"
    later = ", ".join(f"{one.path} in {_when(one)}" for one in ours)
    if len(ours) == len(clashes):
        said = f"changed again since by these tools: {later}. Undo that first. Nothing was undone."
    else:
        said = (
            f"changed by something else since these tools changed {which} (a shell command, an editor, "
            "another agent). Undoing would lose that, so nothing was undone. Look at what is there now, and "
            "change that instead." + (f" These tools themselves changed {later}." if ours else "")
        )
    return ToolError(f"{names}: {said}", code="CHANGED_ELSEWHERE")


def _later(changes: Changes, clash: Clash, now: bytes | None) -> Kept | None:
    """The change of these tools that left a file as it is now."""
    found = changes.look(partial(past.standing, tenant=clash.step.tenant, path=clash.path, most=1))
    return next((one for one in found if one.after == now), None)


def _when(one: Kept) -> str:
    return f"call {one.call_id}" if one.turn is None else f"turn {one.turn}"


def _stopped(error: ToolError, path: str, undone: Sequence[str]) -> ToolError:
    """What stands in the way was not there when all was checked."""
    left = f"Undone all the same: {', '.join(undone)}. The rest was not." if undone else "Nothing was undone."
    where = "" if path in str(error) else f"{path}: "
    return ToolError(f"{where}{error} {left}", code=error.code)
