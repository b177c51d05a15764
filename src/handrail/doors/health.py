"""Health: whether the process lives, and whether it can do its work. For whoever looks after the machine."""

from __future__ import annotations

import asyncio
import json
import logging

from handrail.doors.visit import Receive, Scope, Send
from handrail.platform import Platform

_log = logging.getLogger("handrail.health")
_PATIENCE = 5.0


class Health:
    """`/healthz`: this process answers. `/readyz`: it has its database, and is not about to stop."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, said = 200, "ok"
        if scope["path"] == "/readyz":
            status, said = await self._ready()
        elif scope["path"] != "/healthz":
            status, said = 404, "not found"
        body = json.dumps({"status": said}).encode()
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    async def _ready(self) -> tuple[int, str]:
        if self._platform.closing.is_set():
            return 503, "stopping"
        offices = self._platform.offices
        if offices is None:
            return 200, "ok"
        from handrail.store.tenants import get_tenant

        try:
            async with asyncio.timeout(_PATIENCE):
                await offices.db.read("health", lambda conn: get_tenant(conn, "health"))
        except Exception:
            _log.warning("the database did not answer", exc_info=True)
            return 503, "the database does not answer"
        return 200, "ok"
