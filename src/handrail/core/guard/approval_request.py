"""ApprovalRequest: the question put to a person, the reply, and what one more reply makes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from handrail.core.define.call import BoundCall, Repair
from handrail.core.define.decision import Decision
from handrail.core.define.levels import Danger, Level
from handrail.core.define.principal import Principal
from handrail.core.define.redaction import mask_paths, redact_values
from handrail.core.define.result import Result
from handrail.core.define.schema import digest_of
from handrail.core.define.tool import Tool
from handrail.core.errors import UsageError
from handrail.core.guard.admit import Admitted, admit

RequestStatus = Literal["pending", "approved", "rejected", "responded", "expired", "withdrawn"]
"""withdrawn: the call was cancelled while it waited."""


@dataclass(frozen=True, slots=True)
class ShownArguments:
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
    call: BoundCall
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
    edited: ShownArguments | None = None
    """What the reviewer wrote in the place of the proposed arguments."""
    effective: ShownArguments | None = None
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
    edited: ShownArguments | None = None
    effective: ShownArguments | None = None
    """With approve: what was written and what will run, as Handrail read it for the record."""


@dataclass(frozen=True, slots=True)
class Grant:
    """A request and the reply to it, brought along by the run that resumes the call."""

    request: ApprovalRequest
    reply: Reply


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
    word, reason = answer, None
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


def settle(
    request: ApprovalRequest, status: RequestStatus, reply: Reply | None, now: float
) -> ApprovalRequest | None:
    """The question after the word: ended, or still pending with one more vote. None when it does not count.

    An approval needs as many persons as the tool says, all of them for the same arguments. One for other
    arguments begins to count anew, since nobody has agreed to those yet. A no, or an answer in the tool's
    place, ends the question at once: nothing runs by it.
    """
    if request.status != "pending" or request.is_late(now) != (status == "expired"):
        return None
    by = None if reply is None else reply.by
    if reply is not None and reply.verdict != "reject" and is_own(request, by):
        return None
    if status == "approved" and reply is not None and request.quorum > 1:
        votes = _voted(request, reply, now)
        if votes is None:
            return None
        request = replace(request, votes=votes)
        if len(votes) < request.quorum:
            return request
    ended = replace(request, status=status, decided_by=by, decided_at=now, answer=reply)
    return ended if reply is None else replace(ended, edited=reply.edited, effective=reply.effective)


def is_own(request: ApprovalRequest, by: str | None) -> bool:
    """Whether four eyes are wanted and these two are the requester's, or nobody knows whose."""
    return request.four_eyes and (by is None or by == request.principal.user)


def has_voted(request: ApprovalRequest, reply: Reply) -> bool:
    """Whether this person has approved these arguments before."""
    return (reply.by, _arguments_hash(request, reply)) in {(vote.user, vote.hash) for vote in request.votes}


def _voted(request: ApprovalRequest, reply: Reply, now: float) -> tuple[Vote, ...] | None:
    """The votes for these arguments with this one; None when the person is unknown, or has given theirs."""
    if reply.by is None or has_voted(request, reply):
        return None
    vote = Vote(reply.by, _arguments_hash(request, reply), now)
    return (*(other for other in request.votes if other.hash == vote.hash), vote)


def _arguments_hash(request: ApprovalRequest, reply: Reply) -> str:
    return request.args_hash if reply.effective is None else reply.effective.hash


def is_faithful(request: ApprovalRequest, tool: Tool) -> bool:
    """Whether tool and arguments that are shown are those that are kept for the run, but for masked secrets.

    What is shown stands in the open, the run is made of what is sealed: whoever changes one of them in the
    database must not get a yes for the other.
    """
    admitted = admit(tool, request.raw, request.call.tool) if tool.id == request.tool else None
    if not isinstance(admitted, Admitted) or digest_of(admitted.args) != request.args_hash:
        return False
    shown = redact_values(mask_paths(admitted.args, tool.secrets), request.secrets)
    return digest_of(shown) == digest_of(dict(request.args))
