"""A process that writes one content over the other until it is killed."""

from __future__ import annotations

import asyncio
import os
from itertools import cycle
from pathlib import Path

from handrail import Handrail, Policy
from handrail.toolsets.workspace import WorkspaceToolset
from tests.acceptance.files.dying_process import ANA, NEW, OLD


def rewrite(root: str, ready: str) -> None:
    asyncio.run(_rewrite(root, ready))


async def _rewrite(root: str, ready: str) -> None:
    policy = Policy(approval_mode="danger", moderate="allow")
    async with Handrail([WorkspaceToolset(root, tenant="acme")], policy=policy) as hr:
        for content in cycle((NEW, OLD)):
            done = await hr.call("write_file", {"path": "a.txt", "content": content}, principal=ANA)
            assert done.ok, done.to_model()
            _say_once(ready)


def _say_once(ready: str) -> None:
    """That the first write is done, and by which process."""
    if not Path(ready).exists():
        Path(f"{ready}.new").write_text(str(os.getpid()))
        os.replace(f"{ready}.new", ready)
