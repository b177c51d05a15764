"""Opening: which file was opened, whatever its path led to a moment before and after."""

from __future__ import annotations

import os
from contextvars import ContextVar

from handrail.toolsets.workspace.atomic import Stamp, stamp_of


class Opening:
    """Looks on while others open files, from where it is made on, until another one does."""

    __slots__ = ("stamp",)

    def __init__(self) -> None:
        self.stamp: Stamp | None = None
        """Of the file that was opened last."""
        _ONLOOKER.set(self)


_ONLOOKER: ContextVar[Opening | None] = ContextVar("handrail_onlooker", default=None)


def opened_file(fd: int) -> os.stat_result:
    """What the system says of a file that was just opened, which whoever looks on is told too."""
    found = os.fstat(fd)
    if (onlooker := _ONLOOKER.get()) is not None:
        onlooker.stamp = stamp_of(found)
    return found
