"""Streaming: output on its way to whoever watches, in few pieces and whole characters."""

from __future__ import annotations

import asyncio
import codecs

from handrail import Context

MOST = 100_000
"""Characters that are streamed; the result has more."""
_PAUSE = 0.1
_PIECE = 8_000


class Streaming:
    """Collects what arrives and hands it on a few times a second."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._waiting = ""
        self._sent = 0
        self._timer: asyncio.TimerHandle | None = None

    def hear(self, data: bytes) -> None:
        if self._sent + len(self._waiting) >= MOST:
            return
        self._waiting += self._decoder.decode(data)
        if len(self._waiting) >= _PIECE:
            self._send()
        elif self._timer is None and self._waiting:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE, self._send)

    def close(self) -> None:
        if self._sent < MOST:
            self._waiting += self._decoder.decode(b"", True)
        self._send()

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        piece = self._waiting[: MOST - self._sent]
        cut = len(self._waiting) > len(piece)
        self._waiting = ""
        if not piece:
            return
        self._sent += len(piece)
        ending = "\n[no more is shown while it runs]\n" if cut or self._sent >= MOST else ""
        self._ctx.append_output(piece + ending)
