"""MCP over standard input and output: `handrail mcp` in a process for each agent, with the SDK's client."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from handrail import Handrail, Outcome
from handrail.core.define.levels import Source
from handrail.ext.tools import wire_name
from tests.acceptance.command_line import environment
from tests.parity.cases import Case
from tests.parity.compare import Events, Observation, as_json
from tests.parity.doors.keys import REAL, TEXTS
from tests.parity.doors.mcp_client import MODERN
from tests.parity.doors.mcp_results import answer_of, ask, carried, is_waiting
from tests.parity.people import PEOPLE, TENANT, open_shop, write_settings
from tests.parity.recorded_handrail import DEADLINE, ENDS, decide, until


class McpOverStdio:
    """Calls as a program does that started Handrail itself."""

    name = "mcp stdio"
    source: Source = "mcp"

    def __init__(self, folder: Path, beside: Handrail, stack: AsyncExitStack) -> None:
        self._folder = folder
        self._beside = beside
        """On the same database: it reads the record, decides, and works on what was decided."""
        self._stack = stack
        self._clients: dict[str, Client] = {}
        self._taken: dict[str, int] = {}

    @staticmethod
    def spelled(tool: str) -> str:
        return wire_name(tool)

    @staticmethod
    def keyed(key: str) -> str:
        return key

    async def ask(self, case: Case, told: int) -> Observation:
        client, name = await self._client(case.who), self.spelled(case.tool)
        calling = asyncio.create_task(ask(client, name, case.args))
        if case.cancel:
            await until(lambda: self._record(case, "tool.output_appended"))
            calling.cancel()
            await asyncio.wait({calling})
            await until(lambda: self._record(case, *ENDS))
            return Observation(await self._take(case, told), None, "the caller was cancelled")
        answer = await calling
        if case.decide is not None:
            waits = answer["_meta"]["handrail/approval"]["id"]
            await decide(self._beside, waits, case.decide, PEOPLE[case.who])
            while is_waiting(answer):
                answer = await ask(client, name, case.args, answer.get("requestState"))
        return Observation(await self._take(case, told), answer_of(answer))

    def carries(self, outcome: Outcome, case: Case, events: Events) -> Any:
        return carried(outcome, case, events, self._beside, modern=True)

    def _record(self, case: Case, *types: str) -> Events | None:
        tenant = PEOPLE[case.who].tenant
        after = self._taken.get(tenant, 0)
        events = [one for one in self._beside.log.read(tenant) if one.position > after]
        if types and not any(one.type in types for one in events):
            return None
        return [{"position": one.position, **as_json(one.to_dict())} for one in events]

    async def _take(self, case: Case, told: int) -> Events:
        """What the other process told: it writes down reads a little later than it answers."""
        deadline = asyncio.get_running_loop().time() + DEADLINE / 4
        while len(events := self._record(case) or []) < told:
            if asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.sleep(0.01)
        if events:
            self._taken[PEOPLE[case.who].tenant] = events[-1]["position"]
        return [{name: value for name, value in one.items() if name != "position"} for one in events]

    async def _client(self, who: str) -> Client:
        if who not in self._clients:
            principal = PEOPLE[who]
            more = {"HANDRAIL_MCP_HOLD": "0.05", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
            if principal.tenant != TENANT:
                more |= {"HANDRAIL_TENANT": principal.tenant, "HANDRAIL_USER": principal.user or ""}
                more |= {"HANDRAIL_PERMISSIONS": ""}
            if who == REAL:
                more |= {"HANDRAIL_API_KEY": TEXTS[who]}
            server = StdioServerParameters(
                command=sys.executable,
                args=["-m", "handrail", "mcp", "--as", f"agent:{principal.agent}"],
                env=environment(**more),
                cwd=self._folder,
            )
            opening = Client(stdio_client(server), mode=MODERN, cache=None)
            self._clients[who] = await self._stack.enter_async_context(opening)
        return self._clients[who]


@asynccontextmanager
async def mcp_over_stdio(folder: Path) -> AsyncIterator[McpOverStdio]:
    """The door, over a database in the folder."""
    url = f"sqlite:///{folder / 'handrail.db'}"
    write_settings(folder, url)
    async with open_shop(folder, url) as beside, AsyncExitStack() as stack:
        yield McpOverStdio(folder, beside, stack)
