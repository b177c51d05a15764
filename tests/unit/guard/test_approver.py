"""An approver is asked in the middle of a call, and the same run goes on with its answer."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from handrail import Decision, Handrail, Outcome, Policy, Principal, Registry, Result, Rule, Tool, tool
from handrail.core.guard.approval_request import Reply
from handrail.ext.guard import approve, reject, respond
from handrail.ext.toolsets import StaticToolset
from handrail.testing import ScriptedApprover

AGENT = Principal(tenant="acme", user="ana", agent="ops")


def publishing(ran: list[str], text: str = "Publish a post.", **options: Any) -> Tool:
    @tool("posts.publish", **{"level": "write", "description": text, **options})
    async def publish(title: str, stars: int = 1) -> str:
        ran.append(title)
        return f"{title} is out."

    return publish


class Asked:
    """One call of a tool that asks, and everything that came of it."""

    def __init__(self, answer: Any, **options: Any) -> None:
        self.approver = ScriptedApprover(always=answer)
        self.options = options
        self.ran: list[str] = []
        self.events: list[str] = []
        self.out: Outcome

    async def go(self, args: Any = None) -> Outcome:
        async with Handrail([publishing(self.ran)], approver=self.approver, **self.options) as hr:
            given = args or {"title": "spring"}
            self.out = await hr.call("posts.publish", given, principal=AGENT, session="s1")
            self.events = [event.type for event in hr.log.read("acme")]
        return self.out


@pytest.mark.req("AP-04", "AP-05", "PM-03")
@pytest.mark.parametrize(
    "yes",
    [True, "approve", "approved", "Yes", "allow", approve(), Decision("allow"), Reply("approve")],
    ids=str,
)
async def test_a_yes_runs_the_call_as_it_was_asked(yes: Any) -> None:
    asked = Asked(yes)
    out = await asked.go()

    assert (out.status, out.result.data, asked.ran) == ("completed", "spring is out.", ["spring"])
    assert asked.events == ["tool.needs_approval", "tool.approved", "tool.started", "tool.completed"]
    assert out.approval_id == asked.approver.requests[0].id


@pytest.mark.req("AP-07", "AP-02")
@pytest.mark.parametrize(
    "no", [False, "reject", "rejected", "No", "deny", reject(), Decision("deny"), Reply("reject")], ids=str
)
async def test_a_no_refuses_the_call_and_nothing_runs(no: Any) -> None:
    asked = Asked(no)
    out = await asked.go()

    assert (out.status, out.code, asked.ran) == ("refused", "REJECTED", [])
    assert asked.events == ["tool.needs_approval", "tool.cancelled"]
    assert out.result.error == "A person rejected posts.publish."
    assert out.run_id is None


@pytest.mark.req("AP-07", "AP-02", "PM-25")
async def test_a_rejection_tells_the_model_the_reason_and_the_log_who_refused() -> None:
    asked = Asked(reject("drafts stay inside", by="bo"))
    out = await asked.go()

    assert (
        out.to_model() == '{"error":"A person rejected posts.publish: drafts stay inside","code":"REJECTED"}'
    )
    assert out.decision is not None
    assert (out.decision.verdict, out.decision.layer, out.decision.code) == ("deny", "approval", "REJECTED")


@pytest.mark.req("AP-03", "AP-08")
@pytest.mark.parametrize("undecided", [None, "ask", Decision("ask")], ids=str)
async def test_no_answer_leaves_the_call_pending(undecided: Any) -> None:
    asked = Asked(undecided)
    out = await asked.go()

    assert (out.status, out.code, asked.ran) == ("pending", "NEEDS_APPROVAL", [])
    assert asked.events == ["tool.needs_approval"]
    assert (out.run_id, out.approval_id) == (None, asked.approver.requests[0].id)


@pytest.mark.req("AP-05", "PM-25")
@pytest.mark.parametrize(
    "garbage",
    [
        5,
        "perhaps",
        "",
        {},
        {"approve": True},
        Decision("queue"),
        Reply("maybe"),  # type: ignore[arg-type]
        RuntimeError("the phone is off"),
    ],
    ids=str,
)
async def test_an_approver_that_fails_or_answers_nonsense_refuses(
    garbage: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "handrail.approval")
    asked = Asked(garbage)
    out = await asked.go()

    assert (out.status, out.code, asked.ran) == ("refused", "APPROVER_FAILED", [])
    assert asked.events == ["tool.needs_approval", "tool.failed"]
    assert "posts.publish" in (out.result.error or "")


@pytest.mark.req("AP-02")
async def test_a_person_can_answer_in_the_tools_place_and_the_body_never_runs() -> None:
    asked = Asked(respond("It was out already.", by="bo"))
    out = await asked.go()

    assert (out.status, out.result.data, asked.ran) == ("completed", "It was out already.", [])
    assert out.result.metadata["answered_by"] == "bo"
    assert asked.events == ["tool.needs_approval", "tool.completed"]
    assert out.run_id is None


@pytest.mark.req("AP-02", "AP-07")
async def test_an_answer_in_the_tools_place_may_be_a_failure() -> None:
    asked = Asked(respond(Result.fail("the site is down", code="DOWN")))
    out = await asked.go()

    assert (out.status, out.code, asked.ran) == ("failed", "DOWN", [])
    assert asked.events == ["tool.needs_approval", "tool.failed"]


@pytest.mark.req("AP-02", "BY-16")
async def test_the_question_shows_tool_arguments_effect_and_repairs() -> None:
    asked = Asked(True)
    out = await asked.go({"title": "spring", "stars": "3"})
    [request] = asked.approver.requests

    assert (request.tool, dict(request.args)) == ("posts.publish", {"title": "spring", "stars": 3})
    assert (request.level, request.danger, request.by) == ("write", "moderate", "reviewer")
    assert request.reason == "Needs approval: it changes real data"
    assert [repair.path for repair in request.repairs] == ["stars"]
    assert (request.principal, request.call.id) == (AGENT, out.call_id)
    assert (request.status, request.expires_at) == ("pending", None)


@pytest.mark.req("AP-02", "BY-04", "AP-09")
async def test_edits_replace_the_arguments_and_only_they_run() -> None:
    asked = Asked(approve(by="bo", edits={"title": "Spring"}))
    out = await asked.go({"title": "spring", "stars": 5})

    assert (out.status, asked.ran) == ("completed", ["Spring"])


@pytest.mark.req("AP-02", "BY-04")
async def test_the_log_says_what_was_proposed_what_ran_and_that_it_was_edited() -> None:
    async def approver(request):
        return approve(by="bo", edits={"title": "Spring"})

    async with Handrail([publishing([])], approver=approver) as hr:
        await hr.call("posts.publish", {"title": "spring", "stars": 5}, principal=AGENT)
        needs, approved, started, _ = (event.payload() for event in hr.log.read("acme"))

    assert needs["input"] == {"title": "spring", "stars": 5}
    assert (approved["input"], approved["edited"], approved["by"]) == ({"title": "Spring"}, True, "bo")
    assert started["input"] == {"title": "Spring"}


@pytest.mark.req("BY-04", "IV-01")
@pytest.mark.parametrize(
    ("edits", "code"),
    [({}, "MISSING_PARAM"), ({"title": ["x"]}, "INVALID_PARAM"), ({"title": "x", "to": 1}, "INVALID_PARAM")],
)
async def test_edits_are_validated_like_any_arguments(edits: dict[str, Any], code: str) -> None:
    asked = Asked(approve(edits=edits))
    out = await asked.go()

    assert (out.status, out.code, asked.ran) == ("refused", code, [])
    assert asked.events == ["tool.needs_approval", "tool.failed"]


@pytest.mark.req("BY-04")
async def test_what_a_rule_denies_stays_denied_when_a_reviewer_edits_it_in() -> None:
    rules = [Rule("posts.*", {"title": {"contains": "secret"}}, "deny", name="no secrets")]
    asked = Asked(approve(edits={"title": "a secret"}), policy=Policy(rules=rules))
    out = await asked.go()

    assert (out.status, out.code, asked.ran) == ("refused", "NOT_PERMITTED", [])
    assert out.decision is not None and out.decision.rule == "no secrets"


@pytest.mark.req("BY-04")
async def test_an_approved_call_is_not_asked_a_second_time() -> None:
    rules = [Rule("posts.*", {"title": {"prefix": "S"}}, "ask")]
    asked = Asked(approve(edits={"title": "Spring"}), policy=Policy(rules=rules))
    out = await asked.go()

    assert (out.status, len(asked.approver.requests)) == ("completed", 1)


@pytest.mark.req("BY-04", "AP-09")
async def test_an_approver_that_changes_the_question_changes_nothing_that_runs() -> None:
    def meddling(request: Any) -> bool:
        request.args["title"] = "summer"
        return True

    asked = Asked(meddling)
    out = await asked.go()

    assert (out.status, asked.ran) == ("completed", ["spring"])


@pytest.mark.req("AP-05", "CX-07")
@pytest.mark.parametrize("late", [True, None, RuntimeError("interrupted")], ids=str)
async def test_an_answer_to_a_call_that_was_cancelled_meanwhile_comes_too_late(late: Any) -> None:
    ran: list[str] = []
    asked = asyncio.Event()

    async def stubborn(request):
        asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if isinstance(late, Exception):
                raise late from None
        return late

    async with Handrail([publishing(ran)], approver=stubborn) as hr:
        task = asyncio.create_task(hr.call("posts.publish", {"title": "spring"}, principal=AGENT, id="c1"))
        await asked.wait()
        await hr.cancel("c1")
        out = await task
        assert await hr.approvals.list(Principal(tenant="acme", user="bo")) == []

    assert (out.status, out.code, ran) == ("cancelled", "CANCELLED", [])


async def approved_while(change: Any, tools: Any = None, **options: Any) -> tuple[Outcome, list[str]]:
    """A call that is approved after the registry was changed under it."""
    ran: list[str] = []
    registry = Registry([publishing(ran)])

    async def approver(request):
        change(registry, ran)
        return True

    async with Handrail(tools or [], registry=registry, approver=approver, **options) as hr:
        return await hr.call("posts.publish", {"title": "spring"}, principal=AGENT), ran


@pytest.mark.req("BY-04", "AP-09")
async def test_a_tool_that_changed_while_the_approver_thought_is_stale() -> None:
    def change(registry: Registry, ran: list[str]) -> None:
        registry.register(publishing(ran, "Publish a post to everybody."), replace=True)

    out, ran = await approved_while(change)
    assert (out.status, out.code, ran) == ("refused", "STALE_TOOL", [])


@pytest.mark.req("BY-04", "AP-09")
@pytest.mark.parametrize(
    ("before", "after", "code"), [("moderate", "dangerous", "STALE_TOOL"), ("dangerous", "safe", None)]
)
async def test_a_call_that_became_graver_than_what_was_approved_is_stale(
    before: str, after: str, code: str | None
) -> None:
    ran: list[str] = []
    danger = [before]

    async def approver(request):
        danger[0] = after
        return True

    tools = [publishing(ran, level=None, danger=lambda args: danger[0])]
    async with Handrail(tools, approver=approver) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)

    assert (out.code, bool(ran)) == (code, code is None)


@pytest.mark.req("BY-04")
@pytest.mark.parametrize("toolset", [[], [StaticToolset([])]])
async def test_a_tool_that_was_unregistered_while_the_approver_thought_is_not_found(toolset: Any) -> None:
    def change(registry: Registry, ran: list[str]) -> None:
        registry.unregister("posts.publish")

    out, ran = await approved_while(change, toolset)
    assert (out.status, out.code, ran) == ("refused", "TOOL_NOT_FOUND", [])


@pytest.mark.req("BY-04", "PM-18")
@pytest.mark.parametrize(
    ("now", "code"),
    [({"requires": "posts.publish"}, "NOT_PERMITTED"), ({"tenants": ["b"]}, "TOOL_NOT_FOUND")],
)
async def test_authority_is_checked_again_after_the_approval(now: dict[str, Any], code: str) -> None:
    def change(registry: Registry, ran: list[str]) -> None:
        registry.register(publishing(ran, **now), replace=True)

    out, ran = await approved_while(change)
    assert (out.status, out.code, ran) == ("refused", code, [])


@pytest.mark.req("BY-04")
async def test_a_tool_that_was_replaced_by_an_equal_one_runs_as_it_is_now() -> None:
    def change(registry: Registry, ran: list[str]) -> None:
        registry.register(publishing(ran), replace=True)

    out, ran = await approved_while(change)
    assert (out.status, ran) == ("completed", ["spring"])


@pytest.mark.req("PM-17", "BY-04")
async def test_a_tool_that_was_hidden_while_the_approver_thought_stays_hidden() -> None:
    registry = Registry([publishing([])])

    async def approver(request):
        registry.register(publishing([], tenants=["globex"]), replace=True)
        return True

    async with Handrail(registry=registry, approver=approver) as hr:
        outs = [await hr.call("posts.publish", {"title": "spring"}, principal=AGENT) for _ in range(2)]
    async with Handrail() as without:
        unknown = await without.call("posts.publish", {"title": "spring"}, principal=AGENT)

    assert [out.result for out in outs] == [unknown.result, unknown.result]
