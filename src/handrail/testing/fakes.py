"""FakeClock: a clock that a test advances. ScriptedApprover: a reviewer with prepared answers."""

from __future__ import annotations

from typing import Any

from handrail.core.clock import Clock
from handrail.core.errors import UsageError
from handrail.core.guard.approval_request import ApprovalRequest


class FakeClock(Clock):
    """Time of day and ticks in one; `Handrail(clock=...)` takes it, and `turn` lets seconds pass."""

    _hand: list[float]

    def __init__(self, at: float = 1_000.0) -> None:
        hand = [at]
        super().__init__(now=lambda: hand[0], ticks=lambda: hand[0])
        object.__setattr__(self, "_hand", hand)

    def turn(self, seconds: float) -> float:
        """Let so many seconds pass; the new time."""
        if seconds < 0:
            raise UsageError("A clock only goes forward. Make another one that begins earlier.")
        self._hand[0] += seconds
        return self._hand[0]


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
