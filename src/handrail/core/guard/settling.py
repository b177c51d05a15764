"""settle: what one more word makes of an open question. Pure, and the same for every book."""

from __future__ import annotations

from dataclasses import replace

from handrail.core.guard.approval import ApprovalRequest, Reply, RequestStatus, Vote


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
    edited, effective = (None, None) if reply is None else (reply.edited, reply.effective)
    return replace(
        request,
        status=status,
        decided_by=by,
        decided_at=now,
        answer=reply,
        edited=edited,
        effective=effective,
    )


def is_own(request: ApprovalRequest, by: str | None) -> bool:
    """Whether four eyes are wanted and these two are the requester's, or nobody knows whose."""
    return request.four_eyes and (by is None or by == request.principal.user)


def has_voted(request: ApprovalRequest, reply: Reply) -> bool:
    """Whether this person has approved these arguments before."""
    return any(vote.user == reply.by and vote.hash == _hash(request, reply) for vote in request.votes)


def _voted(request: ApprovalRequest, reply: Reply, now: float) -> tuple[Vote, ...] | None:
    """The votes for these arguments with this one; None when the person is unknown, or has given theirs."""
    if reply.by is None or has_voted(request, reply):
        return None
    same = [vote for vote in request.votes if vote.hash == _hash(request, reply)]
    return (*same, Vote(reply.by, _hash(request, reply), now))


def _hash(request: ApprovalRequest, reply: Reply) -> str:
    return request.args_hash if reply.effective is None else reply.effective.hash
