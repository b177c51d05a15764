"""guard.md: asking a person, in the middle of the call or later."""

import asyncio
import contextlib

from handrail import Context, Handrail, Principal, tool
from handrail.ext.guard import Conflict


@tool("posts.publish", level="write")
async def publish(title: str, *, ctx: Context) -> str:
    """Publish a post on the company's page, for everybody to read.

    Use it when the text is final, not for drafts. Look at it with posts.preview first.

    Args:
        title: The post's title.
    """
    return f"{title} is out."


agent = Principal(tenant="acme", user="ana", agent="ops")
ana = Principal(tenant="acme", user="ana", permissions={"approvals.decide"})
bo = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})


async def main() -> None:
    # region approver
    from handrail import ApprovalRequest
    from handrail.ext.guard import approve, reject, respond

    async def reviewer(request: ApprovalRequest) -> object:
        title = request.args["title"]
        if "draft" in title:
            return reject("drafts stay inside", by="bo")
        if title.islower():
            return approve(by="bo", edits={"title": title.capitalize()})
        if title == "Hello":
            return respond("It is already out.", by="bo")
        return None  # undecided: the call is pending

    async with Handrail([publish], approver=reviewer) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=agent)
        assert out.result.data == "Spring is out."
        out = await hr.call("posts.publish", {"title": "a draft"}, principal=agent)
        assert (out.status, out.code) == ("refused", "REJECTED")
        out = await hr.call("posts.publish", {"title": "Hello"}, principal=agent)
        assert (out.status, out.result.data) == ("completed", "It is already out.")
        out = await hr.call("posts.publish", {"title": "Summer"}, principal=agent)
        assert out.status == "pending"
    # endregion

    # region inbox
    async with Handrail([publish], approval_lifetime=24 * 3600) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=agent, session="s1")
        assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")

        [request] = await hr.approvals.list(ana)
        assert request.id == out.approval_id
        assert (request.tool, dict(request.args)) == ("posts.publish", {"title": "spring"})
        assert request.reason == "Needs approval: it changes real data"

        await hr.approvals.approve(request.id, by=ana, edits={"title": "Spring"})
        out = await hr.wait(out.call_id)
        assert out.result.data == "Spring is out."
        # endregion

        for who in (agent, ana):
            try:
                await hr.approvals.approve(request.id, by=who)
            except Conflict:
                continue
            raise AssertionError("an agent may not answer, and nobody may answer twice")

    # region quorum
    @tool("books.close", level="destructive", approvals=2, four_eyes=True)
    async def close_books(year: int) -> str:
        """Close the books of a year."""
        return f"{year} is closed."

    async with Handrail([close_books]) as hr:
        out = await hr.call("books.close", {"year": 2025}, principal=agent)
        assert out.approval_id is not None
        with contextlib.suppress(Conflict):  # Ana is behind the call
            await hr.approvals.approve(out.approval_id, by=ana)
        request = await hr.approvals.approve(out.approval_id, by=bo)
        assert (request.status, [vote.user for vote in request.votes]) == ("pending", ["bo"])
        cy = Principal(tenant="acme", user="cy", permissions={"approvals.decide"})
        request = await hr.approvals.approve(out.approval_id, by=cy)
        assert request.status == "approved"
        assert (await hr.wait(out.call_id)).result.data == "2025 is closed."
    # endregion

    # region standing
    async with Handrail([publish]) as hr:
        first = await hr.call("posts.publish", {"title": "Spring"}, principal=agent, session="s1")
        [request] = await hr.approvals.list(ana)
        await hr.approvals.approve(request.id, by=ana, for_session=True)
        await hr.wait(first.call_id)

        again = await hr.call("posts.publish", {"title": "Summer"}, principal=agent, session="s1")
        assert again.status == "completed"
        other = await hr.call("posts.publish", {"title": "Autumn"}, principal=agent, session="s2")
        assert other.status == "pending"
    # endregion
    assert again.decision is not None and again.decision.layer == "standing"

    for answer, status in ((True, "completed"), (False, "refused"), ("reject", "refused"), (None, "pending")):

        async def say(request: ApprovalRequest, answer: object = answer) -> object:
            return answer

        async with Handrail([publish], approver=say) as hr:
            assert (await hr.call("posts.publish", {"title": "x"}, principal=agent)).status == status


if __name__ == "__main__":
    asyncio.run(main())
