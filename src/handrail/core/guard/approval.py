"""Approval: the question put to a person, and the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from handrail.core.define.call import Call, Repair
from handrail.core.define.decision import Decision
from handrail.core.define.permission import Danger, Level
from handrail.core.define.principal import Principal
from handrail.core.define.result import Result
from handrail.core.errors import UsageError

RequestStatus = Literal["pending", "approved", "rejected", "responded", "expired", "withdrawn"]
"""withdrawn: the call was cancelled while it waited."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments as a record may hold them, and the fingerprint of the exact ones."""

    shown: Mapping[str, Any]
    """Secrets masked."""
    hash: str


@dataclass(frozen=True, slots=True)
class Vote:
    """One of the persons who must approve did so, for exactly these arguments."""

    user: str
    hash: str
    """Of the arguments that would run."""
    at: float


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One question: may exactly this tool run with exactly these arguments?"""

    id: str
    call: Call
    tool: str
    tool_digest: str
    args: Mapping[str, Any]
    """The exact arguments, secrets masked."""
    args_hash: str
    level: Level
    danger: Danger
    decision: Decision
    created_at: float
    expires_at: float | None = None
    repairs: tuple[Repair, ...] = ()
    raw: Any = field(default=None, repr=False)
    """The arguments as they were sent, for the run after the answer."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """What an outer body was told in confidence: masked in every record of the call."""
    preview: str | None = None
    """What the call would have changed when it was asked, if its tool says so."""
    quorum: int = 1
    """How many persons must approve."""
    four_eyes: bool = False
    """Whether whoever is behind the call cannot be one of them."""
    status: RequestStatus = "pending"
    votes: tuple[Vote, ...] = ()
    """Who has approved so far."""
    decided_by: str | None = None
    """Whose word ended it."""
    decided_at: float | None = None
    answer: Reply | None = None
    edited: Arguments | None = None
    """What the reviewer wrote in the place of the proposed arguments."""
    effective: Arguments | None = None
    """What runs, once it is approved."""

    @property
    def reason(self) -> str:
        return self.decision.reason

    @property
    def by(self) -> str | None:
        """Who may answer: a reviewer, or the calling person at once."""
        return self.decision.by

    @property
    def principal(self) -> Principal:
        assert self.call.principal is not None
        return self.call.principal

    def is_late(self, now: float) -> bool:
        """Whether the time to answer is over."""
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer."""

    verdict: Literal["approve", "reject", "respond"]
    by: str | None = None
    edits: Mapping[str, Any] | None = field(default=None, repr=False)
    """With approve: the whole arguments to run with instead."""
    reason: str | None = None
    result: Result | None = None
    """With respond: the answer given in the tool's place."""
    for_session: bool = False
    """With approve: the same tool need not ask again in this session (write level only)."""
    edited: Arguments | None = None
    effective: Arguments | None = None
    """With approve: what was written and what will run, as Handrail read it for the record."""


def approve(
    *, by: str | None = None, edits: Mapping[str, Any] | None = None, for_session: bool = False
) -> Reply:
    """Yes, as asked or with other arguments."""
    return Reply("approve", by, edits, for_session=for_session)


def reject(reason: str | None = None, *, by: str | None = None) -> Reply:
    """No."""
    return Reply("reject", by, reason=reason)


def respond(result: Any, *, by: str | None = None) -> Reply:
    """Do not run it; this is the answer."""
    return Reply("respond", by, result=result if isinstance(result, Result) else Result(data=result))


Approver = Callable[[ApprovalRequest], Awaitable[Any]]
"""Asked in the middle of a call. A reply goes on with the same run; None leaves it pending."""

_VERDICTS = frozenset({"approve", "reject", "respond"})
_YES = frozenset({"approve", "approved", "allow", "yes"})
_NO = frozenset({"reject", "rejected", "deny", "denied", "no"})


def read_reply(answer: Any) -> Reply | None:
    """What an approver returned, as a Reply: also True and False, a word, or a Decision."""
    if answer is None or (isinstance(answer, Reply) and answer.verdict in _VERDICTS):
        return answer
    if isinstance(answer, bool):
        return Reply("approve" if answer else "reject")
    reason: str | None = None
    word = answer
    if isinstance(answer, Decision):
        word, reason = answer.verdict, answer.reason or None
    if isinstance(word, str):
        if word.lower() in _YES:
            return Reply("approve", reason=reason)
        if word.lower() in _NO:
            return Reply("reject", reason=reason)
        if word == "ask":
            return None
    raise UsageError(f"The approver returned {answer!r}. Return approve(), reject(), respond() or None.")
