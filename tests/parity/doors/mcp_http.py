"""MCP over HTTP: the official SDK's client before a real server, of today or by the handshake of 2025."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from mcp import Client

from handrail import Outcome
from handrail.core.define.levels import Source
from handrail.doors.mcp.streamable_http import build_mcp
from handrail.ext.tools import wire_name
from handrail.platform import Platform
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.harness.asgi_server import serve_app
from tests.parity.cases import Case
from tests.parity.compare import Events, Observation
from tests.parity.doors.keys import platform_before
from tests.parity.doors.mcp_client import client
from tests.parity.doors.mcp_results import answer_of, ask, carried, is_waiting
from tests.parity.people import PEOPLE
from tests.parity.recorded_handrail import RecordedHandrail, decide


class McpOverHttp:
    """Calls as an MCP client does that has a key."""

    source: Source = "mcp"

    def __init__(self, world: RecordedHandrail, address: str, stack: AsyncExitStack, modern: bool) -> None:
        self.name = "mcp" if modern else "mcp 2025"
        self._world = world
        self._address = address
        self._stack = stack
        self._modern = modern
        self._clients: dict[str, Client] = {}

    @staticmethod
    def spelled(tool: str) -> str:
        return wire_name(tool)

    @staticmethod
    def keyed(key: str) -> str:
        return key

    async def ask(self, case: Case, told: int) -> Observation:
        before = await self._client(case.who)
        name = self.spelled(case.tool)
        calling = asyncio.create_task(ask(before, name, case.args))
        if case.cancel:
            await self._world.until_started()
            calling.cancel()
            await asyncio.wait({calling})
            await self._world.until_ended()
            return Observation(self._world.take(), None, "the caller was cancelled")
        answer = await calling
        if case.decide is not None:
            waits = answer["_meta"]["handrail/approval"]["id"]
            await decide(self._world.hr, waits, case.decide, PEOPLE[case.who])
            while is_waiting(answer):
                answer = await ask(before, name, case.args, answer.get("requestState"))
        return Observation(self._world.take(), answer_of(answer))

    def carries(self, outcome: Outcome, case: Case, events: Events) -> Any:
        return carried(outcome, case, events, self._world.hr, self._modern)

    async def _client(self, who: str) -> Client:
        if who not in self._clients:
            opening = client(self._address, who, self._modern)
            self._clients[who] = await self._stack.enter_async_context(opening)
        return self._clients[who]


@asynccontextmanager
async def mcp_over_http(
    world: RecordedHandrail, modern: bool, platform: Platform | None = None
) -> AsyncIterator[McpOverHttp]:
    """The door, open on a free port. A call that waits for a person is held for a moment only."""
    platform = platform or platform_before(world.hr)
    app = build_mcp(platform, hold=0.05)
    async with (
        app.running(),
        serve_app(SecurityMiddleware(app, platform, RequestLimits(rate=None))) as address,
    ):
        async with AsyncExitStack() as stack:
            yield McpOverHttp(world, address, stack, modern)
        platform.closing.set()
