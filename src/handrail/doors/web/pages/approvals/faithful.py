"""faithful: whether what a card shows is what would run, and the mark by which a form says what was shown."""

from __future__ import annotations

from typing import Any

from handrail.core.define.schema import digest_of
from handrail.core.define.secrecy import masked, scrubbed
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval import ApprovalRequest


def seen_mark(request: ApprovalRequest) -> str:
    """What a page showed of a question, as one word. Another one means that it was something else."""
    shown: list[Any] = [
        request.id,
        request.tool,
        request.tool_digest,
        request.args_hash,
        dict(request.args),
        request.level,
        request.danger,
        [request.quorum, request.four_eyes],
        [request.principal.user, request.principal.agent, request.call.source],
    ]
    return digest_of(shown)


def is_faithful(request: ApprovalRequest, tool: Tool) -> bool:
    """Whether the arguments on the card are those that are kept for the run, but for masked secrets.

    The card is drawn from what stands in the open, the run is made of what is sealed: whoever changes one of
    them in the database must not get a yes for the other.
    """
    for repairing in (True, False):
        kept = admit(tool, request.raw, request.call.tool, repairing)
        if isinstance(kept, Admitted) and digest_of(kept.args) == request.args_hash:
            shown = scrubbed(masked(kept.args, tool.secrets), request.secrets)
            return digest_of(shown) == digest_of(dict(request.args))
    return False
