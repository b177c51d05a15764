"""What every book of approvals does: in memory, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from handrail import ApprovalRequest, Attachment, Decision, Principal, Result
from handrail.core.define.call import BoundCall, Repair
from handrail.core.define.decision import Step
from handrail.core.guard.approval_request import Reply, RequestStatus
from handrail.ext.guard import ShownArguments, approve, reject, respond
from handrail.store.approvals import forget_call_arguments
from tests.contract.backends import KINDS, Backend, backend_of

ANA = Principal("acme", "ana", {"operator"}, {"posts.write"}, "ops", "w1", "agent", ("boss",))
DAY = 86_400.0
pytestmark = pytest.mark.req("AP-08", "BY-03")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


@pytest.fixture(params=KINDS[1:])
def rows(request: pytest.FixtureRequest) -> Iterator[Backend]:
    yield from backend_of(request)


def question(name: str = "a1", tenant: str = "acme", **given: Any) -> ApprovalRequest:
    call = BoundCall(
        "posts.publish",
        replace(ANA, tenant=tenant),
        f"call-{name}",
        source="mcp",
        session="s1",
        turn=3,
        idempotency_key="k1",
        digest="d0",
        message="m1",
        parent="call-0",
        depth=1,
    )
    steps = (Step("level", "ask", "Needs approval", None, "NEEDS_APPROVAL", "reviewer", True),)
    told: dict[str, Any] = {
        "id": name,
        "call": call,
        "tool": "posts.publish",
        "tool_digest": "d1",
        "args": {"title": "spring", "pin": "•••"},
        "args_hash": "h0",
        "level": "write",
        "danger": "moderate",
        "decision": Decision("ask", "level", None, "NEEDS_APPROVAL", "Needs approval", "reviewer", steps),
        "created_at": 1000.0,
        "repairs": (Repair("title", "trimmed", " spring", "spring"),),
        "raw": {"title": " spring", "pin": "4711"},
        "secrets": frozenset({"t0p-s3cret"}),
        "preview": "+ a line that only reviewers see",
    }
    return ApprovalRequest(**{**told, **given})


def yes(by: str = "bo", fingerprint: str | None = None) -> Reply:
    """An approval, of the proposed arguments or of others."""
    if fingerprint is None:
        return replace(approve(by=by), effective=ShownArguments({"title": "spring"}, "h0"))
    edits = ShownArguments({"title": fingerprint}, fingerprint)
    return replace(approve(by=by, edits={"title": fingerprint}), edited=edits, effective=edits)


@pytest.mark.req("BY-02", "AP-09")
async def test_what_was_asked_is_found_as_it_was_also_by_another_process(place: Backend) -> None:
    asked = question(expires_at=5000.0, quorum=2, four_eyes=True)
    await place.process().book.add(asked)
    found = await place.process().book.get("a1", "acme")
    assert found == asked
    assert found is not None and found.raw == {"title": " spring", "pin": "4711"}
    assert found.secrets == {"t0p-s3cret"} and found.principal == ANA
    assert await place.process().book.list("acme") == [asked]
    assert await place.process().book.get("a2", "acme") is None


@pytest.mark.req("AP-02")
async def test_questions_come_in_pages_in_which_none_is_lost_or_told_twice(place: Backend) -> None:
    book = place.process().book
    for number in range(7):
        await book.add(question(f"a{number}", created_at=100.0 + number // 3, quorum=1 + number % 2))
    await book.add(question("b0", tenant="other"))
    everything = [one.id for one in await book.list("acme")]
    assert everything == [f"a{number}" for number in range(7)]
    pages: list[str] = []
    while page := await book.list("acme", pages[-1] if pages else None, 2):
        pages += [one.id for one in page]
        if pages[-1] == "a3":  # answered meanwhile: its place is still known
            assert await book.settle("a3", "acme", "rejected", reject(by="bea"))
    assert pages == everything
    assert [one.id for one in await book.list("acme", "a3", 1)] == ["a4"]
    assert [one.id for one in await book.list("other", "a3", 9)] == ["b0"]


async def test_what_is_over_is_listed_with_its_end_the_newest_first(place: Backend) -> None:
    book = place.process().book
    for number in range(6):
        await book.add(question(f"a{number}", created_at=100.0 + number, quorum=2 if number == 3 else 1))
    await book.add(question("b0", tenant="other"))
    await book.settle("b0", "other", "rejected", reject(by="eve"))
    ends: tuple[tuple[str, RequestStatus, Reply], ...] = (
        ("a2", "approved", yes()),
        ("a0", "rejected", reject("no", by="bea")),
        ("a1", "approved", yes("bea")),
        ("a4", "responded", respond(5, by="bo")),
        ("a5", "withdrawn", reject("over")),
    )
    for name, status, reply in ends:
        place.clock.turn(1)
        assert await book.settle(name, "acme", status, reply), name
    await book.settle("a3", "acme", "approved", yes())
    found = await place.process().book.decided("acme", 9)
    assert [one.id for one in found] == ["a5", "a4", "a1", "a0", "a2"], "one vote of two ends nothing"
    assert [one.decided_by for one in found] == [None, "bo", "bea", "bea", "bo"]
    assert [one.id for one in await place.process().book.decided("acme", 1)] == ["a5", "a4", "a0", "a2"]
    assert await place.process().book.decided("nobody", 9) == []


async def test_another_tenant_finds_and_settles_nothing(place: Backend) -> None:
    book = place.process().book
    await book.add(question())
    assert await book.get("a1", "other") is None and await book.list("other") == []
    for status, reply in ANSWERS.values():
        assert await book.settle("a1", "other", status, reply) is None
    assert await book.get("a1", "acme") == question() and place.won == []


ANSWERS: dict[str, tuple[RequestStatus, Reply]] = {
    "approve": ("approved", yes()),
    "edit": ("approved", yes("cy", "h1")),
    "reject": ("rejected", reject("not today", by="bo")),
    "respond": (
        "responded",
        respond(Result(data={"a": [1, None]}, attachments=(Attachment("x/y", "n", b"\x00\xff"),)), by="bo"),
    ),
}


@pytest.mark.req("BY-02")
@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_answer_is_kept_whole_and_found_by_another_process(place: Backend, answer: str) -> None:
    status, reply = ANSWERS[answer]
    await place.process().book.add(question())
    place.clock.turn(5)
    settled = await place.process().book.settle("a1", "acme", status, reply)
    found = await place.process().book.get("a1", "acme")
    assert settled == found
    assert found == replace(
        question(),
        status=status,
        decided_by=reply.by,
        decided_at=1005.0,
        answer=reply,
        edited=reply.edited,
        effective=reply.effective,
    )


@pytest.mark.parametrize("second", ANSWERS)
@pytest.mark.parametrize("first", ANSWERS)
async def test_a_question_is_settled_once(place: Backend, first: str, second: str) -> None:
    await place.process().book.add(question())
    settled = await place.process().book.settle("a1", "acme", *ANSWERS[first])
    assert settled is not None
    assert await place.process().book.settle("a1", "acme", *ANSWERS[second]) is None
    assert await place.process().book.settle("a1", "acme", "expired", None) is None
    assert await place.process().book.get("a1", "acme") == settled
    if place.process().book.enqueues:
        assert place.won == [(settled, ANSWERS[first][1])]


async def test_what_waits_is_listed_oldest_first_without_what_is_answered_or_late(place: Backend) -> None:
    book = place.process().book
    for number, expires in [(3, None), (1, None), (2, 1500.0), (4, None)]:
        await book.add(question(f"a{number}", created_at=1000.0 + number, expires_at=expires))
    await book.add(question("b1", tenant="other"))
    await book.settle("a4", "acme", "rejected", reject(by="bo"))
    place.clock.turn(1000)
    assert sorted(one.id for one in await place.process().book.list("acme")) == ["a1", "a3"]
    if place.url is not None:
        assert [one.id for one in await place.process().book.list("acme")] == ["a1", "a3"]


@pytest.mark.fault("F03")
async def test_a_question_without_an_end_is_open_after_seven_days_and_restarts(place: Backend) -> None:
    await place.process().book.add(question())
    for _ in range(7):
        place.clock.turn(DAY)
        assert [one.id for one in await place.process().book.list("acme")] == ["a1"]
    settled = await place.process().book.settle("a1", "acme", *ANSWERS["approve"])
    assert settled is not None and settled.status == "approved" and settled.raw["pin"] == "4711"


@pytest.mark.req("BY-05")
@pytest.mark.parametrize("answer", ANSWERS)
async def test_a_question_whose_time_is_over_can_only_expire(place: Backend, answer: str) -> None:
    book = place.process().book
    await book.add(question(expires_at=2000.0))
    assert await book.settle("a1", "acme", "expired", None) is None
    place.clock.turn(1000)
    assert await book.settle("a1", "acme", *ANSWERS[answer]) is None
    found = await book.get("a1", "acme")
    assert found is not None and found.status == "expired"
    late = await book.settle("a1", "acme", "expired", None)
    assert late is not None and (late.status, late.answer, late.decided_at) == ("expired", None, 2000.0)
    assert await book.settle("a1", "acme", "expired", None) is None


@pytest.mark.req("BY-05")
@pytest.mark.fault("F03")
async def test_the_sweeper_ends_each_question_that_is_due_once(rows: Backend) -> None:
    first, second = rows.process(), rows.process()
    for number in range(5):
        await first.book.add(question(f"a{number}", expires_at=2000.0 + number))
    await first.book.add(question("b1", tenant="other", expires_at=2000.0))
    await first.book.add(question("open"))
    rows.clock.turn(1002)
    swept = await asyncio.gather(
        *(asyncio.to_thread(one.book.expire) for one in (first, second, first, second))  # type: ignore[attr-defined]
    )
    assert sorted(one.id for ended in swept for one in ended) == ["a0", "a1", "a2", "b1"]
    assert sorted(request.id for request, _ in rows.won) == ["a0", "a1", "a2", "b1"]
    assert {request.status for request, _ in rows.won} == {"expired"}
    assert [one.id for one in await second.book.list("acme")] == ["a3", "a4", "open"]


@pytest.mark.req("BY-05")
async def test_a_question_that_cannot_be_ended_holds_up_no_other(
    rows: Backend, caplog: pytest.LogCaptureFixture
) -> None:
    process = rows.process()
    for name in ("a1", "a2", "a3"):
        await process.book.add(question(name, expires_at=2000.0))
    with process.rows.transaction("acme") as conn:
        conn.exec_driver_sql("UPDATE approvals SET sealed = 'broken' WHERE id = 'a2'")
    rows.clock.turn(1000)
    book: Any = process.book
    ended = await asyncio.to_thread(book.expire)
    assert sorted(one.id for one in ended) == ["a1", "a3"] and "approval a2 of acme" in caplog.text
    assert await asyncio.to_thread(book.expire) == []


@pytest.mark.req("BY-05")
async def test_as_many_must_approve_as_the_tool_says_and_each_counts_once(place: Backend) -> None:
    book = place.process().book
    await book.add(question(quorum=3))
    first = await book.settle("a1", "acme", "approved", yes("bo"))
    assert first is not None and (first.status, [vote.user for vote in first.votes]) == ("pending", ["bo"])
    assert await place.process().book.settle("a1", "acme", "approved", yes("bo")) is None
    second = await place.process().book.settle("a1", "acme", "approved", yes("cy"))
    assert second is not None and second.status == "pending"
    [listed] = await place.process().book.list("acme")
    assert [vote.user for vote in listed.votes] == ["bo", "cy"] and place.won == []
    third = await place.process().book.settle("a1", "acme", "approved", yes("di"))
    assert third is not None and (third.status, third.decided_by) == ("approved", "di")
    found = await place.process().book.get("a1", "acme")
    assert found == third and [vote.user for vote in found.votes] == ["bo", "cy", "di"]


@pytest.mark.req("BY-05", "AP-09")
async def test_who_approves_other_arguments_begins_to_count_anew(place: Backend) -> None:
    book = place.process().book
    await book.add(question(quorum=2))
    await book.settle("a1", "acme", "approved", yes("bo"))
    other = await book.settle("a1", "acme", "approved", yes("cy", "h1"))
    assert other is not None and (other.status, [vote.user for vote in other.votes]) == ("pending", ["cy"])
    ended = await book.settle("a1", "acme", "approved", yes("bo", "h1"))
    assert ended is not None and ended.status == "approved"
    assert ended.effective == ShownArguments({"title": "h1"}, "h1")


@pytest.mark.req("BY-05")
async def test_one_no_is_enough(place: Backend) -> None:
    book = place.process().book
    await book.add(question(quorum=3))
    await book.settle("a1", "acme", "approved", yes("bo"))
    ended = await book.settle("a1", "acme", "rejected", reject(by="cy"))
    assert ended is not None and ended.status == "rejected"


@pytest.mark.req("BY-05")
async def test_whoever_is_behind_the_call_does_not_count_where_four_eyes_are_wanted(place: Backend) -> None:
    book = place.process().book
    await book.add(question(four_eyes=True))
    for reply in (yes("ana"), replace(yes(), by=None)):
        assert await book.settle("a1", "acme", "approved", reply) is None
    assert await book.settle("a1", "acme", "responded", respond("done", by="ana")) is None
    ended = await book.settle("a1", "acme", "approved", yes("bo"))
    assert ended is not None and ended.status == "approved"


@pytest.mark.req("BY-05")
async def test_whoever_asked_may_call_it_off_all_the_same(place: Backend) -> None:
    book = place.process().book
    await book.add(question(four_eyes=True))
    ended = await book.settle("a1", "acme", "rejected", reject(by="ana"))
    assert ended is not None and ended.status == "rejected"


@pytest.mark.req("RT-06", "BY-19")
async def test_no_row_shows_the_exact_arguments_or_a_secret(rows: Backend) -> None:
    process = rows.process()
    await process.book.add(question())
    sent = replace(yes("bo", "h1"), edits={"title": "Spring", "pin": "0815-0815"})
    await process.book.settle("a1", "acme", "approved", sent)
    with process.rows.reading("acme") as conn:
        [row] = conn.exec_driver_sql("SELECT * FROM approvals").all()
    told = repr(row)
    for hidden in ("4711", "t0p-s3cret", "0815", "a line that only reviewers see"):
        assert hidden not in told
    assert "spring" in told


@pytest.mark.req("AP-08")
@pytest.mark.parametrize("change", ["sealed = 'AAAA'", "args = '{'", "decision = '{}'"])
async def test_a_question_that_cannot_be_read_hides_no_other(
    rows: Backend, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    process = rows.process()
    for one in ("a1", "a2"):
        await process.book.add(question(one))
    with process.rows.transaction("acme") as conn:
        conn.exec_driver_sql(f"UPDATE approvals SET {change} WHERE id = 'a1'")
    assert [one.id for one in await process.book.list("acme")] == ["a2"]
    assert "the approval a1 of acme cannot be read" in caplog.text


@pytest.mark.req("BY-03", "AP-09")
async def test_a_row_whose_sealed_call_was_exchanged_runs_nothing(rows: Backend) -> None:
    process = rows.process()
    await process.book.add(question("a1"))
    await process.book.add(question("a2", raw={"title": "everything", "pin": "1"}))
    with process.rows.transaction("acme") as conn:
        conn.exec_driver_sql(
            "UPDATE approvals SET sealed = (SELECT sealed FROM approvals b WHERE b.id = 'a2')"
        )
    with pytest.raises(Exception, match="Nothing was opened"):
        await process.book.settle("a1", "acme", *ANSWERS["approve"])
    assert rows.won == []


async def test_a_call_that_is_over_leaves_what_was_shown_and_nothing_exact(rows: Backend) -> None:
    process = rows.process()
    book: Any = process.book
    await book.add(question())

    def shed(conn: Connection) -> None:
        forget_call_arguments(conn, "other", "call-a1", rows.seal)
        forget_call_arguments(conn, "acme", "call-a1", rows.seal)

    await process.rows.write("acme", shed)
    assert (await _settled(book)).raw["pin"] == "4711"
    await process.rows.write("acme", shed)
    found = await book.get("a1", "acme")
    assert (found.raw, found.secrets, found.preview, found.answer.edits) == (None, frozenset(), None, None)
    assert (found.status, found.args["title"], found.edited.hash) == ("approved", "spring", "h1")


async def _settled(book: Any) -> ApprovalRequest:
    settled: ApprovalRequest = await book.settle("a1", "acme", *ANSWERS["edit"])
    return settled


@pytest.mark.req("BY-03")
async def test_when_the_run_cannot_be_enqueued_nothing_is_decided(rows: Backend) -> None:
    process = rows.process()
    await process.book.add(question())
    rows.won = _Broken()
    with pytest.raises(RuntimeError, match="no queue"):
        await process.book.settle("a1", "acme", *ANSWERS["approve"])
    rows.won = []
    assert await process.book.settle("a1", "acme", *ANSWERS["reject"]) is not None


class _Broken(list[Any]):
    def append(self, one: Any) -> None:
        raise RuntimeError("no queue")
