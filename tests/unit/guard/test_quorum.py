"""Several persons, other eyes and the right to decide: what a tool may want before a call of it runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import pytest
from pydantic import Field

from handrail import ApprovalRequest, Handrail, Principal, Registry, Tool, tool
from handrail.ext.guard import Conflict, ShownArguments, approve, respond
from handrail.testing import FakeClock, ScriptedApprover

AGENT = Principal(tenant="acme", user="ana", agent="ops")


def person(name: str, *permissions: str) -> Principal:
    return Principal(tenant="acme", user=name, permissions=permissions or ("approvals.decide",))


ANA, BO, CY, DI = map(person, ("ana", "bo", "cy", "di"))


Secret = Annotated[str, Field(json_schema_extra={"x-secret": True})]


def publishing(ran: list[str], **options: Any) -> Tool:
    @tool("posts.publish", **{"level": "write", **options})
    async def publish(title: str, pin: Secret = "0") -> str:
        """Publish a post."""
        ran.append(title)
        return f"{title} is out."

    return publish


async def ask(hr: Handrail, **args: Any) -> tuple[str, str]:
    out = await hr.call("posts.publish", {"title": "spring", **args}, principal=AGENT, session="s1")
    assert out.status == "pending" and out.approval_id is not None
    return out.approval_id, out.call_id


@pytest.mark.req("BY-05")
async def test_a_call_runs_once_enough_persons_have_agreed() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran, approvals=3)]) as hr:
        asked, call_id = await ask(hr)
        for who in (BO, CY):
            request = await hr.approvals.approve(asked, by=who)
            assert request.status == "pending" and not ran
        with pytest.raises(Conflict, match=r"approved .* already; 1 more must"):
            await hr.approvals.approve(asked, by=BO)
        assert (await hr.approvals.approve(asked, by=ANA)).status == "approved"
        done = await hr.wait(call_id, 10)
        with pytest.raises(Conflict, match="it is approved"):
            await hr.approvals.approve(asked, by=DI)
    assert (done.status, ran) == ("completed", ["spring"])


@pytest.mark.req("BY-05")
@pytest.mark.parametrize("answer", ["reject", "respond"])
async def test_a_no_or_an_answer_in_its_place_needs_no_quorum(answer: str) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran, approvals=3)]) as hr:
        asked, call_id = await ask(hr)
        await hr.approvals.approve(asked, by=BO)
        if answer == "reject":
            await hr.approvals.reject(asked, by=CY)
        else:
            await hr.approvals.respond(asked, by=CY, result="It is out already.")
        done = await hr.wait(call_id, 10)
    assert not ran and done.status == ("refused" if answer == "reject" else "completed")


@pytest.mark.req("BY-05", "AP-09")
async def test_all_must_have_agreed_to_what_runs() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran, approvals=2)]) as hr:
        asked, call_id = await ask(hr)
        await hr.approvals.approve(asked, by=BO)
        other = await hr.approvals.approve(asked, by=CY, edits={"title": "Summer"})
        assert (other.status, [vote.user for vote in other.votes]) == ("pending", ["cy"])
        await hr.approvals.approve(asked, by=BO, edits={"title": "Summer"})
        await hr.wait(call_id, 10)
    assert ran == ["Summer"]


@pytest.mark.req("BY-05")
@pytest.mark.parametrize("own", ["approve", "respond"])
async def test_with_four_eyes_whoever_is_behind_the_call_cannot_approve_it(own: str) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran, four_eyes=True)]) as hr:
        asked, call_id = await ask(hr)
        me = replace(ANA, permissions=frozenset({"*"}))
        answers = {
            "approve": lambda: hr.approvals.approve(asked, by=me),
            "respond": lambda: hr.approvals.respond(asked, by=me, result="done"),
        }
        with pytest.raises(Conflict, match=r"four eyes.*still open"):
            await answers[own]()
        await hr.approvals.approve(asked, by=BO)
        assert (await hr.wait(call_id, 10)).status == "completed"
    assert ran == ["spring"]


@pytest.mark.req("BY-05")
async def test_with_four_eyes_not_even_a_confirmation_is_ones_own() -> None:
    ran: list[str] = []
    for four_eyes in (False, True):
        tools = [publishing(ran, level="destructive", four_eyes=four_eyes)]
        async with Handrail(tools) as hr:
            who = Principal(tenant="acme", user="ana", key="person")
            out = await hr.call("posts.publish", {"title": "x"}, principal=who, source="web")
            [request] = await hr.approvals.list(BO)
            assert request.by == "caller"
            if four_eyes:
                with pytest.raises(Conflict, match="four eyes"):
                    await hr.approvals.approve(request.id, by=who)
            else:
                await hr.approvals.approve(request.id, by=who)
                await hr.wait(out.call_id, 10)
    assert ran == ["x"]


@pytest.mark.req("AP-08")
@pytest.mark.parametrize(
    "who",
    [
        person("bo", "posts.write"),
        person("ana", "posts.write"),
        replace(BO, scope=("mail.*",)),
        replace(BO, ceiling="read"),
    ],
    ids=["without the right", "whose agent asks", "with a key for other tools", "with a key for reading"],
)
async def test_only_who_has_the_right_may_answer(who: Principal) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        asked, _ = await ask(hr)
        for answer in (
            hr.approvals.approve(asked, by=who),
            hr.approvals.reject(asked, by=who),
            hr.approvals.respond(asked, by=who, result="x"),
        ):
            with pytest.raises(Conflict, match=r"permission 'approvals\.decide'"):
                await answer
        assert [one.id for one in await hr.approvals.list(BO)] == [asked]
    assert not ran


@pytest.mark.req("AP-08")
@pytest.mark.parametrize(
    "who", [person("bo", "*"), replace(BO, scope=("posts.*",), ceiling="write")], ids=str
)
async def test_who_holds_everything_or_a_key_that_reaches_it_may_answer(who: Principal) -> None:
    async with Handrail([publishing([])]) as hr:
        asked, _ = await ask(hr)
        assert (await hr.approvals.reject(asked, by=who)).status == "rejected"


@pytest.mark.req("BY-05")
async def test_when_time_is_over_before_enough_agreed_the_call_is_refused() -> None:
    ran: list[str] = []
    clock = FakeClock()
    async with Handrail([publishing(ran, approvals=2)], clock=clock, approval_lifetime=60) as hr:
        asked, call_id = await ask(hr)
        await hr.approvals.approve(asked, by=BO)
        clock.turn(60)
        with pytest.raises(Conflict, match="it is expired"):
            await hr.approvals.approve(asked, by=CY)
        done = await hr.wait(call_id, 10)
    assert (done.status, done.code, ran) == ("refused", "APPROVAL_EXPIRED", [])


@pytest.mark.req("BY-05")
@pytest.mark.parametrize(
    ("options", "answer", "votes"),
    [
        ({"approvals": 2}, approve(by="bo"), ["bo"]),
        ({"approvals": 2}, approve(by="bo", edits={"title": "Spring"}), ["bo"]),
        ({"approvals": 2}, True, []),
        ({"four_eyes": True}, approve(by="ana"), []),
        ({"four_eyes": True}, True, []),
        ({"four_eyes": True}, respond("done", by="ana"), []),
    ],
    ids=str,
)
async def test_an_approver_is_one_person_and_must_be_the_right_one(
    options: dict[str, Any], answer: Any, votes: list[str]
) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran, **options)], approver=ScriptedApprover(answer)) as hr:
        asked, call_id = await ask(hr)
        [request] = await hr.approvals.list(BO)
        assert [vote.user for vote in request.votes] == votes and not ran
        edits = answer.edits if not isinstance(answer, bool) else None
        for who in (CY, DI):
            request = await hr.approvals.approve(asked, by=who, edits=edits)
            if request.status == "approved":
                break
        done = await hr.wait(call_id, 10)
    assert done.status == "completed" and len(ran) == 1


@pytest.mark.req("BY-05")
async def test_an_approver_with_other_eyes_is_enough() -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran, four_eyes=True)], approver=ScriptedApprover(approve(by="bo"))) as hr:
        out = await hr.call("posts.publish", {"title": "spring"}, principal=AGENT)
    assert (out.status, ran) == ("completed", ["spring"])


@pytest.mark.req("BY-05", "AP-10")
@pytest.mark.parametrize("options", [{"approvals": 2}, {"four_eyes": True}], ids=str)
async def test_no_yes_stands_for_the_session_where_several_must_look(options: dict[str, Any]) -> None:
    async with Handrail([publishing([], **options)]) as hr:
        asked, call_id = await ask(hr)
        for who in (BO, CY):
            request = await hr.approvals.approve(asked, by=who, for_session=True)
            if request.status == "approved":
                break
        assert (await hr.wait(call_id, 10)).ok
        await ask(hr)


@pytest.mark.req("BY-05", "AP-09")
@pytest.mark.parametrize("now", [{"approvals": 2}, {"four_eyes": True}], ids=str)
async def test_a_tool_that_wants_more_by_now_does_not_run_on_the_old_answer(now: dict[str, Any]) -> None:
    ran: list[str] = []
    registry = Registry([publishing(ran)])
    async with Handrail(registry=registry) as hr:
        asked, call_id = await ask(hr)
        registry.register(publishing(ran, **now), replace=True)
        await hr.approvals.approve(asked, by=BO)
        done = await hr.wait(call_id, 10)
    assert (done.code, ran) == ("STALE_TOOL", [])


@pytest.mark.req("BY-02")
async def test_the_record_holds_what_was_proposed_edited_and_effective_each_with_a_digest() -> None:
    async with Handrail([publishing([])]) as hr:
        asked, call_id = await ask(hr, pin="4711")
        proposed = await hr.approvals.get(asked, BO)
        assert proposed is not None and proposed.args == {"title": "spring", "pin": "•••"}
        ended = await hr.approvals.approve(asked, by=BO, edits={"pin": "•••", "title": "Spring"})
        await hr.wait(call_id, 10)
    assert ended.edited is not None and ended.effective is not None
    assert ended.edited.shown == ended.effective.shown == {"title": "Spring", "pin": "•••"}
    assert len({ended.args_hash, ended.edited.hash, ended.effective.hash}) == 3
    assert (ended.decided_by, ended.reason, ended.tool_digest) == (
        *("bo", "Needs approval: it changes real data"),
        proposed.tool_digest,
    )
    assert "4711" not in repr(ended)


@pytest.mark.req("BY-02")
async def test_what_was_not_edited_runs_as_proposed() -> None:
    async with Handrail([publishing([])]) as hr:
        asked, call_id = await ask(hr)
        ended = await hr.approvals.approve(asked, by=BO)
        await hr.wait(call_id, 10)
    assert ended.edited is None and ended.effective == ShownArguments(ended.args, ended.args_hash)


@pytest.mark.req("AP-02", "BY-02")
@pytest.mark.parametrize("edits", [{"title": [1, 2]}, {"titel": "x"}, {}, {"title": float("nan")}], ids=str)
async def test_edits_that_do_not_fit_are_turned_down_and_the_question_stays_open(edits: Any) -> None:
    ran: list[str] = []
    async with Handrail([publishing(ran)]) as hr:
        asked, call_id = await ask(hr)
        with pytest.raises(Conflict, match=r"edits do not fit posts\.publish: .*still open"):
            await hr.approvals.approve(asked, by=BO, edits=edits)
        await hr.approvals.approve(asked, by=BO, edits={"title": "Spring"})
        await hr.wait(call_id, 10)
    assert ran == ["Spring"]


@pytest.mark.req("BY-03", "AP-09")
async def test_edits_that_were_altered_after_the_approval_run_nothing() -> None:
    from handrail.ext.ports import MemoryApprovals

    class Altering(MemoryApprovals):
        async def settle(self, approval_id, tenant, status, reply, /):
            settled: ApprovalRequest | None = await super().settle(approval_id, tenant, status, reply)
            if reply is not None and reply.edits is not None:
                reply.edits["title"] = "Everything"
            return settled

    ran: list[str] = []
    async with Handrail([publishing(ran)], approvals=Altering(lambda: 0.0)) as hr:
        asked, call_id = await ask(hr)
        await hr.approvals.approve(asked, by=BO, edits={"title": "Spring"})
        done = await hr.wait(call_id, 10)
    assert (done.code, ran) == ("NOT_APPROVED", [])
