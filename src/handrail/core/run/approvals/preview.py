"""preview_call: what a call would change as things are, for the person who is asked whether it may."""

from __future__ import annotations

import asyncio
import inspect
import logging
from functools import partial
from typing import Any

from handrail.core.define.context import Context
from handrail.core.define.redaction import redact_values
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError
from handrail.core.run.call_state import CallState

_log = logging.getLogger("handrail.approval")
_LONGEST = 20_000


async def preview_call(state: CallState, tool: Tool, values: Any) -> str | None:
    """What the tool says of a call; also that it could not be done. The caller is told nothing of it.

    One that breaks says nothing: the question is asked without it.
    """
    if tool.preview is None:
        return None
    try:
        ask = partial(tool.preview, values, Context(state))
        is_async = inspect.iscoroutinefunction(tool.preview)
        text = await ask() if is_async else await asyncio.to_thread(ask)
    except Exception as error:
        if state.ending is not None:
            raise
        if not isinstance(error, ToolError):
            _log.exception("the preview of %s failed, so the question is asked without it", tool.id)
            return None
        text = f"As things are, it would fail: {error}"
    state.check()
    if not isinstance(text, str) or not text:
        return None
    shown: str = redact_values(text, state.hidden)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}\n… [the rest is left out]"
