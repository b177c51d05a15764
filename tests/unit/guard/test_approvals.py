"""Without an approver a question waits in `hr.approvals`; the answer starts the run that was waiting."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import Field

from handrail import ApprovalRequest, Decision, Handrail, Policy, Principal, Registry, Tool, tool
from handrail.core.define.call import BoundCall
from handrail.ext.guard import Conflict, respond
from handrail.ext.ports import MemoryApprovals

AGENT = Principal(tenant="acme", user="ana", agent="ops")
BO = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
EVE = Principal(tenant="globex", user="eve", permissions={"approvals.decide"})


def publishing(ran: list[str], text: str = "Publish a post.", **options: Any) -> Tool:
    @tool("posts.publish", **{"level": "write", "description": text, **options})
    async def publish(title: str) -> str:
        ran.append(title)
        return f"{title} is out."

    return publish


async def ask(hr: Handrail, args: Any = None, **options: Any) -> Any:
    given = {"title": "spring"} if args is None else args
    out = await hr.call("posts.publish", given, principal=AGENT, session="s1", **options)
    assert out.status == "pending" and out.approval_id is not None
    return out


def types(hr: Handrail, call_id: str) -> list[str]:
    return [event.type for event in hr.log.read("acme", call_id=call_id)]


@pytest.mark.req("AP-02", "AP-08")
async def test_what_waits_is_listed_oldest_first_until_it_is_answered() -> None:
    async with Handrail([publishing([])]) as hr:
        first = await ask(hr, {"title": "a"})
        second = await ask(hr, {"title": "b"})
        assert [one.id for one in await hr.approvals.list(BO)] == [first.approval_id, second.approval_id]

        await hr.approvals.reject(first.approval_id, by=BO)
        assert [one.id for one in await hr.approvals.list(BO)] == [second.approval_id]
        answered = await hr.approvals.get(first.approval_id, BO)

    assert answered is not None
    assert (answered.status, answered.decided_by, answered.call.id) == ("rejected", "bo", first.call_id)


@pytest.mark.req("AP-03", "AP-04", "EV-07", "EV-08")
async def test_an_approved_call_goes_on_as_the_same_call() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr)
        assert (types(hr, out.call_id), ran) == (["tool.needs_approval"], [])

        request = await hr.approvals.approve(out.approval_id, by=BO)
        done = await hr.wait(out.call_id, 10)

    assert (request.status, done.status, done.result.data, ran) == (
        *("approved", "completed", "spring is out."),
        ["spring"],
    )
    assert (done.call_id, done.approval_id) == (out.call_id, out.approval_id)
    assert types(hr, out.call_id) == [
        *("tool.needs_approval", "tool.approved", "tool.started", "tool.completed"),
    ]
    assert done.run_id is not None and out.run_id is None


@pytest.mark.req("AP-07", "AP-02")
async def test_a_rejected_call_ends_with_the_reason() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr)
        await hr.approvals.reject(out.approval_id, by=BO, reason="not today")
        done = await hr.wait(out.call_id, 10)

    assert (done.status, done.code, ran) == ("refused", "REJECTED", [])
    assert done.result.error == "A person rejected posts.publish: not today"
    assert types(hr, out.call_id) == ["tool.needs_approval", "tool.cancelled"]


@pytest.mark.req("AP-02")
async def test_a_reviewer_can_answer_in_the_tools_place() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr)
        await hr.approvals.respond(out.approval_id, by=BO, result="It is already out.")
        done = await hr.wait(out.call_id, 10)

    assert (done.status, done.result.data, ran) == ("completed", "It is already out.", [])
    assert types(hr, out.call_id) == ["tool.needs_approval", "tool.completed"]


@pytest.mark.req("AP-02", "BY-04")
async def test_a_reviewer_can_edit_and_approve() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr)
        await hr.approvals.approve(out.approval_id, by=BO, edits={"title": "Spring"})
        done = await hr.wait(out.call_id, 10)

    assert (done.status, ran) == ("completed", ["Spring"])


@pytest.mark.req("AP-02", "BY-19")
async def test_a_reviewer_edits_around_a_secret_that_nobody_shows_them() -> None:
    used: list[tuple[str, str]] = []

    @tool("posts.publish", level="write")
    async def publish(
        title: str, password: Annotated[str, Field(json_schema_extra={"x-secret": True})]
    ) -> None:
        """Publish a post."""
        used.append((title, password))

    async with Handrail([publish]) as hr:
        out = await ask(hr, {"title": "spring", "password": "hunter2"})
        [request] = await hr.approvals.list(BO)
        assert "hunter2" not in repr(request)
        await hr.approvals.approve(request.id, by=BO, edits={**request.args, "title": "Spring"})
        await hr.wait(out.call_id, 10)

    assert used == [("Spring", "hunter2")]
    assert "hunter2" not in repr([event.to_dict() for event in hr.log.read("acme")])


ANSWERS: dict[str, Any] = {
    "approve": lambda hr, id, by=BO: hr.approvals.approve(id, by=by),
    "reject": lambda hr, id, by=BO: hr.approvals.reject(id, by=by),
    "respond": lambda hr, id, by=BO: hr.approvals.respond(id, by=by, result="no need"),
}


@pytest.mark.req("AP-08", "BY-03")
@pytest.mark.parametrize("second", ANSWERS)
@pytest.mark.parametrize("first", ANSWERS)
async def test_a_question_is_answered_once_only(first: str, second: str) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr)
        settled = await ANSWERS[first](hr, out.approval_id)
        done = await hr.wait(out.call_id, 10)
        with pytest.raises(Conflict, match=f"it is {settled.status}"):
            await ANSWERS[second](hr, out.approval_id)
        again = await hr.approvals.get(out.approval_id, BO)

    assert again == settled
    assert len(ran) == (first == "approve")
    assert types(hr, out.call_id).count("tool.completed") == (done.status == "completed")


@pytest.mark.req("AP-08", "BY-03")
async def test_of_many_who_answer_at_once_exactly_one_is_heard() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr)
        answers = [hr.approvals.approve(out.approval_id, by=BO) for _ in range(20)]
        said = await asyncio.gather(*answers, return_exceptions=True)
        await hr.wait(out.call_id, 10)

    assert sorted(type(one).__name__ for one in said) == ["ApprovalRequest", *["Conflict"] * 19]
    assert ran == ["spring"]


@pytest.mark.req("AP-08", "BY-03")
async def test_another_tenant_sees_nothing_and_can_answer_nothing() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr)
        assert await hr.approvals.list(EVE) == []
        assert await hr.approvals.get(out.approval_id, EVE) is None
        for answer in ANSWERS.values():
            with pytest.raises(Conflict) as foreign:
                await answer(hr, out.approval_id, EVE)
            with pytest.raises(Conflict) as unknown:
                await answer(hr, "approval_none", EVE)
            assert str(foreign.value).replace(out.approval_id, "approval_none") == str(unknown.value)
        assert len(await hr.approvals.list(BO)) == 1

    assert ran == []


@pytest.mark.req("AP-08", "PM-05")
@pytest.mark.parametrize(
    "who",
    [
        AGENT,
        BO.spawn("helper"),
        Principal(tenant="acme", user="bot", key="service"),
        Principal(tenant="acme"),
    ],
    ids=["the agent itself", "a sub-agent of a person", "a service", "nobody in particular"],
)
async def test_only_a_person_can_answer(who: Principal) -> None:
    async with Handrail([publishing([])]) as hr:
        out = await ask(hr)
        for answer in ANSWERS.values():
            with pytest.raises(Conflict, match="by a person"):
                await answer(hr, out.approval_id, who)
        assert len(await hr.approvals.list(BO)) == 1


@pytest.mark.req("AP-01")
async def test_calls_that_need_no_approval_run_beside_one_that_waits() -> None:
    @tool("posts.list", level="read")
    async def list_posts() -> list[str]:
        """List posts."""
        return []

    async with Handrail([publishing([]), list_posts]) as hr:
        outs = await asyncio.gather(
            hr.call("posts.list", principal=AGENT),
            hr.call("posts.publish", {"title": "spring"}, principal=AGENT),
            hr.call("posts.list", principal=AGENT),
        )

    assert [out.status for out in outs] == ["completed", "pending", "completed"]


@pytest.mark.req("AP-09", "BY-04")
async def test_arguments_changed_by_their_sender_after_the_question_do_not_run() -> None:
    ran: list[str] = []
    sent = {"title": "spring"}
    async with Handrail([publishing(ran)]) as hr:
        out = await ask(hr, sent)
        sent["title"] = "summer"
        await hr.approvals.approve(out.approval_id, by=BO)
        await hr.wait(out.call_id, 10)

    assert ran == ["spring"]


@pytest.mark.req("AP-09", "BY-03")
async def test_an_approval_whose_arguments_were_altered_runs_nothing() -> None:
    class Altering(MemoryApprovals):
        async def settle(self, approval_id, tenant, status, reply, /):
            settled = await super().settle(approval_id, tenant, status, reply)
            if settled is not None:
                settled.raw["title"] = "summer"
            return settled

    ran: list[str] = []
    async with Handrail([publishing(ran)], approvals=Altering(lambda: 0.0)) as hr:
        out = await ask(hr)
        await hr.approvals.approve(out.approval_id, by=BO)
        done = await hr.wait(out.call_id, 10)

    assert (done.status, done.code, ran) == ("refused", "NOT_APPROVED", [])
    assert "posts.publish" in (done.result.error or "")


@pytest.mark.req("AP-09")
async def test_an_approval_covers_its_own_arguments_and_no_others() -> None:
    async with Handrail([publishing([])]) as hr:
        out = await ask(hr, {"title": "a"})
        await hr.approvals.approve(out.approval_id, by=BO)
        await hr.wait(out.call_id, 10)
        await ask(hr, {"title": "b"})
        await ask(hr, {"title": "a"})


@pytest.mark.req("AP-09", "BY-04")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda registry, ran: registry.register(publishing(ran, "Anything."), replace=True), "STALE_TOOL"),
        (lambda registry, ran: registry.unregister("posts.publish"), "TOOL_NOT_FOUND"),
    ],
)
async def test_a_tool_that_changed_while_the_question_waited_does_not_run(change: Any, code: str) -> None:
    ran: list[str] = []
    registry = Registry([publishing(ran)])
    async with Handrail(registry=registry) as hr:
        out = await ask(hr)
        change(registry, ran)
        await hr.approvals.approve(out.approval_id, by=BO)
        done = await hr.wait(out.call_id, 10)

    assert (done.status, done.code, ran) == ("refused", code, [])


@pytest.mark.req("AP-02", "AP-07", "BY-03")
@pytest.mark.parametrize(
    ("answer", "status", "ran"),
    [
        (lambda hr, id: hr.approvals.reject(id, by=BO), "refused", []),
        (lambda hr, id: hr.approvals.respond(id, by=BO, result="no need"), "completed", []),
        (lambda hr, id: hr.approvals.approve(id, by=BO, edits={"title": "Spring"}), "completed", ["Spring"]),
    ],
    ids=["reject", "respond", "edit"],
)
async def test_an_answer_holds_though_the_call_would_ask_no_more(
    answer: Any, status: str, ran: list[str]
) -> None:
    did: list[str] = []
    danger = ["moderate"]
    async with Handrail([publishing(did, level=None, danger=lambda args: danger[0])]) as hr:
        out = await ask(hr)
        danger[0] = "safe"
        await answer(hr, out.approval_id)
        done = await hr.wait(out.call_id, 10)

    assert (done.status, did) == (status, ran)


@pytest.mark.req("AP-04", "EX-20")
async def test_a_call_from_a_plan_that_is_approved_runs_and_is_not_planned_again() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)], policy=Policy(plan=True)) as hr:
        queued = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
        assert queued.status == "queued"
        [pending] = await hr.run_plan(AGENT)
        assert (pending.status, pending.call_id) == ("pending", queued.call_id)

        await hr.approvals.approve(pending.approval_id or "", by=BO)
        done = await hr.wait(pending.call_id, 10)
        assert await hr.planned(AGENT) == []

    assert (done.status, ran) == ("completed", ["spring"])


@pytest.mark.req("AP-08")
async def test_a_full_book_forgets_what_is_answered_before_what_is_open() -> None:
    book = MemoryApprovals(lambda: 0.0, keep=2)
    await book.add(_request("a"))
    await book.add(_request("b"))
    await book.settle("a", "acme", "responded", respond("done"))
    await book.add(_request("c"))

    assert await book.get("a", "acme") is None
    assert [one.id for one in await book.list("acme")] == ["b", "c"]


def _request(name: str) -> ApprovalRequest:
    return ApprovalRequest(
        id=name,
        call=BoundCall("t", AGENT, "call_1"),
        tool="t",
        tool_digest="",
        args={},
        args_hash="",
        level="write",
        danger="moderate",
        decision=Decision("ask"),
        created_at=0.0,
    )
