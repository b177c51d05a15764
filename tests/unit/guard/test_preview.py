"""What a call would change is told to whoever must approve it, and to nobody else."""

from __future__ import annotations

import logging
import threading
from typing import Annotated, Any

import pytest
from pydantic import Field

from handrail import Context, Handrail, Policy, Principal, Tool, ToolError, tool
from handrail.core.run.approvals.inbox import is_reviewer
from handrail.ext.guard import approve
from handrail.testing import ScriptedApprover

AGENT = Principal(tenant="acme", user="ana", agent="ops")
BO = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
pytestmark = pytest.mark.req("AP-02", "AP-09")


def publishing(preview: Any, **options: Any) -> Tool:
    @tool("posts.publish", **{"level": "write", "preview": preview, **options})
    async def publish(
        title: str, pin: Annotated[str, Field(json_schema_extra={"writeOnly": True})] = ""
    ) -> str:
        """Publish a post."""
        return f"{title} is out."

    return publish


async def seen(preview: Any, policy: Policy | None = None, **args: str) -> list[str | None]:
    """What the person who is asked gets to see."""
    approver = ScriptedApprover(always=approve(by="bo"))
    async with Handrail([publishing(preview)], approver=approver, policy=policy) as hr:
        given = {"title": "spring", **args}
        out = await hr.call("posts.publish", given, principal=AGENT, session="s1")
        assert out.status == "completed", "whatever the preview does"
    return [one.preview for one in approver.requests]


async def test_it_is_made_of_the_arguments_and_the_context_outside_of_the_loop() -> None:
    here = threading.get_ident()

    def preview(args: Any, ctx: Context) -> str:
        assert threading.get_ident() != here
        return f"{ctx.user_id} would publish {args.title}"

    async def later(args: Any, ctx: Context) -> str:
        return f"{ctx.session_id}: {args.title}"

    assert await seen(preview) == ["ana would publish spring"]
    assert await seen(later) == ["s1: spring"]


async def test_it_is_not_made_where_nobody_is_asked() -> None:
    def preview(args: Any, ctx: Context) -> str:
        raise AssertionError

    assert await seen(preview, Policy(approval_mode="policy")) == []


async def test_a_call_that_could_not_be_done_is_told_to_the_person_and_not_to_the_caller() -> None:
    def preview(args: Any, ctx: Context) -> str:
        raise ToolError(f"There is no {args.title}.", code="NO_SUCH")

    assert await seen(preview) == ["As things are, it would fail: There is no spring."]
    async with Handrail([publishing(preview)]) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")
        assert "There is no" not in out.to_model()


@pytest.mark.parametrize("said", [None, "", 5, b"x"])
async def test_nothing_said_is_nothing_shown(said: Any) -> None:
    assert await seen(lambda args, ctx: said) == [None]


async def test_one_that_breaks_is_logged_and_the_question_asked_without_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        assert await seen(lambda args, ctx: 1 / 0) == [None]
    assert "the preview of posts.publish failed" in caplog.text


async def test_it_holds_no_secret_and_is_never_long() -> None:
    assert await seen(lambda args, ctx: f"pin {args.pin}!", pin="47114711") == ["pin •••!"]
    [said] = await seen(lambda args, ctx: "x" * 100_000)
    assert said is not None and len(said) < 20_100 and said.endswith("[the rest is left out]")


async def test_persons_who_may_answer_see_it_and_agents_do_not() -> None:
    async with Handrail([publishing(lambda args, ctx: "a diff")]) as hr:
        await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        [asked] = await hr.approvals.list(BO)
        assert asked.preview == "a diff"
    assert is_reviewer(BO, asked)
    nobody = Principal(tenant="acme", permissions={"approvals.decide"})
    service = Principal(tenant="acme", user="bo", permissions={"approvals.decide"}, key="service")
    for other in (AGENT, BO.spawn("writer"), Principal(tenant="acme", user="cy"), nobody, service):
        assert not is_reviewer(other, asked)


def test_what_is_no_function_is_no_preview() -> None:
    with pytest.raises(Exception, match="its preview is 'x', which cannot be called"):
        publishing("x")
