"""Tool sessions on SQLite and PostgreSQL: who comes in, what they may do there, and how it ends."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any

import pytest
from pydantic import Field

from handrail import Context
from handrail.core.define.ui_specs import FormSpec
from handrail.core.errors import UsageError
from handrail.core.run.approvals.inbox import Conflict
from handrail.identity.errors import PermissionDenied, RateLimited
from handrail.identity.session_submissions import SubmissionResult, event_session, guest_participant
from handrail.identity.tool_sessions import Guest, Participant
from handrail.store.tool_sessions import ToolSession
from tests.contract.shared.two_tenants import ACME, OTHER, rating, two_tenants


@pytest.mark.req("CS-01", "CS-02")
async def test_a_session_is_of_a_tool_that_is_made_to_be_filled_in_together(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        sessions = tenants.services.tool_sessions
        tool = await tenants.tool("team.rate", ana)
        made = await sessions.create(ana, tool, " Our  view ", entity_ids=["e1"], config={"round": 1})
        assert (made.tenant_id, made.tool_slug, made.title) == (ACME, "team-rate", "Our view")
        assert (made.status, made.entity_ids, made.config) == ("active", ("e1",), {"round": 1})
        assert made.created_by == ana.user and await sessions.get(ana, made.id) == made
        with pytest.raises(UsageError, match="not made to be filled in together"):
            await tenants.session(ana, "image.paint")
        viewer = await tenants.person("viewer", name="Vic")
        with pytest.raises(PermissionDenied, match=r"tool_sessions\.create"):
            await sessions.create(viewer, tool)
        assert await sessions.list(viewer) == [made]


@pytest.mark.req("CS-03", "CS-05", "CS-06")
async def test_what_is_submitted_is_run_attributed_and_put_together(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        guest, _ = await tenants.join(await tenants.link(ana, session), "Bo")
        mine = await tenants.submit(session, Participant(str(ana.user), "Ana", ana), score=4)
        theirs = await tenants.submit(session, guest, score=2, note="slow")
        assert mine.submission is not None and theirs.submission is not None
        given = await tenants.services.tool_sessions.submissions(session)
        told = [(one.user_id, one.user_display_name, one.input, one.output["score"]) for one in given]
        assert told == [
            (ana.user, "Ana", {"score": 4}, 4),
            (guest.id, "Bo", {"score": 2, "note": "slow"}, 2),
        ]
        assert given[1].output["by"] == guest.id
        tool = await tenants.tool("team.rate", ana)
        found = await tenants.services.aggregates.of(tool, session, given)
        assert found is not None and (found.data, found.of) == ({"mean": 3.0}, 2)
        log = tenants.hr.log.read(ACME, session=event_session(session))
        assert [one.kind for one in log] == ["started", "completed"] * 2


@pytest.mark.req("CS-06")
async def test_a_submission_is_validated_and_a_wrong_one_is_not_kept(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        guest, _ = await tenants.join(await tenants.link(ana, session), "Bo")
        wrong = await tenants.submit(session, guest, score="many")
        assert (wrong.outcome.code, wrong.submission) == ("INVALID_PARAM", None)
        assert await tenants.services.tool_sessions.submissions(session) == []


@pytest.mark.req("CS-06")
async def test_who_submits_again_replaces_what_they_had_and_the_log_keeps_both(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        guest, _ = await tenants.join(await tenants.link(ana, session), "Bo")
        for score in (1, 5):
            await tenants.submit(session, guest, score=score)
        [only] = await tenants.services.tool_sessions.submissions(session)
        assert only.input == {"score": 5}
        assert len(tuple(tenants.hr.log.read(ACME, session=event_session(session)))) == 4


@pytest.mark.req("CS-06")
async def test_a_closed_session_refuses_until_it_is_reopened_and_a_cancelled_one_for_good(
    database_url: str,
) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        session, sessions = await tenants.session(ana), tenants.services.tool_sessions
        guest, _ = await tenants.join(await tenants.link(ana, session), "Bo")
        assert (await sessions.set_status(session, "completed")).status == "completed"
        with pytest.raises(Conflict, match="closed") as refused:
            await tenants.submit(session, guest, score=1)
        assert refused.value.code == "SESSION_CLOSED"
        assert (await sessions.set_status(session, "active")).status == "active"
        assert (await tenants.submit(session, guest, score=1)).submission is not None
        assert (await sessions.set_status(session, "cancelled")).status == "cancelled"
        for status in ("active", "completed"):
            with pytest.raises(Conflict, match="for good"):
                await sessions.set_status(session, status)
        with pytest.raises(Conflict):
            await tenants.submit(session, guest, score=2)
        with pytest.raises(Conflict, match="Reopen"):
            await tenants.link(ana, await tenants.now(session))


@pytest.mark.req("CS-06")
async def test_what_is_worked_out_while_the_session_closes_is_not_added(database_url: str) -> None:
    begun, closed = asyncio.Event(), asyncio.Event()

    async def slow(*, ctx: Context) -> dict[str, Any]:
        """Take a while."""
        begun.set()
        await closed.wait()
        return {"score": 1}

    late = rating("team.late", slow)
    async with two_tenants(database_url, late) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana, "team.late")
        guest, _ = await tenants.join(await tenants.link(ana, session), "Bo")
        work = asyncio.create_task(tenants.submit(session, guest))
        await asyncio.wait_for(begun.wait(), 20)
        await tenants.services.tool_sessions.set_status(session, "completed")
        closed.set()
        with pytest.raises(Conflict, match="closed while your answer was worked out"):
            await work
        assert await tenants.services.tool_sessions.submissions(session) == []


@pytest.mark.req("CS-04", "CS-06")
async def test_a_link_opens_one_session_until_it_is_over_revoked_or_replaced(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        session, sessions = await tenants.session(ana), tenants.services.tool_sessions
        link = await tenants.link(ana, session, lifetime=60)
        found = await sessions.by_token(link)
        assert found is not None and found.id == session.id
        assert link not in repr(found) and link.rpartition("_")[2] not in repr(found)
        wrong = (
            link[:-1] + ("0" if link[-1] != "0" else "1"),
            link.replace(ACME, OTHER),
            "hr" + link[2:],
            "",
        )
        assert [await sessions.by_token(one) for one in wrong] == [None] * 4
        _, note = await tenants.join(link, "Bo")
        assert await sessions.guest(note, session.id) is not None
        tenants.time.turn(61)
        assert await sessions.by_token(link) is None and await sessions.guest(note, session.id) is None
        second = await tenants.link(ana, session)
        assert await sessions.guest(note, session.id) is None, "they came by a link that is over"
        _, other = await tenants.join(second, "Cy")
        await sessions.unshare(session)
        assert await sessions.by_token(second) is None and await sessions.guest(other, session.id) is None


@pytest.mark.req("CS-06")
@pytest.mark.fault("F26")
async def test_a_guest_may_use_one_tool_of_one_session_and_nothing_else(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        session, another = await tenants.session(ana), await tenants.session(ana)
        guest, note = await tenants.join(await tenants.link(ana, session), "Bo")
        await tenants.link(ana, another)
        sessions = tenants.services.tool_sessions
        assert await sessions.guest(note, another.id) is None
        assert await sessions.guest(note.replace(ACME, OTHER), session.id) is None
        assert await sessions.guest(f"{note[:-2]}AA", session.id) is None
        who = (await guest_participant(tenants.hr, guest, session)).principal
        assert not who.holds("tool_sessions.read") and who.permissions == {"rates.give"}
        for name in ("image.paint", "mail.send", "image.draw"):
            said = await tenants.hr.call(name, {"text": "x"}, principal=who, source="web")
            assert said.code in ("NOT_PERMITTED", "TOOL_NOT_FOUND"), name
        with pytest.raises(PermissionDenied):
            await sessions.get(who, session.id)
        assert await sessions.manage(who, session.id) is None


@pytest.mark.req("CS-06")
async def test_a_tool_that_changes_things_is_filled_in_by_members_only(sqlite_url: str) -> None:
    async with two_tenants(sqlite_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana, "mail.send")
        with pytest.raises(UsageError, match="people who have no account"):
            await tenants.link(ana, session)


async def test_no_agent_shares_a_session(sqlite_url: str) -> None:
    async with two_tenants(sqlite_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        with pytest.raises(PermissionDenied, match="a person shares"):
            await tenants.link(ana.spawn("ops"), session)


async def test_nobody_shares_a_tool_that_they_could_not_use_themselves(sqlite_url: str) -> None:
    async with two_tenants(sqlite_url) as tenants:
        session = await tenants.session(await tenants.person("owner"))
        operator = await tenants.person("operator", name="Op")
        assert await tenants.services.tool_sessions.manage(operator, session.id) is not None
        with pytest.raises(PermissionDenied, match=r"rates\.give"):
            await tenants.services.tool_sessions.share(operator, session, rating())


async def test_a_secret_that_somebody_submits_is_kept_nowhere(sqlite_url: str) -> None:
    async def rate(word: Annotated[str, Field(json_schema_extra={"x-secret": True})]) -> dict[str, Any]:
        """Rate with a word."""
        return {"score": len(word)}

    async with two_tenants(sqlite_url, rating("team.secret", rate)) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana, "team.secret")
        await tenants.submit(session, Participant(str(ana.user), "Ana", ana), word="olive")
        [only] = await tenants.services.tool_sessions.submissions(session)
        assert only.output == {"score": 5} and "olive" not in repr(only)


@pytest.mark.req("UI-16")
async def test_a_guest_is_no_operator(sqlite_url: str) -> None:
    together = rating("team.draw", form=FormSpec({"note": {"operator_only": True}}))
    async with two_tenants(sqlite_url, together) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana, "team.draw")
        guest, _ = await tenants.join(await tenants.link(ana, session), "Bo")
        done = await tenants.submit(session, guest, score=1, note="mine")
        mine = await tenants.submit(session, Participant(str(ana.user), "Ana", ana), score=1, note="mine")
        assert done.submission is not None and mine.submission is not None
        assert (done.submission.output["note"], mine.submission.output["note"]) == ("", "mine")


@pytest.mark.fault("F26")
async def test_nobody_of_another_tenant_finds_a_session(database_url: str) -> None:
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        eve = await tenants.person("owner", tenant=OTHER, name="Eve")
        session, sessions = await tenants.session(ana), tenants.services.tool_sessions
        await tenants.submit(session, Participant(str(ana.user), "Ana", ana), score=4)
        assert await sessions.get(eve, session.id) is None and await sessions.list(eve) == []
        assert await sessions.manage(eve, session.id) is None
        copied = ToolSession(session.id, OTHER, session.tool_slug, "x", "eve", 0.0)
        assert await sessions.submissions(copied) == [] and await sessions.revision(copied) is None


async def test_whoever_made_a_session_manages_it_and_others_need_the_permission(sqlite_url: str) -> None:
    async with two_tenants(sqlite_url) as tenants:
        bea = await tenants.person("builder", name="Bea")
        sessions = tenants.services.tool_sessions
        session = await sessions.create(bea, rating())
        viewer, operator = (
            await tenants.person("viewer", name="Vic"),
            await tenants.person("operator", name="Op"),
        )
        assert await sessions.manage(bea, session.id) is not None
        assert await sessions.manage(operator, session.id) is not None
        assert await sessions.manage(viewer, session.id) is None


@pytest.mark.req("CS-05")
async def test_however_many_look_at_once_the_answers_are_put_together_once(sqlite_url: str) -> None:
    made: list[int] = []
    go_on = threading.Event()

    def slowly(outputs: list[Any]) -> int:
        go_on.wait(20)
        made.append(len(outputs))
        return len(outputs)

    async with two_tenants(sqlite_url, rating("team.slow", aggregate=slowly)) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana, "team.slow")
        await tenants.submit(session, Participant(str(ana.user), "Ana", ana), score=4)
        given = await tenants.services.tool_sessions.submissions(session)
        tool = await tenants.tool("team.slow", ana)
        looks = [
            asyncio.ensure_future(tenants.services.aggregates.of(tool, session, given)) for _ in range(20)
        ]
        await asyncio.sleep(0)
        looks[0].cancel()  # whoever asked first may have closed the page
        await asyncio.sleep(0)
        go_on.set()
        found = await asyncio.gather(*looks[1:])
        assert [one.data if one else None for one in found] == [1] * 19 and made == [1]


@pytest.mark.req("CS-05")
async def test_an_aggregate_that_fails_or_never_ends_is_told_and_nothing_else_breaks(sqlite_url: str) -> None:
    over = asyncio.Event()
    loop = asyncio.get_running_loop()

    def fails(outputs: list[Any]) -> Any:
        raise RuntimeError("secret inside")

    def hangs(outputs: list[Any]) -> Any:
        asyncio.run_coroutine_threadsafe(over.wait(), loop).result()
        return 1

    async with two_tenants(sqlite_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        await tenants.submit(session, Participant(str(ana.user), "Ana", ana), score=4)
        given = await tenants.services.tool_sessions.submissions(session)
        aggregates = tenants.services.aggregates
        aggregates._patience = 0.2
        for function, said in ((fails, "could not be put together"), (hangs, "takes too long")):
            found = await aggregates.of(rating(aggregate=function), session, given)
            assert found is not None and said in str(found.error) and "secret" not in str(found.error)
        over.set()
        assert await aggregates.of(rating(aggregate=None), session, given) is None


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\u202eb", "a\x00b"])
async def test_a_name_that_others_could_not_read_is_refused_in_words(name: str, sqlite_url: str) -> None:
    async with two_tenants(sqlite_url) as tenants:
        ana = await tenants.person("owner")
        link = await tenants.link(ana, await tenants.session(ana))
        with pytest.raises(UsageError, match="name"):
            await tenants.join(link, name)


async def test_a_session_that_is_full_says_so(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handrail.identity.tool_sessions.MAX_PARTICIPANTS", 1)
    async with two_tenants(sqlite_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        mine = Participant(str(ana.user), "Ana", ana)
        for score in (1, 2):
            await tenants.submit(session, mine, score=score)
        guest, _ = await tenants.join(await tenants.link(ana, session), "Bo")
        with pytest.raises(Conflict, match="full"):
            await tenants.submit(session, guest, score=1)


@pytest.mark.req("CS-04")
async def test_a_guest_submits_so_often_a_day_and_all_of_a_link_together_however_many_at_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("handrail.identity.tool_sessions.GUEST_RUNS_PER_DAY", 3)
    monkeypatch.setattr("handrail.identity.tool_sessions.LINK_RUNS_PER_DAY", 5)
    async with two_tenants(database_url) as tenants:
        ana = await tenants.person("owner")
        session = await tenants.session(ana)
        link = await tenants.link(ana, session, 4 * 86_400.0)
        bo, cy = (await tenants.join(link, "Bo"))[0], (await tenants.join(link, "Cy"))[0]

        async def tries(guest: Guest, count: int) -> list[str]:
            each = [tenants.submit(session, guest, score=n) for n in range(count)]
            done = await asyncio.gather(*each, return_exceptions=True)
            assert all(isinstance(one, SubmissionResult | RateLimited) for one in done), done
            return [str(one) for one in done if isinstance(one, RateLimited)]

        own = await tries(bo, 7)
        assert len(own) == 4 and all("as one guest can in a day. Try again in " in one for one in own)
        others = await tries(cy, 4)
        assert len(others) == 2 and all(one.startswith("The guests of this link") for one in others)
        log = tenants.hr.log.read(ACME, session=event_session(session))
        assert len([one for one in log if one.kind == "started"]) == 5
        await tenants.submit(session, Participant(str(ana.user), "Ana", ana), score=1)
        tenants.time.turn(86_400)
        assert await tries(bo, 1) == []
