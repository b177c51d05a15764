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

from handrail import ToolError
from handrail.bridges.mcp.errors import ServerUnreachable
from handrail.bridges.mcp.server_settings import Server
from handrail.bridges.missing_packages import require_extra

if TYPE_CHECKING:
    from handrail.bridges.mcp.connection import Connection

_log = logging.getLogger("handrail.mcp")
_MAX_CONNECTIONS = 64
"""Open connections to one server; beyond, the one that was idle longest is closed."""
_SHORT_LIFE = 5.0
_FIRST, _LONGEST = 0.5, 60.0


@dataclass(slots=True)
class _Slot:
    """What is known of one credential's way to the server."""

    connection: Connection | None = None
    opening: asyncio.Task[Connection] | None = None
    failures: int = 0
    again_at: float = 0.0
    why: str = ""


class ServerDown(ToolError):
    """The server cannot be reached."""

    def __init__(self, server: Server, why: str, wait: float) -> None:
        later = f" Try again in {max(1, round(wait))} s." if wait > 0 else " Try again later."
        super().__init__(
            f"The MCP server {server.name} cannot be reached: {why}.{later}",
            code="TOOL_UNAVAILABLE",
            retry_after=max(wait, 0.0) or None,
        )


class ConnectionPool:
    """The connections to one server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._slots: dict[str, _Slot] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def peek(self, secrets: Mapping[str, str]) -> Connection | None:
        """The open connection of this credential, if there is one."""
        slot = self._slots.get(_fingerprint(secrets))
        connection = None if slot is None else slot.connection
        return (
            connection if connection is not None and connection.alive and connection.loop is _loop() else None
        )

    async def get(self, secrets: Mapping[str, str]) -> Connection:
        """The open connection of this credential, opened if it must be. Raises `Down`.

        Whoever comes while it is opened waits for the same one. After failures nobody tries for a while.
        """
        connection = self.peek(secrets)
        key = _fingerprint(secrets)
        slot = self._slots.pop(key, None) or _Slot()
        self._slots[key] = slot  # the one used last stands last
        if connection is not None:
            return connection
        loop = _loop()
        if slot.opening is None or slot.opening.get_loop() is not loop:
            if slot.connection is not None:
                self._note_end(slot, slot.connection)
            if (wait := slot.again_at - loop.time()) > 0:
                raise ServerDown(self.server, slot.why, wait)
            slot.opening = loop.create_task(self._open(slot, dict(secrets)))
            slot.opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        return await asyncio.shield(slot.opening)

    async def _open(self, slot: _Slot, secrets: Mapping[str, str]) -> Connection:
        connection: Connection | None = None
        try:
            module = await asyncio.to_thread(_load_connection_module)
            connection = module.Connection(self.server, secrets)
            await connection.opened()
        except BaseException as error:
            if connection is not None:
                self._put_away(connection)
            if not isinstance(error, ServerUnreachable):
                raise
            self._failed(slot, str(error))
            _log.warning("the MCP server %s cannot be reached: %s", self.server.name, error)
            raise ServerDown(self.server, str(error), slot.again_at - _loop().time()) from None
        finally:
            slot.opening = None
        slot.connection = connection
        self._thin_out()
        return connection

    def _note_end(self, slot: _Slot, ended: Connection) -> None:
        """A server that dies soon after each start is not started all the time."""
        slot.connection = None
        if ended.loop is not _loop():
            slot.failures, slot.again_at = 0, 0.0
            return
        self._put_away(ended)
        if _loop().time() - ended.opened_at < _SHORT_LIFE:
            if slot.failures:
                self._failed(slot, "it ends soon after it begins")
            else:  # once is no habit
                slot.failures = 1
        else:
            slot.failures = 0

    def _failed(self, slot: _Slot, why: str) -> None:
        slot.failures += 1
        slot.why = why
        slot.again_at = _loop().time() + min(_LONGEST, _FIRST * 2 ** (slot.failures - 1))

    def _thin_out(self) -> None:
        for key, slot in list(self._slots.items())[:-1]:
            if len(self._slots) <= _MAX_CONNECTIONS:
                return
            if slot.opening is None and (slot.connection is None or slot.connection.calls == 0):
                del self._slots[key]
                if slot.connection is not None:
                    self._put_away(slot.connection)

    def _put_away(self, connection: Connection) -> None:
        task = _loop().create_task(connection.close())
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """End every connection."""
        slots, self._slots = list(self._slots.values()), {}
        for slot in slots:
            if slot.opening is not None and slot.opening.get_loop() is _loop():
                slot.opening.cancel()
                await asyncio.gather(slot.opening, return_exceptions=True)
            if slot.connection is not None and slot.connection.loop is _loop():
                self._put_away(slot.connection)
        closing = [task for task in self._closing if task.get_loop() is _loop()]
        await asyncio.gather(*closing, return_exceptions=True)


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def _load_connection_module() -> ModuleType:
    """What speaks the protocol. It is an extra, loaded when the first server is needed."""
    with require_extra("mcp", "the bridge to MCP servers"):
        return import_module("handrail.bridges.mcp.connection")


def _fingerprint(secrets: Mapping[str, str]) -> str:
    """Which credential it is, without being it."""
    text = "\0".join(f"{name}\0{value}" for name, value in sorted(secrets.items()))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
