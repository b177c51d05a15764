"""The pages of tools as a server answers them: who sees what, and that nothing runs twice."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from html import unescape
from typing import Annotated, Any

import httpx
import pytest
from pydantic import Field

from handrail import Handrail, Policy, Principal, Rule, tool
from handrail.core.define.ui_specs import FormSpec, OutputSection
from handrail.core.present.forms import Option
from handrail.doors.web.app import build_web
from handrail.platform import FixedKeys, platform_of
from handrail.platform.middleware import RequestLimits, SecurityMiddleware
from tests.harness.asgi_server import serve_app
from tests.unit.doors.web.forms.browser import Page, changed

ANA = Principal("acme", "ana")
BO = Principal("acme", "bo", permissions={"runs.read"})
CY = Principal("acme", "cy", permissions={"runs.read", "events.read", "secret.tools"})
BOSS = Principal("acme", "boss", permissions={"approvals.decide", "approvals.read", "events.read"})
EVA = Principal("other", "eva", permissions={"*"})
PART = {"hx-request": "true"}
ran: list[str] = []


@tool("shop.note", level="write", danger="safe", category="Shop", name="Note down")
async def note(text: str, times: Annotated[int, Field(ge=1)] = 1) -> dict[str, Any]:
    """Write something down."""
    ran.append(text)
    await asyncio.sleep(0)
    return {"noted": text * times}


@tool("shop.till", level="read", category="Shop", requires="secret.tools", name="The till")
async def till() -> dict[str, Any]:
    """Look into the till."""
    return {"money": 3}


@tool("words.shout", level="read", category="Words", name="Shout")
async def shout(word: str) -> str:
    """Say a word aloud."""
    return word.upper()


class SignedIn(FixedKeys):
    """Lets people in by a session as well, so that they come by the web."""

    async def principal_from_session(self, token: str) -> Principal:
        return await self.principal_of(token)


class Streets:
    """A store of streets; each person sees their tenant's."""

    def __init__(self, who: Principal) -> None:
        self._tenant = who.tenant

    async def search(self, type: str, text: str, limit: int) -> list[Option]:
        known = [Option(f"{self._tenant}-{at}", f"{text or 'First'} street {at}") for at in range(100)]
        return known[:limit] if type == "street" else []


@asynccontextmanager
async def opened(*more: Any) -> AsyncIterator[dict[str, httpx.AsyncClient]]:
    ran.clear()
    keys = {"ana": ANA, "bo": BO, "cy": CY, "boss": BOSS, "eva": EVA}
    rules = Policy(rules=[Rule("shop.order", verdict="ask", reason="orders cost money")])
    async with Handrail(tools=[note, till, shout, *more], policy=rules) as hr:
        platform = replace(platform_of(hr), auth=SignedIn(keys))
        web = build_web(platform, options=Streets)
        async with (
            serve_app(SecurityMiddleware(web, platform, RequestLimits(rate=None))) as url,
            AsyncExitStack() as stack,
        ):
            stack.callback(platform.closing.set)
            people: dict[str, httpx.AsyncClient] = {}
            for name in keys:
                shown = {"handrail_session": name}
                client = httpx.AsyncClient(base_url=url, timeout=20, cookies=shown, follow_redirects=True)
                people[name] = await stack.enter_async_context(client)
            yield people
        await platform.running.over(5)
        web.live.close()


def sent(markup: str) -> list[tuple[str, str]]:
    return Page(markup[markup.index('id="input-form"') - 200 :].split("</form>")[0]).sends()


async def ran_once(ana: httpx.AsyncClient, **typed: str) -> httpx.Response:
    pairs = sent((await ana.get("/tools/shop-note")).text)
    for name, value in typed.items():
        pairs = changed(pairs, f"#/{name}", value)
    return await ana.post("/tools/shop-note/run", files=[(name, (None, value)) for name, value in pairs])


async def names(reader: httpx.AsyncClient, url: str) -> list[str]:
    """The tools that a page of the library shows."""
    return re.findall(r'tool-card-name">([^<]+)<', (await reader.get(url)).text)


@pytest.mark.req("RA-01")
async def test_the_library_shows_what_one_may_use_and_finds_it() -> None:
    async with opened() as people:
        for name, expected in {
            "ana": ["Note down", "Shout"],
            "cy": ["Note down", "The till", "Shout"],
        }.items():
            page = (await people[name].get("/tools")).text
            assert re.findall(r'tool-card-name">([^<]+)<', page) == expected
        assert await names(people["ana"], "/tools?q=aloud") == ["Shout"]
        of_shop = await people["cy"].get("/tools?category=Shop", headers=PART)
        assert re.findall(r'tool-card-name">([^<]+)<', of_shop.text) == ["Note down", "The till"]
        assert "<html" not in of_shop.text
        none = (await people["ana"].get("/tools", params={"q": "<b>till"})).text
        assert "Nothing found for “&lt;b&gt;till”" in none


@pytest.mark.req("RA-01")
async def test_thousands_of_tools_are_shown_a_page_at_a_time_and_none_is_left_out() -> None:
    async def answer() -> str:
        """Answer."""
        return "x"

    many = [tool(f"many.tool{at:04}", level="read", category=f"c{at % 3}")(answer) for at in range(300)]
    async with opened(*many) as people:
        seen: list[str] = []
        url: str | None = "/tools?category=c1"
        while url:
            page = (await people["ana"].get(url)).text
            cards = re.findall(r'class="tool-card-link" href="([^"]+)"', page)
            assert 0 < len(cards) <= 48
            seen += cards
            more = re.search(r'<li class="tool-more"><a[^>]* href="([^"]+)"', page)
            url = unescape(more[1]) if more else None
        assert len(seen) == len(set(seen)) == len([at for at in range(300) if at % 3 == 1])


@pytest.mark.parametrize("path", ["", "/history", "/options"])
async def test_a_tool_that_one_may_not_use_is_like_one_that_there_is_not(path: str) -> None:
    async with opened() as people:
        hidden = await people["ana"].get(f"/tools/shop-till{path}")
        unknown = await people["ana"].get(f"/tools/nothing{path}")
        assert hidden.status_code == unknown.status_code == 404
        assert hidden.text.replace("shop-till", "nothing") == unknown.text
        assert (await people["cy"].get(f"/tools/shop-till{path}")).status_code == 200


@pytest.mark.parametrize("path", ["run", "form", "check", "link"])
async def test_nothing_can_be_posted_to_a_tool_that_one_may_not_use(path: str) -> None:
    async with opened() as people:
        assert (await people["ana"].post(f"/tools/shop-till/{path}", data={})).status_code == 404


@pytest.mark.req("RA-02", "UI-05", "UI-15")
async def test_a_post_runs_once_however_often_it_comes() -> None:
    async with opened() as people:
        ana = people["ana"]
        pairs = changed(sent((await ana.get("/tools/shop-note")).text), "#/text", "milk")
        body = [(name, (None, value)) for name, value in pairs]
        posts = [ana.post("/tools/shop-note/run", files=body, headers=PART) for _ in range(8)]
        answers = [one.text for one in await asyncio.gather(*posts)]
        answers.append((await ana.post("/tools/shop-note/run", files=body)).text)
        assert ran == ["milk"]
        assert all("milk" in one for one in answers)
        other = [(name, (None, "bread" if name == "#/text" else value)) for name, value in pairs]
        await ana.post("/tools/shop-note/run", files=other, headers=PART)
        assert ran == ["milk", "bread"], "another input of the same form is another call"
        again = await ran_once(ana, text="milk")
        assert ran == ["milk", "bread", "milk"] and again.status_code == 200


@pytest.mark.req("RA-02", "UI-17")
async def test_what_is_wrong_stands_at_its_field_and_everything_typed_is_there() -> None:
    async with opened() as people:
        answer = await ran_once(people["ana"], text="a <b> “c”", times="0x")
        assert answer.status_code == 422 and ran == []
        page = Page(answer.text)
        assert page.control("#/text").attrs["value"] == "a <b> “c”"
        times = page.control("#/times")
        assert times.attrs["value"] == "0x" and times.attrs["aria-invalid"] == "true"
        assert "Times must be a whole number. You typed 0x" in page.text
        answer = await ran_once(people["ana"], text="x", times="0")
        assert answer.status_code == 422 and "Times must be 1 or more." in Page(answer.text).text
        assert Page(answer.text).control("#/times").attrs["value"] == "0"


@pytest.mark.req("RA-02")
async def test_checking_says_only_what_was_touched_and_runs_nothing() -> None:
    async with opened() as people:
        pairs = [("_face", "form"), ("#/text", ""), ("#/times", "0"), ("_touched", "#/times")]
        answer = await people["ana"].post("/tools/shop-note/check", files=[(a, (None, b)) for a, b in pairs])
        page = Page(answer.text)
        assert page.control("#/times").attrs["aria-invalid"] == "true"
        assert "aria-invalid" not in page.control("#/text").attrs
        assert ran == []


@pytest.mark.req("EV-14")
async def test_history_shows_ones_own_runs_and_others_only_with_the_right_to_see_them() -> None:
    async with opened() as people:
        await ran_once(people["ana"], text="by ana")
        await ran_once(people["bo"], text="by bo")

        async def rows(name: str) -> list[str]:
            page = (await people[name].get("/tools/shop-note/history")).text
            return [Page(row).text for row in re.findall(r'<tr id="row-[^"]+">.*?</tr>', page)]

        assert len(await rows("ana")) == 1 and "you" in (await rows("ana"))[0]
        seen_by_bo = await rows("bo")
        assert ["you" in row for row in seen_by_bo] == [True, False] and "ana" in seen_by_bo[1]
        assert ["Open and edit" in row for row in seen_by_bo] == [True, False]
        assert all("Open and edit" in row for row in await rows("cy"))
        assert await rows("eva") == []


async def test_a_call_of_somebody_else_is_not_there_whatever_its_address() -> None:
    async with opened() as people:
        done = await ran_once(people["ana"], text="mine alone")
        call_id = done.url.params["call"]
        for name, code in {"ana": 200, "bo": 404, "cy": 200, "eva": 404}.items():
            for path in (f"?call={call_id}", f"/call/{call_id}/output"):
                answer = await people[name].get(f"/tools/shop-note{path}")
                assert answer.status_code == code, (name, path)
                assert code == 200 or "mine alone" not in answer.text
        assert (await people["ana"].get(f"/tools/words-shout?call={call_id}")).status_code == 404
        assert (await people["bo"].post(f"/tools/shop-note/call/{call_id}/cancel")).status_code == 404
        assert (await people["bo"].post("/tools/shop-note/run", data={"_call": call_id})).status_code == 404


@pytest.mark.req("RA-02")
async def test_an_earlier_run_can_be_made_again_or_edited() -> None:
    async with opened() as people:
        ana = people["ana"]
        done = await ran_once(ana, text="tea", times="2")
        call_id = done.url.params["call"]
        assert Page(done.text).control("#/text").attrs["value"] == "tea"
        run_id = re.search(r'id="row-([^"]+)"', done.text)
        assert run_id is not None
        by_run = Page((await ana.get(f"/tools/shop-note?run={run_id[1]}")).text)
        assert by_run.control("#/times").attrs["value"] == "2"
        again = await ana.post("/tools/shop-note/run", data={"_call": call_id, "_key": "k1"})
        assert again.status_code == 200 and ran == ["tea", "tea"] and again.url.params["call"] != call_id
        await ana.post("/tools/shop-note/run", data={"_call": call_id, "_key": "k1"})
        assert ran == ["tea", "tea"]


@tool("shop.order", level="write", four_eyes=True, name="Order")
async def order(what: str) -> dict[str, Any]:
    """Order something."""
    ran.append(what)
    return {"ordered": what}


@pytest.mark.req("RA-02")
async def test_what_needs_approval_says_whose_and_shows_the_decision_when_it_comes() -> None:
    async with opened(order) as people:
        ana, boss = people["ana"], people["boss"]
        pairs = changed(sent((await ana.get("/tools/shop-order")).text), "#/what", "nails")
        body = [(name, (None, value)) for name, value in pairs]
        asked = await ana.post("/tools/shop-order/run", files=body, headers=PART)
        said = Page(asked.text).text
        assert "Needs approval" in said and "but not whoever asked. Nothing has run yet." in said
        assert "hx-sse:connect" in asked.text and "http-equiv" not in asked.text
        call = asked.headers["hx-replace-url"].partition("?call=")[2]
        part = f"/tools/shop-order/call/{call}"
        waiting = await ana.get(part, headers=PART)
        assert "Needs approval" in waiting.text and "hx-retarget" not in waiting.headers
        assert (await ana.post(f"{part}/confirm", headers=PART)).status_code == 404 and ran == []
        card = re.search(
            r'href="(/approvals/[^"]+)"', (await boss.get(f"/tools/shop-order?call={call}")).text
        )
        assert card is not None
        mark = Page((await boss.get(card[1])).text).control("shown").attrs["value"]
        assert (await boss.post(f"{card[1]}/approve", data={"shown": mark})).status_code == 200
        while "hx-retarget" not in (ended := await ana.get(part, headers=PART)).headers:
            assert ended.status_code == 200
        assert ran == ["nails"] and "Ordered" in Page(ended.text).text
        assert ended.headers["hx-retarget"] == "#result"


async def test_a_refusal_and_a_cancelled_call_are_told_in_a_sentence() -> None:
    async with opened(order) as people:
        ana = people["ana"]
        pairs = changed(sent((await ana.get("/tools/shop-order")).text), "#/what", "nails")
        done = await ana.post("/tools/shop-order/run", files=[(name, (None, value)) for name, value in pairs])
        call = done.url.params["call"]
        stopped = await ana.post(f"/tools/shop-order/call/{call}/cancel")
        assert "You cancelled it" in Page(stopped.text).text and ran == []


@tool(
    "shop.rate",
    level="read",
    name="Rate",
    form=FormSpec({"stars": {"label": "How many stars"}}, order=("stars",)),
    sections=[OutputSection("rows", "By year", "table")],
)
async def rate(stars: int) -> dict[str, Any]:
    """Rate something."""
    return {"rows": [{"year": 1, "stars": stars}], "rest": "unseen"}


@pytest.mark.req("UI-05", "UI-15")
async def test_a_tool_is_asked_for_and_shown_as_it_wishes_and_else_by_its_schema() -> None:
    async with opened(rate) as people:
        ana = people["ana"]
        page = await ana.get("/tools/shop-rate")
        assert "How many stars" in Page(page.text).text
        pairs = changed(sent(page.text), "#/stars", "4")
        done = await ana.post("/tools/shop-rate/run", files=[(name, (None, value)) for name, value in pairs])
        shown = done.text.partition('id="out"')[2].partition('class="tool-next"')[0]
        assert "By year" in shown and "<table" in shown
        assert f"/runs/{done.url.params['call']}/result.csv?section=rows" in shown
        plain = Page((await ran_once(ana, text="tea")).text).text
        assert "Noted tea" in plain


async def test_a_program_does_not_become_a_person_by_posting_to_a_page() -> None:
    async with opened(order) as people:
        ana = people["ana"]
        key = {"authorization": "Bearer ana"}
        pairs = changed(sent((await ana.get("/tools/words-shout")).text), "#/word", "hey")
        body = [(name, (None, value)) for name, value in pairs]
        for headers, through in ((key, "REST"), ({}, "the web page")):
            done = await ana.post("/tools/words-shout/run", files=body, headers=headers)
            told = await ana.get(f"/runs/{done.url.params['call']}")
            assert through in Page(told.text).text.replace("on the web page", "through the web page")
            body[1] = (body[1][0], (None, "another key"))


@tool("shop.send", level="read", name="Send")
async def send(to: Annotated[str, Field(json_schema_extra={"x-entity-type": "street"})]) -> str:
    """Send something somewhere."""
    return to


@pytest.mark.req("UI-08")
async def test_a_picker_offers_what_the_store_of_the_reader_has_and_nothing_else() -> None:
    async with opened(send) as people:
        page = (await people["ana"].get("/tools/shop-send")).text
        assert "/tools/shop-send/options" in page and "acme-7" in page and "other-7" not in page
        found = await people["eva"].get("/tools/shop-send/options?type=street&q=Main")
        assert found.json()[1] == {"value": "other-1", "label": "Main street 1"} and len(found.json()) == 50
        assert (await people["eva"].get("/tools/shop-send/options?type=person&q=M")).json() == []
        assert (await people["eva"].get("/tools/words-shout/options?type=street")).json() == []


@tool("shop.stock", level="read", category="Shop", name="Stock")
async def stock(rows: int) -> list[dict[str, Any]]:
    """Everything on the shelves."""
    return [{"shelf": number, "article": f"article {number}"} for number in range(rows)]


@pytest.mark.req("UI-07")
async def test_a_large_result_is_drawn_when_it_is_asked_for_and_a_small_one_at_once() -> None:
    async with opened(stock) as people:
        ana = people["ana"]
        pages: dict[int, str] = {}
        for rows in (50, 5_000):
            pairs = changed(sent((await ana.get("/tools/shop-stock")).text), "#/rows", str(rows))
            files = [(name, (None, value)) for name, value in pairs]
            pages[rows] = (await ana.post("/tools/shop-stock/run", files=files)).text
        assert "article 49" in pages[50] and "Show the result" not in pages[50]
        large = pages[5_000]
        assert "The result is large" in large and "article 7" not in large
        assert len(large) < 2 * len(pages[50])
        [address] = set(re.findall(r'hx-get="(/runs/[^"]+/result)"', large))
        assert f'href="{address}"' in large, "a page of its own for whoever has no script"
        part = (await ana.get(address, headers=PART)).text
        assert "article 99<" in part and "4,900 items more" in part and "article 4999" not in part
        whole = (await ana.get(f"{address}.json")).json()
        assert whole["data"][-1]["article"] == "article 4999"
