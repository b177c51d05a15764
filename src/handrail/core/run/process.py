"""A body in a process of its own: named by import path, stoppable by force."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from handrail.core.define.context import Context
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.guard.decide import as_mapping
from handrail.core.run.child import from_portable

_START = "from handrail.core.run.child import main; main()"
_ERROR_TAIL = 2_000
_LINE_LIMIT = 64 * 1024 * 1024


class ProcessDied(Exception):
    """The body's process ended without an answer."""


async def in_process(tool: Tool, values: Any, ctx: Context, grace: float) -> Any:
    """The body's value, from a process that is gone, with all its children, when this returns."""
    assert tool.body is not None
    reader, writer = os.pipe()
    request = {
        "channel": writer,
        "module": tool.body.fn.__module__,
        "tool": tool.id,
        "args": dict(as_mapping(values)),
        "context": _facts(ctx),
    }
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            _START,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(writer,),
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    try:
        return await _converse(process, reader, request, tool, ctx)
    finally:
        await asyncio.shield(_stop(process, grace))


async def _converse(
    process: asyncio.subprocess.Process, reader: int, request: dict[str, Any], tool: Tool, ctx: Context
) -> Any:
    assert process.stdin is not None and process.stderr is not None
    lines = asyncio.StreamReader(limit=_LINE_LIMIT)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(lines), os.fdopen(reader, "rb")
    )
    errors = asyncio.create_task(_tail(process.stderr))
    try:
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(json.dumps(request).encode())
            await process.stdin.drain()
            process.stdin.close()
        async for line in lines:
            told = json.loads(line)
            if "progress" in told:
                ctx.metadata(told["progress"])
            elif "chunk" in told:
                ctx.append_output(told["chunk"])
            elif "error" in told:
                raise ToolError(told["error"], code=told["code"])
            else:
                return from_portable(told["result"])
        code = await process.wait()
        said = (await errors).strip()
        raise ProcessDied(
            f"The process of {tool.id} ended ({_how(code)}) before it answered."
            + (f" It said: {said}" if said else "")
        )
    finally:
        transport.close()
        errors.cancel()
        with suppress(asyncio.CancelledError):
            await errors


async def _tail(stream: asyncio.StreamReader) -> str:
    """The end of what the process printed; all of it is read, so that printing never blocks."""
    kept = b""
    while piece := await stream.read(65_536):
        kept = (kept + piece)[-_ERROR_TAIL:]
    return kept.decode(errors="replace")


async def _stop(process: asyncio.subprocess.Process, grace: float) -> None:
    """End the process and everything it started: asked first, by force after the grace."""
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), grace)
    _signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def _signal_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _how(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _facts(ctx: Context) -> dict[str, Any]:
    names = (
        "tenant_id organization_id tenant user_id user agent_id agent workspace_id workspace session_id "
        "message_id turn source call_id tool_call_id run_id idempotency_key"
    )
    facts = {name: getattr(ctx, name) for name in names.split()}
    return {**facts, "permissions": sorted(ctx.permissions), "capabilities": sorted(ctx.capabilities)}
