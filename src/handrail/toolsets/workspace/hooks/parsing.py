"""Parsing: small files at once, others in a process of their own, since a parser lets nobody else work."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress

from handrail.toolsets.workspace.hooks import problems
from handrail.toolsets.workspace.hooks.languages import Check
from handrail.toolsets.workspace.hooks.problems import Parsed, Problem

_SECONDS = 10.0


async def parse(check: Check, data: bytes, seconds: float = _SECONDS) -> Parsed:
    """What parsing yields; nothing where it takes too long, or there is no room for a process."""
    if len(data) <= check.at_once:
        return check.parse(data)
    try:
        async with asyncio.timeout(seconds):
            found = json.loads(await _told(check, data))
    except (TimeoutError, OSError, ValueError):
        return Parsed()
    return Parsed(Problem(*found)) if found else Parsed()


async def _told(check: Check, data: bytes) -> bytes:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-W", "ignore", problems.__file__, *check.words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={},
    )
    try:
        return (await process.communicate(data))[0]
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
