"""A program that is killed after its change was kept and before the file was changed."""

from __future__ import annotations

import asyncio
import os

from handrail import Handrail, Principal
from handrail.toolsets.workspace import WorkspaceToolset

ANA = Principal(tenant="local", user="ana")


def write(root: str) -> None:
    asyncio.run(_write(root))


async def _write(root: str) -> None:
    async with Handrail([WorkspaceToolset(root)]) as hr:
        os.replace = lambda *names, **folders: os._exit(9)
        await hr.call("write_file", {"path": "a.txt", "content": "two"}, principal=ANA, source="web")
