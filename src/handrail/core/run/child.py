"""The other end of a body in a process of its own.

Reads one JSON object from standard input; writes JSON lines (progress, chunk, result, error) to the channel
it names. What the body prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from handrail.core.define.result import Attachment, Result
from handrail.core.define.styles import BaseTool
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError


class ChildContext:
    """What a body in a process of its own has of its context: identity, progress and output."""

    def __init__(self, facts: Mapping[str, Any], write: Callable[[Mapping[str, Any]], None]) -> None:
        self.__dict__.update(facts)
        self._write = write

    def metadata(self, told: Mapping[str, Any] | None = None, /, **more: Any) -> None:
        self._write({"progress": {**(told or {}), **more}})

    def append_output(self, text: str) -> None:
        self._write({"chunk": text})


def main() -> None:
    request = json.loads(sys.stdin.read())
    with os.fdopen(request["channel"], "w", encoding="utf-8") as channel:

        def write(told: Mapping[str, Any]) -> None:
            channel.write(json.dumps(to_jsonable_python(told)) + "\n")
            channel.flush()

        sys.stdout = sys.stderr
        try:
            write({"result": to_portable(_run(request, write))})
        except Exception as error:
            code = error.code if isinstance(error, ToolError) else "TOOL_FAILED"
            write({"error": str(error) or type(error).__name__, "code": code})


def _run(request: Mapping[str, Any], write: Callable[[Mapping[str, Any]], None]) -> Any:
    tool = find(request["module"], request["tool"])
    assert tool.validate is not None and tool.body is not None
    value = tool.body.call(tool.validate(request["args"]), ChildContext(request["context"], write))
    if not inspect.isawaitable(value):
        return value

    async def awaited() -> Any:
        return await value

    return asyncio.run(awaited())


def find(module: str, tool_id: str) -> Tool:
    """The tool of that id that a module defines at its top."""
    for found in list(vars(importlib.import_module(module)).values()):
        if isinstance(found, type) and issubclass(found, BaseTool) and found is not BaseTool:
            found = found.tool()
        if isinstance(found, Tool) and found.id == tool_id:
            return found
    raise ToolError(
        f"{module} has no tool {tool_id!r} at its top level, so it cannot run in its own process."
    )


def to_portable(value: Any) -> Any:
    """A returned value as JSON data, a Result with its attachments included."""
    if not isinstance(value, Result):
        return {"value": value}
    attachments = [
        {
            "mime": one.mime,
            "name": one.name,
            "ref": one.ref,
            "data": None if one.data is None else base64.b64encode(one.data).decode(),
        }
        for one in value.attachments
    ]
    return {"result": {**value.to_dict(), "attachments": attachments}}


def from_portable(told: Mapping[str, Any]) -> Any:
    """What `to_portable` was given."""
    if "result" not in told:
        return told["value"]
    fields = dict(told["result"])
    fields["attachments"] = tuple(
        Attachment(**{**one, "data": None if one["data"] is None else base64.b64decode(one["data"])})
        for one in fields["attachments"]
    )
    return Result(**fields)
