"""At once: a small file changed from the event loop, where nothing has to be waited for but the disk.

While a thread brings the new bytes to the disk, the change is written into the journal and told. Whatever
else would have to be waited for, or be explained, is left to the way through a thread: here nothing
happened then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from stat import S_IMODE
from typing import NamedTuple

from handrail import Context, Result
from handrail.ext import ToolError
from handrail.toolsets.workspace.atomic import stamp_of
from handrail.toolsets.workspace.change import Change, Operation
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.disk import Errand
from handrail.toolsets.workspace.locking import Busy

_SMALL = 128 * 1024
"""Bytes of a file that is read here."""


class Drawn(NamedTuple):
    """What a file shall hold, and how that is told."""

    after: bytes
    told: Callable[[], Result]


async def at_once(
    workspace: Workspace,
    ctx: Context,
    path: str,
    operation: Operation,
    draw_up: Callable[[str, bytes], Drawn | None],
) -> Result | None:
    """Change a file that is there; None where that was not to be had without waiting.

    `draw_up` gets the way to the file without links, and its bytes; None says that it would take long.
    """
    began = time.monotonic()
    if workspace.disk.is_slow:
        return None
    try:
        with workspace.place(path) as place, workspace.turn_at(place):
            found, before = place.read(_SMALL)
            drawn = draw_up(place.name, before)
            if drawn is None or drawn.after == before:
                return None
            with place.drafted(drawn.after, found) as draft:
                taking = workspace.disk.begin(partial(place.take, draft, stamp_of(found)))
                try:
                    mode = S_IMODE(found.st_mode)
                    change = Change.of(ctx, place.name, operation, before, drawn.after, mode)
                    number = workspace.journal.record(change, wait=False)
                    workspace.disk.took(time.monotonic() - began)
                    taking.go()
                    try:
                        told = drawn.told()
                    finally:
                        await _over(taking, workspace, number)
                finally:
                    taking.call_off()
    except (Busy, ToolError):
        return None
    workspace.tell(place.name)
    return told


async def _over(taking: Errand, workspace: Workspace, number: int) -> None:
    """Wait for the end of what the journal keeps. If it did not happen, the journal is told at once."""
    journal = workspace.journal
    try:
        await taking.over()
    except BaseException:
        await workspace.disk.begin(lambda word: journal.dropped(number)).over()
        raise
    journal.done(number)
