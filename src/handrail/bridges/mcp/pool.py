"""Pool: one open connection for each credential, and patience with a server that is down."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from handrail.bridges.extras import needs
from handrail.bridges.mcp.attempt import Unreachable
from handrail.bridges.mcp.server import Server
from handrail.ext import ToolError

if TYPE_CHECKING:
    from handrail.bridges.mcp.connection import Connection

_log = logging.getLogger("handrail.mcp")
_MOST = 64
"""Open connections to one server; beyond, the one that was idle longest is closed."""
_SHORT_LIFE = 5.0
_FIRST, _LONGEST = 0.5, 60.0


@dataclass(slots=True)
class _Place:
    """What is known of one credential's way to the server."""

    connection: Connection | None = None
    opening: asyncio.Task[Connection] | None = None
    failures: int = 0
    again_at: float = 0.0
    why: str = ""


class Down(ToolError):
    """The server cannot be reached."""

    def __init__(self, server: Server, why: str, wait: float) -> None:
        later = f" Try again in {max(1, round(wait))} s." if wait > 0 else " Try again later."
        super().__init__(
            f"The MCP server {server.name} cannot be reached: {why}.{later}",
            code="TOOL_UNAVAILABLE",
            retry_after=max(wait, 0.0) or None,
        )


class Pool:
    """The connections to one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._places: dict[str, _Place] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def peek(self, secrets: Mapping[str, str]) -> Connection | None:
        """The open connection of this credential, if there is one."""
        place = self._places.get(_fingerprint(secrets))
        found = None if place is None else place.connection
        return found if found is not None and found.alive and found.loop is _loop() else None

    async def get(self, secrets: Mapping[str, str]) -> Connection:
        """The open connection of this credential, opened if it must be. Raises `Down`.

        Whoever comes while it is opened waits for the same one. After failures nobody tries for a while.
        """
        open_one = self.peek(secrets)
        key = _fingerprint(secrets)
        place = self._places.pop(key, None) or _Place()
        self._places[key] = place  # the one used last stands last
        if open_one is not None:
            return open_one
        loop = _loop()
        if place.opening is None or place.opening.get_loop() is not loop:
            if place.connection is not None:
                self._note_end(place, place.connection)
            if (wait := place.again_at - loop.time()) > 0:
                raise Down(self.server, place.why, wait)
            place.opening = loop.create_task(self._open(place, dict(secrets)))
            place.opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(place.opening)

    async def _open(self, place: _Place, secrets: Mapping[str, str]) -> Connection:
        connection: Connection | None = None
        try:
            speaking = await asyncio.to_thread(_loaded)
            connection = speaking.Connection(self.server, secrets)
            await connection.opened()
        except BaseException as error:
            if connection is not None:
                self._put_away(connection)
            if not isinstance(error, Unreachable):
                raise
            self._failed(place, str(error))
            _log.warning("the MCP server %s cannot be reached: %s", self.server.name, error)
            raise Down(self.server, str(error), place.again_at - _loop().time()) from None
        finally:
            place.opening = None
        place.connection = connection
        self._thin_out()
        return connection

    def _note_end(self, place: _Place, ended: Connection) -> None:
        """A server that dies soon after each start is not started all the time."""
        place.connection = None
        if ended.loop is not _loop():
            place.failures, place.again_at = 0, 0.0
            return
        self._put_away(ended)
        if _loop().time() - ended.opened_at < _SHORT_LIFE:
            if place.failures:
                self._failed(place, "it ends soon after it begins")
            else:  # once is no habit
                place.failures = 1
        else:
            place.failures = 0

    def _failed(self, place: _Place, why: str) -> None:
        place.failures += 1
        place.why = why
        place.again_at = _loop().time() + min(_LONGEST, _FIRST * 2 ** (place.failures - 1))

    def _thin_out(self) -> None:
        for key, place in list(self._places.items())[:-1]:
            if len(self._places) <= _MOST:
                return
            if place.opening is None and (place.connection is None or place.connection.calls == 0):
                del self._places[key]
                if place.connection is not None:
                    self._put_away(place.connection)

    def _put_away(self, connection: Connection) -> None:
        task = _loop().create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """End every connection."""
        places, self._places = list(self._places.values()), {}
        for place in places:
            if place.opening is not None and place.opening.get_loop() is _loop():
                place.opening.cancel()
                await asyncio.gather(place.opening, return_exceptions=True)
            if place.connection is not None and place.connection.loop is _loop():
                self._put_away(place.connection)
        here = [task for task in self._closing if task.get_loop() is _loop()]
        await asyncio.gather(*here, return_exceptions=True)


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def _loaded() -> ModuleType:
    """What speaks the protocol. It is an extra, loaded when the first server is needed."""
    with needs("mcp", "the bridge to MCP servers"):
        return import_module("handrail.bridges.mcp.connection")


def _fingerprint(secrets: Mapping[str, str]) -> str:
    """Which credential it is, without being it."""
    text = "\0".join(f"{name}\0{value}" for name, value in sorted(secrets.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
