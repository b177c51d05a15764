"""The other end of a body in a process of its own.

Reads one line of JSON from the channel it was given, then writes lines to it: that the body began, progress,
chunks, and at last the result or an error. What the body prints is not part of that.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import inspect
import json
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from pydantic_core import PydanticSerializationError, to_jsonable_python

from handrail.core.define import context
from handrail.core.define.call import BoundCall, Outcome
from handrail.core.define.constructors import BaseTool, initialise
from handrail.core.define.context import Context
from handrail.core.define.principal import Principal
from handrail.core.define.result import Attachment, Result, ToolResponse
from handrail.core.define.signal import Signal
from handrail.core.define.tool import InitContext, Tool
from handrail.core.errors import ToolError, class_name

T = TypeVar("T")

_CALL = ("tool", "source", "session", "id", "turn", "idempotency_key", "message", "parent", "depth")


class Interrupted(BaseException):
    """The other end asked the body to stop."""


def facts_of(ctx: Context) -> dict[str, Any]:
    """What of a context goes to the other process: identity, and nothing that is alive."""
    facts = {
        "call": {name: getattr(ctx._call, name) for name in _CALL},
        "principal": ctx.principal.to_dict(),
        "run_id": ctx.run_id,
        "capabilities": ctx.capabilities,
    }
    return dict(to_jsonable_python(facts))


class Remote:
    """The call as its body sees it from here: state and host of its context."""

    extra: Mapping[str, Any] = {}

    def __init__(self, facts: Mapping[str, Any], channel: socket.socket) -> None:
        self.call = BoundCall(principal=Principal.from_dict(facts["principal"]), **facts["call"])
        self.next_run_id: str = facts["run_id"]
        self.granted = frozenset(facts["capabilities"])
        self.signal = Signal()
        self._channel = channel
        self._lock = threading.Lock()

    @property
    def host(self) -> Remote:
        return self

    def write(self, message: Mapping[str, Any]) -> None:
        line = json.dumps(to_jsonable_python(message)).encode() + b"\n"
        with self._lock:
            self._channel.sendall(line)

    def interrupt(self, *_: object) -> NoReturn:
        self.signal.abort("the call was interrupted")
        raise Interrupted

    def progress(self, ctx: Context, data: Mapping[str, Any]) -> None:
        self.write({"progress": data})

    def append_output(self, ctx: Context, text: str) -> None:
        if not isinstance(text, str):
            raise ToolError(f"append_output takes text, not {type(text).__name__}.")
        self.write({"chunk": text})

    def secret(self, ctx: Context, name: str) -> str:
        return _not_here("secrets")

    async def nested(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome:
        return _not_here("nested calls")

    def nested_and_wait(self, ctx: Context, tool: str, args: Mapping[str, Any] | None) -> Outcome:
        return _not_here("nested calls")

    async def in_thread(self, ctx: Context, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)

    async def page(self, ctx: Context, handle: str, offset: int, limit: int | None) -> str:
        return _not_here("earlier results")

    async def search(self, ctx: Context, words: str, limit: int) -> NoReturn:
        _not_here("other tools")

    async def describe(self, ctx: Context, name: str) -> NoReturn:
        _not_here("other tools")


def _not_here(what: str) -> NoReturn:
    raise ToolError(f"A body in a process of its own has no {what}; take isolation from the tool.")


def main() -> None:
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        channel.set_inheritable(False)
        request = json.loads(channel.makefile("rb").readline())
        remote = Remote(request["facts"], channel)
        signal.signal(signal.SIGTERM, remote.interrupt)
        threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
        with suppress(Interrupted, BrokenPipeError):
            remote.write(_answer(request, remote))


def _end_with(channel: socket.socket) -> None:
    """Nobody is left to have the answer when the other end closes: end, with all that was started here."""
    with suppress(OSError):
        channel.recv(1)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _answer(request: Mapping[str, Any], remote: Remote) -> dict[str, Any]:
    try:
        tool = find(request["module"], request["tool"], request["function"])
        if not tool.ready:
            tool = asyncio.run(initialise(tool, InitContext(request["working_dir"])))
        values = tool.validate(request["args"])
        remote.write({"began": True})
        value = _run(tool, values, Context(remote))
    except ToolError as error:
        return {"error": str(error), "code": error.code, "retry_after": error.retry_after}
    except (Exception, SystemExit, asyncio.CancelledError) as error:
        traceback.print_exc()
        return {"error": words_of(error), "classes": [class_name(kind) for kind in type(error).__mro__]}
    try:
        return {"result": to_jsonable_python(to_portable(value))}
    except (PydanticSerializationError, RecursionError, ValueError) as error:
        message = f"The tool {tool.id} ran, but its output cannot be written as JSON: {error}."
        return {"error": message, "code": "INVALID_OUTPUT"}


def words_of(error: BaseException) -> str:
    """What an exception of a body has to say."""
    if isinstance(error, SystemExit):
        return f"The body called exit ({error.code})."
    try:
        return str(error) or "Unknown error"
    except Exception:  # its own `__str__` failed
        return "Unknown error"


def _run(tool: Tool, values: Any, ctx: Context) -> Any:
    if tool.body is None:
        raise LookupError(f"{tool.id} has no body to run")
    context.enter(ctx)
    value = tool.body.call(values, ctx)
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def find(module: str, tool_id: str, function: str) -> Tool:
    """The tool that a module has at its top: by its id, or by its function if it was renamed since."""
    try:
        top = list(vars(importlib.import_module(module)).values())
    except Exception as error:
        raise ToolError(f"{module} cannot be imported in a process of its own: {error!r}.") from error
    tools = [value for value in top if isinstance(value, (Tool, BaseTool))]
    classes = [value for value in top if isinstance(value, type) and issubclass(value, BaseTool)]
    candidates: list[ToolSource] = [*tools, *classes]
    named = [value for value in candidates if _id_of(value) == tool_id]
    for value in named or [value for value in candidates if _function_of(value) == function]:
        return _tool_of(value)
    raise ToolError(
        f"{module} has no tool {tool_id!r} at its top level, so it cannot run in a process of its own."
    )


ToolSource = Tool | BaseTool | type[BaseTool]


def _id_of(definition: ToolSource) -> str:
    return definition.id if isinstance(definition, Tool) else BaseTool._id_of(definition)


def _function_of(definition: ToolSource) -> str | None:
    if isinstance(definition, Tool):
        return None if definition.body is None else definition.body.fn.__qualname__
    return definition.execute.__qualname__


def _tool_of(definition: ToolSource) -> Tool:
    if isinstance(definition, type):
        return definition.tool()
    return definition if isinstance(definition, Tool) else definition.as_tool()


def to_portable(value: Any) -> Any:
    """A returned value as JSON data, a Result with its attachments included."""
    if isinstance(value, ToolResponse):
        value = value.to_result()
    if not isinstance(value, Result):
        return {"value": value}
    attachments = [
        {
            "mime": attachment.mime,
            "name": attachment.name,
            "ref": attachment.ref,
            "data": None if attachment.data is None else base64.b64encode(attachment.data).decode(),
        }
        for attachment in value.attachments
    ]
    return {"result": {**value.to_dict(), "attachments": attachments}}


def from_portable(message: Mapping[str, Any]) -> Any:
    """What `to_portable` was given."""
    if "result" not in message:
        return message["value"]
    fields = dict(message["result"])
    fields["attachments"] = tuple(
        Attachment(**{**part, "data": None if part["data"] is None else base64.b64decode(part["data"])})
        for part in fields["attachments"]
    )
    return Result(**fields)
