"""Approval cards: who sees them, what they say, and what each answer does."""

from __future__ import annotations

import json

import pytest

from handrail import Principal, Result
from handrail.core.define.call import BoundCall
from handrail.core.tell.events import ToolCompleted
from handrail.doors.web.live import topics_of
from handrail.testing import FakeClock
from tests.unit.doors.web.pages.approval_client import ANA, BOT, DAN, approval_client, shown_in, words


@pytest.mark.req("BY-02")
async def test_a_card_says_who_wants_what_through_what_until_when_how_gravely_why_and_with_what() -> None:
    async with approval_client(approval_lifetime=3600) as pages:
        asked = await pages.ask("data.update", id="rec-1", status="archived", count="5", token="s3cret")
        page = await pages.see(f"/approvals/{asked}")
        said = words(page)
        order = [
            'agent "ops", for ana, wants to run Update a record data.update',
            "write · moderate",
            "through MCP, asked just now, expires in 59 min",
            "because Needs approval: it changes real data",
            'Record id"rec-1"',
            'status"archived"',
            "count5",
            'token"•••" a secret, shown to nobody',
            'took "5" as 5 in count',
            "Approve",
            "Why it is asked",
            "Digest of the arguments",
        ]
        places = [said.find(one) for one in order]
        assert -1 not in places and places == sorted(places), list(zip(order, places, strict=True))
        assert "s3cret" not in page
        request = await pages.hr.approvals.get(asked, ANA)
        assert request is not None and request.args_hash in page and request.tool_digest in page


@pytest.mark.req("UI-17", "AP-02")
async def test_whoever_decides_sees_what_would_change_and_whoever_asked_does_not() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("mail.send", summary="<b>hi</b>")
        page = await pages.see(f"/approvals/{asked}")
        assert "What it would change, as of when it was asked" in page
        assert '<del class="view-removed">-nothing\n</del>' in page and "+&lt;b&gt;hi&lt;/b&gt;" in page
        own = await pages.ask("mail.send", who=DAN, summary="x")
        seen = await pages.see(f"/approvals/{own}", "dan")
        assert "mail.send" in seen and "What it would change" not in seen
        await pages.decide(asked, "reject", reason="no")
        assert "What it would change" not in await pages.see(f"/approvals/{asked}")


@pytest.mark.req("UI-17")
async def test_markup_from_callers_tools_and_reviewers_stays_text() -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'><b>"
    async with approval_client() as pages:
        bot = Principal("acme", "ana", agent=evil, permissions=["*"])
        asked = await pages.ask("data.update", who=bot, id=evil, status=evil * 40)
        seen = [await pages.see(path) for path in (f"/approvals/{asked}", "/approvals")]
        seen.append(await pages.see(f"/approvals/{asked}/edit"))
        typed = {"shown": shown_in(seen[0]), "_face": "json", "_json": json.dumps({"id": evil + "!"})}
        seen.append((await pages.post_form(f"/approvals/{asked}/edit", **typed)).text)
        seen.append((await pages.decide(asked, "respond", data=evil, output="")).text)
        await pages.decide(asked, "reject", reason=evil)
        seen += [await pages.see(path) for path in (f"/approvals/{asked}", "/approvals")]
        for page in seen:
            assert "<script>alert" not in page and "<img" not in page and "&lt;script&gt;" in page


@pytest.mark.req("BY-02", "AP-08")
async def test_what_one_may_not_see_is_not_there() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1")
        for who in ("eve", "dan"):
            for path in ("", "/card", "/edit", "/standing"):
                await pages.see(f"/approvals/{asked}{path}", who, 404)
            assert "rec-1" not in await pages.see("/approvals", who)
            for act in ("approve", "reject", "respond", "edit", "edit/back"):
                assert (await pages.post_form(f"/approvals/{asked}/{act}", who)).status_code == 404
            assert await pages.see("/approvals/badge", who) == ""
        assert await pages.see("/approvals/badge", "bea") == "1"
        await pages.see("/approvals/%F0%9F%92%A9", "ana", 404)
        request = await pages.hr.approvals.get(asked, ANA)
        assert request is not None and request.status == "pending" and pages.ran == []


@pytest.mark.req("BY-02")
async def test_whoever_asked_sees_that_it_waits_for_others() -> None:
    async with approval_client() as pages:
        mine = Principal("acme", "dan", agent="helper", permissions=["*"])
        asked = await pages.ask("data.update", who=mine, id="rec-1")
        own = await pages.ask("data.update", who=DAN, id="rec-2")
        page = await pages.see("/approvals", "dan")
        assert f"ask-{asked}" not in page, "what an agent asks in one's name is not the agent's own"
        assert f"ask-{own}" in page and "Waits for others" in page
        assert "It waits for somebody who may approve it." in page
        assert 'name="shown"' not in page and "Nothing needs your decision" in page


@pytest.mark.req("BY-02")
async def test_the_oldest_question_comes_first_and_decided_ones_stay_a_moment() -> None:
    clock = FakeClock()
    async with approval_client(clock=clock) as pages:
        first = await pages.ask("data.update", id="rec-1")
        clock.turn(10)
        second = await pages.ask("data.update", id="rec-2")
        page = await pages.see("/approvals")
        assert page.index(f"ask-{first}") < page.index(f"ask-{second}") and "2 questions for you" in page
        await pages.decide(first, "approve")
        page = await pages.see("/approvals/list", "cy")
        assert page.index(f'id="ask-{first}"') < page.index(f'id="ask-{second}"')
        assert "Bea approved." in words(page) and "What came of it" in page and "1 question for you" in page
        clock.turn(100)
        page = await pages.see("/approvals/list", "cy")
        assert f'id="ask-{first}"' not in page and f'id="row-{first}"' in page
        assert "Decided lately" in page and "Bea approved." in words(page)


@pytest.mark.req("BY-02", "BY-03")
async def test_approve_runs_it_and_the_card_says_so_with_a_way_to_the_run() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1", status="archived", token="s3cret")
        done = await pages.decide(asked, "approve")
        assert (done.status_code, done.headers["location"]) == (303, f"/approvals/{asked}")
        assert (await pages.ended(asked)).ok
        assert pages.ran == [("update", "rec-1", "archived", 0, "s3cret")]
        page = await pages.see(f"/approvals/{asked}")
        assert "You approved." in words(page) and 'href="/runs/' in page and 'name="shown"' not in page
        again = await pages.post_form(f"/approvals/{asked}/approve", shown="x")
        assert again.status_code == 409 and "too late" in again.text and len(pages.ran) == 1


@pytest.mark.req("BY-02")
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"error": "No box is called x.y. Look at the list."}, "It failed: No box is called x.y."),
        ({"error": "no <b>stop</b>\n\u202eend"}, "It failed: no <b>stop</b> \\u202eend"),
        ({"error": "x" * 5_000}, f"It failed: {'x' * 199}…"),
        ({"summary": "Sent 1 letter. All is well."}, "It ran: Sent 1 letter. All is well."),
        ({}, "It ran."),
    ],
)
async def test_whoever_approved_is_told_what_came_of_it(given: dict[str, str], said: str) -> None:
    async with approval_client() as pages:
        asked = await pages.ask("mail.send", **given)
        await pages.decide(asked, "approve", "ana")
        await pages.ended(asked)
        for path in (f"/approvals/{asked}", f"/approvals/{asked}/card", "/approvals"):
            page = await pages.see(path, "ana")
            assert f"What came of it{said}" in words(page).replace("of it ", "of it")
            assert "<b>stop" not in page


@pytest.mark.req("BY-02")
async def test_whoever_may_not_read_the_run_is_told_no_more_than_how_it_ended() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("mail.send", error="the password is swordfish")
        await pages.decide(asked, "approve", "bea")
        await pages.ended(asked)
        page = words(await pages.see(f"/approvals/{asked}", "bea"))
        assert "It failed." in page
        assert page.count("swordfish") == 1, "among the arguments, which they may see"


@pytest.mark.req("BY-02")
async def test_reject_tells_the_reason_and_runs_nothing() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1")
        await pages.decide(asked, "reject", reason="Not <b>today</b>")
        outcome = await pages.ended(asked)
        assert (outcome.status, outcome.code) == ("refused", "REJECTED")
        assert "Not <b>today</b>" in outcome.result.error and pages.ran == []
        page = await pages.see(f"/approvals/{asked}")
        assert "You rejected it. It did not run." in words(page) and "<b>today" not in page
        assert '"Not <b>today</b>"' in words(page.replace("&lt;b&gt;", "&lt;b&gt;"))


@pytest.mark.req("BY-02")
async def test_an_answer_in_its_place_fits_the_promise_or_is_asked_for_again_with_all_that_was_typed() -> (
    None
):
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1")
        wrong = await pages.decide(asked, "respond", data="{no json", output="")
        assert wrong.status_code == 422 and "{no json" in wrong.text and "This is not JSON" in wrong.text
        assert 'aria-invalid="true"' in wrong.text
        wrong = await pages.decide(asked, "respond", data='{"id": 5}', output="")
        assert wrong.status_code == 422 and "does not fit its output schema" in wrong.text
        assert "{&#34;id&#34;: 5}" in wrong.text
        both = await pages.decide(asked, "respond", data="1", output="words")
        none = await pages.decide(asked, "respond", data="", output=" ")
        assert both.status_code == none.status_code == 422
        await pages.decide(asked, "respond", data="", output="It is archived already.")
        outcome = await pages.ended(asked)
        assert outcome.result.output == "It is archived already." and pages.ran == []
        assert "You answered in its place" in words(await pages.see(f"/approvals/{asked}"))


@pytest.mark.req("BY-02")
async def test_edit_shows_what_changes_before_it_is_approved() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1", status="archived", token="s3cret")
        page = await pages.see(f"/approvals/{asked}/edit")
        assert 'value="rec-1"' in page and "s3cret" not in page
        changed = {"id": "rec-1", "status": "inactive", "token": "•••"}
        typed = {"shown": shown_in(page), "_face": "json", "_json": json.dumps(changed)}
        look = await pages.post_form(f"/approvals/{asked}/edit", **typed)
        said = words(look.text)
        assert look.status_code == 200 and 'status"archived" becomes → "inactive"' in said, said
        assert "You change" in said and "Record" in said and pages.ran == []
        await pages.decide(asked, "approve", edits=json.dumps(changed))
        assert (await pages.ended(asked)).ok
        assert pages.ran == [("update", "rec-1", "inactive", 0, "s3cret")], "the secret is what it was"
        said = words(await pages.see(f"/approvals/{asked}"))
        assert "You changed it and approved." in said and '"archived" becomes → "inactive"' in said


@pytest.mark.req("BY-02", "UI-17")
async def test_an_edit_that_does_not_fit_says_where_and_loses_nothing() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1")
        mark = await pages.mark(asked)
        for text, said in (
            ('{"id": "rec-1", "count": "many"}', "count"),
            ('{"id": 1, "nothing": 2}', "nothing"),
            ("{half", "{half"),
        ):
            typed = {"shown": mark, "_face": "json", "_json": text}
            wrong = await pages.post_form(f"/approvals/{asked}/edit", **typed)
            assert wrong.status_code == 422 and said in words(wrong.text)
            assert text in words(wrong.text), "what was typed is still there"
        bad = await pages.decide(asked, "approve", edits="[1]")
        assert bad.status_code == 422
        bad = await pages.decide(asked, "approve", edits='{"count": "many"}')
        assert bad.status_code == 409 and "do not fit" in bad.text
        assert pages.ran == []


@pytest.mark.fault("F29")
@pytest.mark.req("BY-03")
@pytest.mark.parametrize("act", ["approve", "reject", "respond"])
async def test_a_form_that_showed_something_else_decides_nothing(act: str) -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1")
        other = await pages.ask("data.update", id="rec-2")
        for mark in (await pages.mark(other), "", "0" * 64):
            fields = {"shown": mark, "reason": "no", "output": "yes"}
            answer = await pages.post_form(f"/approvals/{asked}/{act}", **fields)
            assert answer.status_code == 409
            assert "not what you were shown" in answer.text and "nothing was decided" in answer.text
        request = await pages.hr.approvals.get(asked, ANA)
        assert request is not None and request.status == "pending" and pages.ran == []


@pytest.mark.req("BY-05")
async def test_several_persons_are_counted_and_named() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("money.pay", amount=5)
        assert "0 of 2 approved." in words(await pages.see(f"/approvals/{asked}"))
        await pages.decide(asked, "approve", "bea")
        mine = words(await pages.see(f"/approvals/{asked}", "bea"))
        assert "1 of 2 approved: you." in mine and "You have approved it. 1 more must." in mine
        theirs = words(await pages.see(f"/approvals/{asked}", "cy"))
        assert "1 of 2 approved: bea." in theirs and pages.ran == []
        assert await pages.see("/approvals/badge", "bea") == "", "they have said their word"
        assert await pages.see("/approvals/badge", "cy") == "1"
        assert "Waits for others" in await pages.see("/approvals", "bea")
        mark = await pages.mark(asked)
        twice = await pages.post_form(f"/approvals/{asked}/approve", shown=mark)
        assert twice.status_code == 409 and "You have approved it already; 1 more must." in twice.text
        await pages.decide(asked, "approve", "cy")
        assert (await pages.ended(asked)).ok and pages.ran == [("pay", 5)]
        assert "Bea and you approved." in words(await pages.see(f"/approvals/{asked}", "cy"))


@pytest.mark.req("BY-05")
async def test_four_eyes_leave_whoever_is_behind_it_without_a_yes_and_say_why() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("posts.publish", title="spring")
        mine = await pages.see(f"/approvals/{asked}", "ana")
        assert "wants four eyes: somebody else must approve what you asked for" in words(mine)
        assert 'data-act="approve"' not in mine and 'data-act="answer"' not in mine
        assert 'data-act="reject"' in mine
        assert await pages.see("/approvals/badge", "ana") == ""
        assert "Waits for others" in await pages.see("/approvals", "ana")
        forced = await pages.decide(asked, "approve", "ana")
        assert forced.status_code == 409 and "four eyes" in forced.text and pages.ran == []
        assert (await pages.see(f"/approvals/{asked}/edit", "ana", 303)) == ""
        assert 'data-act="approve"' in await pages.see(f"/approvals/{asked}", "bea")


@pytest.mark.req("BY-05")
async def test_one_that_nobody_answered_in_time_says_so_and_takes_no_answer() -> None:
    clock = FakeClock()
    async with approval_client(clock=clock, approval_lifetime=60) as pages:
        asked = await pages.ask("data.update", id="rec-1")
        mark = await pages.mark(asked)
        clock.turn(61)
        late = await pages.post_form(f"/approvals/{asked}/approve", shown=mark)
        assert late.status_code == 409
        assert "Your answer came too late and was not counted. Nobody answered in time." in words(late.text)
        assert "Nobody answered in time. It did not run." in words(await pages.see(f"/approvals/{asked}"))
        kept = await pages.post_form(f"/approvals/{asked}/reject", shown=mark, reason="a long story")
        assert kept.status_code == 409 and "a long story" in kept.text
        assert pages.ran == []


@pytest.mark.req("BY-04")
async def test_a_tool_that_is_another_one_now_cannot_be_approved() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1")
        mark = await pages.mark(asked)
        pages.hr.registry.unregister("data.update")
        page = await pages.see(f"/approvals/{asked}")
        assert "The tool has changed or is gone" in page and 'data-act="approve"' not in page
        await pages.post_form(f"/approvals/{asked}/approve", shown=mark)
        assert not (await pages.ended(asked)).ok and pages.ran == []


@pytest.mark.req("BY-02")
async def test_a_yes_may_hold_for_the_session_where_the_policy_lets_it() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", session="s1", id="rec-1")
        assert 'name="standing"' in await pages.see(f"/approvals/{asked}")
        assert 'name="standing"' not in await pages.see(
            f"/approvals/{await pages.ask('data.purge', session='s1', before='x')}"
        )
        await pages.decide(asked, "approve", standing="yes")
        assert (await pages.ended(asked)).ok
        again = await pages.hr.call("data.update", {"id": "rec-2"}, principal=BOT, source="mcp", session="s1")
        assert again.status == "completed"


@pytest.mark.req("BY-02")
async def test_a_part_for_script_is_the_card_alone_with_what_happened() -> None:
    async with approval_client() as pages:
        asked = await pages.ask("data.update", id="rec-1")
        mark = await pages.mark(asked)
        headers = {"authorization": "Bearer bea", "hx-request": "true"}
        done = await pages.post(f"/approvals/{asked}/approve", data={"shown": mark}, headers=headers)
        assert done.status_code == 200 and done.text.startswith("<article") and "You approved." in done.text
        late = await pages.post(f"/approvals/{asked}/approve", data={"shown": mark}, headers=headers)
        assert late.status_code == 409 and late.text.startswith("<article") and "too late" in late.text


@pytest.mark.req("BY-02")
def test_an_answer_in_its_place_is_news_for_every_open_card_and_a_run_is_not() -> None:
    call = BoundCall("data.update", BOT, "call_1", source="mcp", session="s1")
    assert "approvals" in topics_of(ToolCompleted(call, "data.update", 1.0, None, Result(), 1.0))
    assert "approvals" not in topics_of(ToolCompleted(call, "data.update", 1.0, "run_1", Result(), 1.0))
