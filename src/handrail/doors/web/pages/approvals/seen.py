"""seen_mark: the mark by which a form says what was shown."""

from __future__ import annotations

from typing import Any

from handrail.core.define.schema import digest_of
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
