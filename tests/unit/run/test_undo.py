"""undo: a tool says which call takes its effect back; the guard sees to the rest."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from handrail import BaseTool, Handrail, Policy, Principal, Registry, Rule, ToolError, define, tool
from handrail.core.errors import DefinitionError
from handrail.sync import Handrail as BlockingHandrail
from handrail.toolsets.demo import records, write_tools

ANA = Principal(tenant="acme", user="ana")
OPS = ANA.spawn("ops")
OPEN = Policy(approval_mode="policy")
pytestmark = pytest.mark.req("BY-14")


class Moved(BaseModel):
    name: str
    before: int
    after: int


class Shelf:
    """Books at their places, and a tool that moves them."""

    def __init__(self, **options: Any) -> None:
        self.places = {"Emma": 1}
        self.calls: list[int] = []
        self.broken = False

        def back(args: Any, data: Any) -> Any:
            return ("shelf.move", {"name": args.name, "to": data["before"]})

        @tool("shelf.move", **({"level": "write", "undo": back} | options))
        async def move(name: str, to: int) -> Moved:
            """Move a book."""
            if self.broken:
                raise ToolError("the shelf is broken", code="BROKEN")
            self.calls.append(to)
            moved = Moved(name=name, before=self.places[name], after=to)
            self.places[name] = to
            return moved

        self.tool = move


async def moved(hr: Handrail, to: int = 7, who: Principal = ANA, **more: Any) -> str:
    out = await hr.call("shelf.move", {"name": "Emma", "to": to}, principal=who, session="s1", **more)
    assert out.status == "completed", out
    return out.call_id


async def refused(hr: Handrail, call_id: str, who: Principal = ANA) -> tuple[str, str]:
    with pytest.raises(ToolError) as caught:
        await hr.undo(call_id, principal=who)
    return caught.value.code, str(caught.value)


async def test_the_effect_is_taken_back_by_a_new_call_of_the_same_session() -> None:
    shelf = Shelf()
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        call_id = await moved(hr)
        undone = await hr.undo(call_id, principal=ANA)
        assert undone.outcome is not None and undone.outcome.status == "completed"
        assert (undone.tool, undone.args) == ("shelf.move", {"name": "Emma", "to": 1})
        assert shelf.places == {"Emma": 1}
        events = list(hr.log.read("acme", call_id=undone.outcome.call_id))
    assert [event.kind for event in events] == ["started", "completed"]
    assert {event.session for event in events} == {"s1"}


async def test_a_preview_shows_the_call_and_what_the_guard_says_and_runs_nothing() -> None:
    shelf = Shelf()
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        call_id = await moved(hr)
        for _ in range(2):
            shown = await hr.undo(call_id, principal=ANA, preview=True)
            assert (shown.tool, shown.args, shown.outcome) == ("shelf.move", {"name": "Emma", "to": 1}, None)
            assert shown.decision.verdict == "allow"
    assert shelf.calls == [7]


async def test_a_call_is_undone_once_and_the_undo_can_be_undone() -> None:
    shelf = Shelf()
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        call_id = await moved(hr)
        first = (await hr.undo(call_id, principal=ANA)).outcome
        assert first is not None
        code, said = await refused(hr, call_id)
        assert code == "ALREADY_UNDONE" and first.call_id in said
        again = await hr.undo(first.call_id, principal=ANA)
        assert again.outcome is not None and again.outcome.ok
        assert await refused(hr, first.call_id) != await refused(hr, call_id)
    assert shelf.calls == [7, 1, 7]


async def test_many_who_undo_at_once_undo_once() -> None:
    shelf = Shelf()
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        call_id = await moved(hr)
        done = await asyncio.gather(
            *(hr.undo(call_id, principal=ANA) for _ in range(10)), return_exceptions=True
        )
        well = [one for one in done if not isinstance(one, BaseException) and one.outcome and one.outcome.ok]
        assert len(well) == 1 and shelf.calls == [7, 1]
        assert (await refused(hr, call_id))[0] == "ALREADY_UNDONE", "whoever came too late changed nothing"
    assert shelf.calls == [7, 1]


async def test_an_undo_that_failed_may_be_tried_again() -> None:
    shelf = Shelf()
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        call_id = await moved(hr)
        shelf.broken = True
        for _ in range(2):
            failed = (await hr.undo(call_id, principal=ANA)).outcome
            assert failed is not None and failed.code == "BROKEN"
        shelf.broken = False
        undone = (await hr.undo(call_id, principal=ANA)).outcome
        assert undone is not None and undone.ok
        assert (await refused(hr, call_id))[0] == "ALREADY_UNDONE"
    assert shelf.calls == [7, 1]


async def test_an_undo_goes_through_the_guard_and_waits_like_any_call() -> None:
    shelf = Shelf()
    boss = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
    rules = [Rule("shelf.move", {"to": 1}, "ask", name="the first place")]
    async with Handrail([shelf.tool], policy=Policy(approval_mode="policy", rules=rules)) as hr:
        call_id = await moved(hr)
        assert (await hr.undo(call_id, principal=ANA, preview=True)).decision.rule == "the first place"
        waits = (await hr.undo(call_id, principal=ANA)).outcome
        assert waits is not None and waits.status == "pending" and shelf.calls == [7]
        assert (await refused(hr, call_id))[0] == "UNDO_UNDER_WAY"
        await hr.approvals.approve(waits.approval_id or "", by=boss)
        assert (await hr.wait(waits.call_id, timeout=10, principal=ANA)).ok
        assert (await refused(hr, call_id))[0] == "ALREADY_UNDONE"
    assert shelf.calls == [7, 1]


@pytest.mark.parametrize(
    ("made_by", "undone_by", "may"),
    [
        (ANA, ANA, True),
        (OPS, OPS, True),
        (OPS, ANA, True),
        (ANA, OPS, False),
        (ANA.spawn("sales"), OPS, False),
        (ANA, Principal(tenant="acme", user="bo"), False),
        (ANA, Principal(tenant="globex", user="ana"), False),
        (Principal(tenant="acme"), Principal(tenant="acme", user="bo"), False),
    ],
)
@pytest.mark.fault("F26")
async def test_only_ones_own_calls_are_there_to_undo(
    made_by: Principal, undone_by: Principal, may: bool
) -> None:
    shelf = Shelf()
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        call_id = await moved(hr, who=made_by)
        if may:
            assert (await hr.undo(call_id, principal=undone_by)).outcome is not None
        else:
            code, said = await refused(hr, call_id, undone_by)
            assert code == "CALL_NOT_FOUND"
            assert said.replace(call_id, "x") == (await refused(hr, "y", undone_by))[1].replace("y'", "x'", 1)
    assert shelf.calls == ([7, 1] if may else [7])


async def test_a_tool_that_may_no_longer_be_seen_undoes_nothing() -> None:
    shelf = Shelf()
    registry = Registry([shelf.tool])
    async with Handrail(registry=registry, policy=OPEN) as hr:
        call_id = await moved(hr)
        registry.register(Shelf(requires="shelf").tool, replace=True)
        assert (await refused(hr, call_id))[0] == "CALL_NOT_FOUND"


@pytest.mark.parametrize(
    ("undo", "words"),
    [
        (None, "shelf.move does not say how"),
        (lambda args, data: None, "nothing takes it back"),
        (lambda args, data: 1 / 0, "could not say how (ZeroDivisionError)"),
        (lambda args, data: ("shelf.move", {"to": {1, 2}}), "could not say how (NotJson)"),
        (lambda args, data: (7, {}), "could not say how (TypeError)"),
        (lambda args, data: "shelf.move", "could not say how (ValueError)"),
    ],
)
async def test_a_tool_that_does_not_say_how_is_told_so(undo: Any, words: str) -> None:
    shelf = Shelf(undo=undo)
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        code, said = await refused(hr, await moved(hr))
    assert code == "NOT_UNDOABLE" and words in said and shelf.calls == [7]


async def test_a_call_that_did_not_complete_has_nothing_to_undo() -> None:
    shelf = Shelf()
    shelf.broken = True
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        failed = await hr.call("shelf.move", {"name": "Emma", "to": 7}, principal=ANA)
        assert (await refused(hr, failed.call_id))[0] == "NOT_COMPLETED"
        wrong = await hr.call("shelf.move", {"name": "Emma"}, principal=ANA)
        assert (await refused(hr, wrong.call_id))[0] == "NOT_COMPLETED"
        assert (await refused(hr, "nothing"))[0] == "CALL_NOT_FOUND"


async def test_arguments_that_are_masked_in_the_record_are_not_guessed() -> None:
    Secret = Annotated[str, Field(json_schema_extra={"format": "password"})]

    @tool("door.lock", level="write", undo=lambda args, data: ("door.lock", {"code": args.code}))
    async def lock(code: Secret) -> str:
        """Lock the door."""
        return "locked"

    async with Handrail([lock], policy=OPEN) as hr:
        out = await hr.call("door.lock", {"code": "hunter2-hunter2"}, principal=ANA)
        code, said = await refused(hr, out.call_id)
    assert code == "NOT_UNDOABLE" and "masked" in said and "hunter2" not in said


async def test_arguments_that_no_longer_fit_the_tool_undo_nothing() -> None:
    shelf = Shelf()
    registry = Registry([shelf.tool])

    @tool("shelf.move", level="write", undo=lambda args, data: ("shelf.move", {}))
    async def other(title: str) -> str:
        """Move a book."""
        return title

    async with Handrail(registry=registry, policy=OPEN) as hr:
        call_id = await moved(hr)
        registry.register(other, replace=True)
        code, said = await refused(hr, call_id)
    assert code == "NOT_UNDOABLE" and "no longer fit" in said


async def test_repaired_arguments_are_undone_as_they_ran() -> None:
    shelf = Shelf()
    async with Handrail([shelf.tool], policy=OPEN) as hr:
        out = await hr.call("shelf.move", {"name": "Emma", "to": "7"}, principal=ANA)
        assert out.repairs
        undone = (await hr.undo(out.call_id, principal=ANA)).outcome
        assert undone is not None and undone.ok


def test_an_undo_that_cannot_be_called_is_no_definition() -> None:
    with pytest.raises(DefinitionError, match="undo"):
        Shelf(undo="shelf.move")


def test_every_style_of_tool_may_say_how_it_is_undone() -> None:
    class Move(BaseTool):
        """Move a book."""

        id = "shelf.move"

        def undo(self, args: Any, data: Any) -> Any:
            return "shelf.move", {"to": data}

        def execute(self, to: int) -> int:
            return to

    told = {"description": "Move.", "execute": lambda args: 1, "undo": lambda args, data: ("t", {})}
    made = define("t", told)
    assert made.undo is not None and made.undo(None, 1) == ("t", {})
    assert Move.tool().undo is not None
    assert Move.tool().undo(None, 3) == ("shelf.move", {"to": 3})  # type: ignore[misc]  # as was just said


def test_blocking_code_undoes_too() -> None:
    shelf = Shelf()
    with BlockingHandrail([shelf.tool], policy=OPEN) as hr:
        out = hr.call("shelf.move", {"name": "Emma", "to": 7}, principal=ANA)
        assert hr.undo(out.call_id, principal=ANA, preview=True).outcome is None
        assert hr.undo(out.call_id, principal=ANA).outcome is not None
    assert shelf.places == {"Emma": 1}


async def test_a_change_of_a_demo_record_goes_back_to_the_status_it_had() -> None:
    records.STORE.fill()
    async with Handrail([write_tools.update_record], policy=OPEN) as hr:
        out = await hr.call("data.updateRecord", {"id": "rec-001", "status": "inactive"}, principal=ANA)
        same = await hr.call("data.updateRecord", {"id": "rec-001", "status": "inactive"}, principal=ANA)
        assert (await refused(hr, same.call_id))[0] == "NOT_UNDOABLE"
        await hr.undo(out.call_id, principal=ANA)
    assert records.STORE.get("acme", "rec-001").status == "active"
    records.STORE.fill()


async def test_an_undo_outlives_the_process_and_stays_the_only_one(tmp_path: Any) -> None:
    shelf, url = Shelf(), f"sqlite:///{tmp_path}/shelf.db"
    async with Handrail([shelf.tool], policy=OPEN, database=url) as hr:
        call_id = await moved(hr)
    async with Handrail([shelf.tool], policy=OPEN, database=url) as hr:
        undone = (await hr.undo(call_id, principal=ANA)).outcome
        assert undone is not None and undone.ok
    async with Handrail([shelf.tool], policy=OPEN, database=url) as hr:
        assert (await refused(hr, call_id))[0] == "ALREADY_UNDONE"
    assert shelf.calls == [7, 1]


@pytest.mark.fault("F04")
async def test_a_person_and_their_agent_who_undo_at_once_in_two_processes_undo_once(tmp_path: Any) -> None:
    shelf, url = Shelf(), f"sqlite:///{tmp_path}/shelf.db"
    one = Handrail([shelf.tool], policy=OPEN, database=url, worker=False)
    two = Handrail([shelf.tool], policy=OPEN, database=url, worker=False)
    async with one, two:
        call_id = await moved(one, who=OPS)
        done = await asyncio.gather(
            *(hr.undo(call_id, principal=who) for hr in (one, two) for who in (ANA, OPS)),
            return_exceptions=True,
        )
        ended = [out.code if isinstance(out, ToolError) else out for out in done]
        assert ended.count("ALREADY_UNDONE") == 3, ended
        assert (await refused(two, call_id))[0] == "ALREADY_UNDONE"
    assert shelf.calls == [7, 1]


async def test_an_undo_that_is_planned_is_under_way_until_the_plan_is_run_or_discarded() -> None:
    shelf = Shelf()
    rules = [Rule("shelf.move", {"to": 1}, "queue")]
    async with Handrail([shelf.tool], policy=Policy(approval_mode="policy", rules=rules)) as hr:
        call_id = await moved(hr, who=OPS)
        for after in (hr.discard_plan, hr.run_plan):
            queued = (await hr.undo(call_id, principal=OPS)).outcome
            assert queued is not None and queued.status == "queued"
            for who in (OPS, ANA):
                code, said = await refused(hr, call_id, who)
                assert code == "UNDO_UNDER_WAY" and "planned" in said
            await after(OPS)
        assert (await refused(hr, call_id, ANA))[0] == "ALREADY_UNDONE"
    assert shelf.calls == [7, 1]
