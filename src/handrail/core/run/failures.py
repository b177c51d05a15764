"""What is said of a body that failed, was interrupted, or whose process is gone."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.redaction import MASK, redact_values
from handrail.core.define.result import Attachment, Result
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError, UnknownOutcome
from handrail.core.guard.idempotency import key_id
from handrail.core.guard.risk import is_repeatable
from handrail.core.run import refusals
from handrail.core.run.call_state import CallState, new_call_state
from handrail.core.run.process import ProcessDied
from handrail.core.run.process_child import words_of
from handrail.core.run.runtime import Runtime
from handrail.core.tell.events import ToolStarted

_log = logging.getLogger("handrail.run")
_UNHEEDED = " It did not heed the interruption: its effect may have happened, or still happen."


def failed(state: CallState, tool: Tool, values: Any, error: BaseException) -> Outcome:
    """The body raised, or its process died under it."""
    hidden = state.hidden
    if isinstance(error, (ProcessDied, UnknownOutcome)):
        began = isinstance(error, UnknownOutcome) or error.began
        if began and not is_repeatable(tool, values, state.key is not None):
            unknown = refusals.unknown_outcome(redact_values(f"{error}", hidden))
            return state.fail(unknown.status, unknown.result)
        _free_key(state)
    code, metadata = "TOOL_FAILED", {}
    if isinstance(error, ToolError):
        code = error.code
        if error.retry_after is not None:
            metadata["retry_after"] = error.retry_after
    else:
        # a traceback would show what the body was given in confidence
        _log.info("tool %s raised %s", tool.id, type(error).__name__, exc_info=None if hidden else error)
    message = redact_values(words_of(error), hidden)
    result = Result.fail(message, code=code, summary=f"{tool.name} failed", metadata=metadata)
    return state.fail("failed", result)


def _free_key(state: CallState) -> None:
    """Under the same key it may run again: nothing happened, or twice is as good as once."""
    if state.key is not None:
        state.runtime.keys.release(state.key)
        state.key = None


def interrupted(state: CallState, ignored: bool = False) -> Outcome:
    """The call was cancelled or ran out of time."""
    if state.stray is not None:
        ignored = True
        state.keep_claim_until(state.stray)
    tool, perhaps_done = state.tool, ignored or state.finished
    keyed = state.key is not None
    if perhaps_done and tool is not None and not is_repeatable(tool, state.values, keyed):
        state.doubt()
    metadata = {**state.evidence, "ignored": True} if ignored else state.evidence
    unheeded = _UNHEEDED if ignored else ""
    if state.ending == "timeout":
        error = f"{state.tool_id} {state.reason}.{unheeded}"
        summary = f"{state.tool_id} took too long"
        return state.fail("failed", Result.fail(error, code="TIMEOUT", summary=summary, metadata=metadata))
    reason = state.reason or "the caller was cancelled"
    error = f"Cancelled: {reason}.{unheeded}"
    result = Result.fail(error, code="CANCELLED", summary="Cancelled", metadata=metadata)
    return state.end_cancelled("cancelled", result)


async def stopped(state: CallState, ignored: bool = False) -> Outcome:
    """The end of a call whose interruption was not heeded where it arrived.

    The cancellation that may still be under way is taken in; one that somebody else sent is passed on.
    """
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(0)
    ours = state.take_back()
    if not ours:
        state.ending = None
    outcome = interrupted(state, ignored)
    if not ours:
        raise asyncio.CancelledError
    return outcome


def without_secrets(result: Result, secrets: set[str]) -> Result:
    """The result with none of the secrets in it that the body was given."""
    return Result(
        result.success,
        redact_values(result.data, secrets),
        redact_values(result.summary, secrets),
        redact_values(result.markdown, secrets),
        redact_values(result.error, secrets),
        result.code,
        redact_values(result.title, secrets),
        redact_values(result.metadata, secrets),
        redact_values(result.output, secrets),
        tuple(_clean(attachment, secrets) for attachment in result.attachments),
    )


def _clean(attachment: Attachment, secrets: set[str]) -> Attachment:
    data = attachment.data
    if data is not None:
        for secret in secrets:
            data = data.replace(secret.encode(), MASK.encode())
    name, ref = redact_values(attachment.name, secrets), redact_values(attachment.ref, secrets)
    return Attachment(attachment.mime, name, data, ref)


def recover(started: ToolStarted, repeatable: bool, runtime: Runtime) -> Outcome:
    """Whoever waits for the call learns that nobody will end it, and whether it may be made again."""
    call = started.call
    state = new_call_state(call, dict(started.input), runtime)
    state.tool = runtime.registry.get(started.tool)
    state.run_id = started.run_id
    state.body_began = not repeatable
    if call.idempotency_key is not None:
        state.key = key_id(call.principal, call.idempotency_key)
    if not repeatable:
        unknown = refusals.unknown_outcome(f"{started.tool} began, and its process was gone before it ended.")
        return state.fail(unknown.status, unknown.result)
    error = f"The process that ran {started.tool} was gone before it ended. It may be called again."
    state.key = None  # who comes with it learns that it is free from how the call ended; or has it already
    return state.fail(
        "failed", Result.fail(error, code="INTERRUPTED", summary=f"{started.tool} was interrupted")
    )
