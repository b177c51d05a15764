"""Signals: the first Ctrl-C or SIGTERM asks to stop, the next one ends the process."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from handrail.doors.cli.exit_codes import ExitCode

_wakeup_sockets: list[socket.socket] = []
"""What wakes a loop stays open for as long as signals may come."""


def on_stop(loop: asyncio.AbstractEventLoop, stop: Callable[[str], None]) -> None:
    """Hand the first SIGINT or SIGTERM to `stop`, with why; the next one ends the process.

    The handlers stay when the loop is closed: Ctrl-C while threads come to their end means to leave.
    """
    seen = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        if seen or loop.is_closed():
            os._exit(ExitCode.CANCELLED)
        seen = True
        loop.call_soon_threadsafe(stop, "Ctrl-C" if number == signal.SIGINT else "it was told to end")

    with suppress(NotImplementedError):  # on Windows the loop does so by itself
        _wake_on_signal(loop)
    signal.signal(signal.SIGINT, handle)
    signal.signal(signal.SIGTERM, handle)


def _wake_on_signal(loop: asyncio.AbstractEventLoop) -> None:
    """Let a signal end the sleep of a loop.

    One that comes just before it falls asleep, or reaches another thread, would be heard when it wakes.
    """
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    loop.add_reader(near, near.recv, 4096)
    signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)
    _wakeup_sockets.extend((near, far))
