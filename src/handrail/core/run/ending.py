"""Endings: what is said of a body that failed or was interrupted."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from handrail.core.define.call import Outcome
from handrail.core.define.result import Attachment, Result
from handrail.core.define.secrecy import MASK, scrubbed
from handrail.core.define.tool import Tool
from handrail.core.errors import ToolError, UnknownOutcome
from handrail.core.guard.axes import is_effectful
from handrail.core.run import refusal
from handrail.core.run.child import words_of
from handrail.core.run.process import ProcessDied
from handrail.core.run.tale import Tale

_log = logging.getLogger("handrail.run")

_UNHEEDED = " It did not heed the interruption: its effect may have happened, or still happen."


def failed(tale: Tale, tool: Tool, values: Any, error: BaseException) -> Outcome:
    """The body raised, or its process died under it."""
    hidden = tale.hidden
    if isinstance(error, (ProcessDied, UnknownOutcome)):
        began = isinstance(error, UnknownOutcome) or error.began
        if began and is_effectful(tool, values) and not tool.idempotent:
            unknown = refusal.unknown_outcome(scrubbed(f"{error}", hidden))
            return tale.fail(unknown.status, unknown.result)
        _free_key(tale)
    code, metadata = "TOOL_FAILED", {}
    if isinstance(error, ToolError):
        code = error.code
        if error.retry_after is not None:
            metadata["retry_after"] = error.retry_after
    else:
        # a traceback would show what the body was given in confidence
        _log.info("tool %s raised %s", tool.id, type(error).__name__, exc_info=None if hidden else error)
    said = scrubbed(words_of(error), hidden)
    result = Result.fail(said, code=code, summary=f"{tool.name} failed", metadata=metadata)
    return tale.fail("failed", result)


def _free_key(tale: Tale) -> None:
    """Under the same key it may run again: nothing happened, or twice is as good as once."""
    if tale.key is not None:
        tale.house.keys.release(tale.key)
        tale.key = None


def interrupted(tale: Tale, ignored: bool = False) -> Outcome:
    """The call was cancelled or ran out of time."""
    if tale.stray is not None:
        ignored = True
        tale.keep_claim_until(tale.stray)
    tool, perhaps_done = tale.tool, ignored or tale.finished
    if perhaps_done and tool is not None and not tool.idempotent and is_effectful(tool, tale.values):
        tale.doubt()
    metadata = {**tale.evidence, "ignored": True} if ignored else tale.evidence
    unheeded = _UNHEEDED if ignored else ""
    if tale.ending == "timeout":
        error = f"{tale.tool_id} {tale.reason}.{unheeded}"
        summary = f"{tale.tool_id} took too long"
        return tale.fail("failed", Result.fail(error, code="TIMEOUT", summary=summary, metadata=metadata))
    reason = tale.reason or "the caller was cancelled"
    error = f"Cancelled: {reason}.{unheeded}"
    result = Result.fail(error, code="CANCELLED", summary="Cancelled", metadata=metadata)
    return tale.call_off("cancelled", result)


async def stopped(tale: Tale, ignored: bool = False) -> Outcome:
    """The end of a call whose interruption was not heeded where it arrived.

    The cancellation that may still be under way is taken in; one that somebody else sent is passed on.
    """
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(0)
    ours = tale.take_back()
    if not ours:
        tale.ending = None
    outcome = interrupted(tale, ignored)
    if not ours:
        raise asyncio.CancelledError
    return outcome


def without_secrets(result: Result, secrets: set[str]) -> Result:
    """The result with none of the secrets in it that the body was given."""
    return Result(
        result.success,
        scrubbed(result.data, secrets),
        scrubbed(result.summary, secrets),
        scrubbed(result.markdown, secrets),
        scrubbed(result.error, secrets),
        result.code,
        scrubbed(result.title, secrets),
        scrubbed(result.metadata, secrets),
        scrubbed(result.output, secrets),
        tuple(_clean(attachment, secrets) for attachment in result.attachments),
    )


def _clean(attachment: Attachment, secrets: set[str]) -> Attachment:
    data = attachment.data
    if data is not None:
        for secret in secrets:
            data = data.replace(secret.encode(), MASK.encode())
    name, ref = scrubbed(attachment.name, secrets), scrubbed(attachment.ref, secrets)
    return Attachment(attachment.mime, name, data, ref)
