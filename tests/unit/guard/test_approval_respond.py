"""An answer in the tool's place keeps what the tool's output schema promises."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from handrail import Handrail, Principal, Result, tool
from handrail.ext.guard import Conflict, respond
from handrail.testing import ScriptedApprover

AGENT = Principal(tenant="acme", user="ana", agent="ops")
BO = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})


class Post(BaseModel):
    url: str
    stars: int = 0


@tool("posts.publish", level="write")
async def publish(title: str) -> Post:
    """Publish a post."""
    raise AssertionError("it waits for a person")


UNFIT: list[Any] = [
    "It is already out.",
    {"url": 3},
    {"stars": 1},
    [{"url": "/old"}],
    None,
    float("nan"),
    object(),
    Result(data={"stars": 1}, output="out"),
]
FIT: list[tuple[Any, Any]] = [
    ({"url": "/old"}, {"url": "/old", "stars": 0}),
    (Post(url="/old", stars=2), {"url": "/old", "stars": 2}),
    (Result(data={"url": "/old"}, summary="out"), {"url": "/old", "stars": 0}),
    (Result(output="It is already out."), None),
    (Result(summary="It is already out."), None),
    (Result(markdown="It is *out*."), None),
]


@pytest.mark.req("AP-02")
@pytest.mark.parametrize("answer", UNFIT, ids=lambda one: type(one).__name__)
async def test_an_unfit_answer_is_turned_down_and_the_question_stays_open(answer: Any) -> None:
    async with Handrail([publish]) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        assert out.approval_id is not None
        with pytest.raises(Conflict, match=r"in place of posts\.publish .*still open"):
            await hr.approvals.respond(out.approval_id, by=BO, result=answer)

        assert [one.id for one in await hr.approvals.list(BO)] == [out.approval_id]
        await hr.approvals.respond(out.approval_id, by=BO, result={"url": "/old"})
        assert (await hr.wait(out.call_id, 10)).ok


@pytest.mark.req("AP-02")
async def test_the_reviewer_reads_what_does_not_fit() -> None:
    async with Handrail([publish]) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        assert out.approval_id is not None
        with pytest.raises(Conflict, match=r"does not fit its output schema: url: .*string"):
            await hr.approvals.respond(out.approval_id, by=BO, result={"url": 3})


@pytest.mark.req("AP-02")
@pytest.mark.parametrize("answer", UNFIT, ids=lambda one: type(one).__name__)
async def test_an_approvers_unfit_answer_ends_the_call_in_words(answer: Any) -> None:
    async with Handrail([publish], approver=ScriptedApprover(always=respond(answer, by="bo"))) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)

    assert (out.status, out.code, out.result.data) == ("failed", "INVALID_OUTPUT", None)
    assert "The answer given in place of posts.publish" in (out.result.error or "")
    assert out.result.metadata["answered_by"] == "bo"


@pytest.mark.req("AP-02")
@pytest.mark.parametrize(("answer", "data"), FIT, ids=lambda one: type(one).__name__)
async def test_a_fit_answer_is_data_as_the_tool_gives_it_or_words_alone(answer: Any, data: Any) -> None:
    async with Handrail([publish]) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        assert out.approval_id is not None
        await hr.approvals.respond(out.approval_id, by=BO, result=answer)
        done = await hr.wait(out.call_id, 10)
        assert (done.status, done.result.data) == ("completed", data)

    async with Handrail([publish], approver=ScriptedApprover(always=respond(answer))) as hr:
        done = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        assert (done.status, done.result.data) == ("completed", data)


@pytest.mark.req("AP-02")
async def test_what_is_said_of_an_answer_is_said_to_persons_alone() -> None:
    async with Handrail([publish]) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        assert out.approval_id is not None
        with pytest.raises(Conflict, match="by a person"):
            await hr.approvals.respond(out.approval_id, by=AGENT, result={"url": 3})
