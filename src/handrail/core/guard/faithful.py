"""faithful: whether what a question shows is what would run."""

from __future__ import annotations

from handrail.core.define.schema import digest_of
from handrail.core.define.secrecy import masked, scrubbed
from handrail.core.define.tool import Tool
from handrail.core.guard.admit import Admitted, admit
from handrail.core.guard.approval import ApprovalRequest


def is_faithful(request: ApprovalRequest, tool: Tool) -> bool:
    """Whether the arguments that are shown are those that are kept for the run, but for masked secrets.

    What is shown stands in the open, the run is made of what is sealed: whoever changes one of them in the
    database must not get a yes for the other.
    """
    kept = admit(tool, request.raw, request.call.tool)
    if not isinstance(kept, Admitted) or digest_of(kept.args) != request.args_hash:
        return False
    shown = scrubbed(masked(kept.args, tool.secrets), request.secrets)
    return digest_of(shown) == digest_of(dict(request.args))
