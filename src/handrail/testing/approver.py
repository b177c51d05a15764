"""ScriptedApprover: a reviewer whose answers are written down beforehand."""

from __future__ import annotations

from typing import Any

from handrail.core.guard.approval import ApprovalRequest

_NOTHING = object()


class ScriptedApprover:
    """Give it to `Handrail(approver=...)`. It answers in order, and keeps what it was asked.

    An answer is what an approver may return: True, False, `approve(...)`, `reject(...)`, `respond(...)`, or
    None to leave the call pending. It may also be a function of the request, or an exception to raise.
    `always` is given once the others are used up; without it, one question too many is an error.
    """

    def __init__(self, *answers: Any, always: Any = _NOTHING) -> None:
        self.requests: list[ApprovalRequest] = []
        self.left = list(answers)
        """The answers that nobody has asked for yet."""
        self._always = always

    async def __call__(self, request: ApprovalRequest) -> Any:
        self.requests.append(request)
        answer = self.left.pop(0) if self.left else self._always
        if answer is _NOTHING:
            raise AssertionError(f"no answer is scripted for question {len(self.requests)}, {request.tool}")
        if isinstance(answer, BaseException):
            raise answer
        return answer(request) if callable(answer) else answer
