"""edits: what would run after a reviewer's yes, read by the tool of this moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from handrail.core.define.call import FieldError
from handrail.core.define.json_values import NotJson, copy_object
from handrail.core.define.redaction import mask_paths, redact_values, restore_masked
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval_request import ApprovalRequest, Reply, ShownArguments


def effective_arguments(
    tool: Tool, given: Admitted, reply: Reply, repairing: bool
) -> Admitted | tuple[FieldError, ...]:
    """What will run: the reviewer's edits or the arguments as approved."""
    if reply.edits is not None:
        edits = restore_masked(reply.edits, given.args)
        return admit(tool, edits, None, repairing)
    again = admit(tool, given.args, None, repairing)
    return Admitted(again.args, again.values, given.repairs) if isinstance(again, Admitted) else again


def reply_for_record(
    request: ApprovalRequest, reply: Reply, tool: Tool | None, repairing: bool
) -> Reply | tuple[FieldError, ...]:
    """An approval with its arguments for the record: as written, and as they will run. Or what is wrong.

    Where the tool is gone or another one, nothing will run, and nothing of what was written is shown: nobody
    knows what in it is secret.
    """
    if reply.verdict != "approve":
        return reply
    if reply.edits is None:
        return replace(reply, effective=ShownArguments(request.args, request.args_hash))
    try:
        edits = copy_object(reply.edits)
    except NotJson as error:
        return (FieldError(error.path, error.reason),)
    reply = replace(reply, edits=edits)
    known = None if tool is None or tool.digest != request.tool_digest else tool
    given = None if known is None else admit(known, request.raw, request.call.tool, repairing)
    if known is None or not isinstance(given, Admitted):
        unknown = ShownArguments({}, digest_of(edits))
        return replace(reply, edited=unknown, effective=unknown)
    runs = effective_arguments(known, given, reply, repairing)
    if not isinstance(runs, Admitted):
        return runs
    edited = _shown(edits, known.secrets, request)
    return replace(reply, edited=edited, effective=_shown(runs.args, known.secrets, request))


def _shown(args: Mapping[str, Any], secrets: Iterable[str], request: ApprovalRequest) -> ShownArguments:
    shown: dict[str, Any] = redact_values(mask_paths(args, secrets), request.secrets)
    return ShownArguments(shown, digest_of(args))
