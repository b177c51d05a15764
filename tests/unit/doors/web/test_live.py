"""What an open page is told, and what it is not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from handrail import Context, Handrail, Principal, tool
from handrail.doors.web.app import WebApp, build_web
from handrail.doors.web.live import live_url, topic
from handrail.platform import platform_of
from handrail.platform.middleware import SecurityMiddleware
from tests.harness.asgi_server import serve_app

ANA, BO = Principal("acme", "ana"), Principal("acme", "bo")
EVA = Principal("other", "eva")


@tool("say", level="read")
async def say(word: str, *, ctx: Context) -> str:
    """Say a word."""
    ctx.metadata({"title": f"saying {word}"})
    return word


PAID = asyncio.Event()


@tool("pay", level="write")
async def pay() -> str:
    """Pay, once it may."""
    await PAID.wait()
    return "paid"


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[WebApp, Handrail, httpx.AsyncClient]]:
    async with Handrail(tools=[say, pay]) as hr:
        platform = platform_of(hr, {"ana": ANA, "bo": BO, "eva": EVA})
        web = build_web(platform)
        async with (
            serve_app(SecurityMiddleware(web, platform)) as url,
            httpx.AsyncClient(base_url=url, timeout=20) as http,
        ):
            yield web, hr, http
            platform.closing.set()
        web.live.close()


class Stream:
    """The stream of one page, read on demand."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()

    async def next(self) -> tuple[str, str]:
        """The id and the name of the next event."""
        id, name = "", ""
        async with asyncio.timeout(10):
            async for line in self._lines:
                if line.startswith("id: "):
                    id = line[4:]
                elif line.startswith("event: "):
                    name = line[7:]
                elif not line and name:
                    return id, name
        raise AssertionError("the stream ended")


@asynccontextmanager
async def listening(
    http: httpx.AsyncClient, who: str, *topics: str, after: str | None = None
) -> AsyncIterator[Stream]:
    headers = {"authorization": f"Bearer {who}"} | ({} if after is None else {"last-event-id": after})
    async with http.stream("GET", live_url(topics), headers=headers) as answer:
        assert answer.status_code == 200, await answer.aread()
        stream = Stream(answer)
        assert (await stream.next())[1] == "hello"
        yield stream


async def test_a_page_is_told_the_topics_it_wants_and_no_others() -> None:
    async with (
        opened() as (_, hr, http),
        listening(http, "ana", "mine", topic("tool", "say")) as mine,
        listening(http, "bo", "mine", topic("session", "s1")) as his,
    ):
        await hr.call("say", {"word": "a"}, principal=ANA, session="s1")
        assert {(await mine.next())[1], (await mine.next())[1]} == {"mine", topic("tool", "say")}
        assert (await his.next())[1] == topic("session", "s1")


async def test_nothing_of_one_tenant_reaches_another() -> None:
    shared = topic("session", "s1")
    async with opened() as (web, hr, http), listening(http, "eva", "runs", shared, "z") as hers:
        await hr.call("say", {"word": "a"}, principal=ANA, session="s1")
        await hr.call("say", {"word": "b"}, principal=EVA, session="s2")
        assert (await hers.next())[1] == "runs"
        web.live.tell("other", "z")
        assert (await hers.next())[1] == "z"


@pytest.mark.fault("F16")
async def test_whoever_comes_back_hears_that_something_happened_meanwhile() -> None:
    async with opened() as (_, hr, http):
        async with listening(http, "ana", "runs", "approvals") as mine:
            await hr.call("say", {"word": "a"}, principal=ANA)
            seen, _ = await mine.next()
        await hr.call("say", {"word": "b"}, principal=ANA)
        async with listening(http, "ana", "runs", "approvals", after=seen) as again:
            assert {(await again.next())[1], (await again.next())[1]} == {"runs", "approvals"}


async def test_the_end_of_a_call_that_somebody_agreed_to_is_news_for_its_card() -> None:
    boss = Principal("acme", "bo", permissions=["approvals.decide"])
    async with opened() as (_, hr, http), listening(http, "bo", "approvals") as his:
        out = await hr.call("pay", {}, principal=ANA)
        assert out.approval_id is not None and (await his.next())[1] == "approvals"
        await hr.approvals.approve(out.approval_id, by=boss)
        assert (await his.next())[1] == "approvals"
        PAID.set()
        assert (await his.next())[1] == "approvals"


async def test_whoever_missed_nothing_is_told_nothing() -> None:
    async with opened() as (web, hr, http):
        await hr.call("say", {"word": "a"}, principal=ANA)
        async with listening(http, "ana", "runs", "own-topic", after="2") as mine:
            web.live.tell("acme", "own-topic")
            assert (await mine.next())[1] == "own-topic"


async def test_news_are_gathered_and_the_log_of_a_tenant_is_read_once() -> None:
    async with (
        opened() as (web, hr, http),
        listening(http, "ana", "runs") as mine,
        listening(http, "bo", "runs") as his,
    ):
        assert web.live.open == 2 and len(web.live._readers) == 1
        for _ in range(20):
            await hr.call("say", {"word": "a"}, principal=ANA)
        web.live.tell("acme", "runs")
        ids = [int((await one.next())[0]) for one in (mine, his)]
        assert all(0 < one <= 40 for one in ids)


async def test_when_the_last_page_closes_nobody_reads_the_log() -> None:
    async with opened() as (web, _, http):
        async with listening(http, "ana", "runs"):
            assert len(web.live._readers) == 1
        async with asyncio.timeout(10):
            while web.live.open:  # noqa: ASYNC110  # the server ends a stream in its own time
                await asyncio.sleep(0)
        assert web.live._readers == {}


async def test_progress_is_kept_while_a_call_runs_and_forgotten_after() -> None:
    async with opened() as (web, hr, _):
        seen: list[Any] = []
        hr.subscribe(lambda event: seen.append(dict(web.live.progress)))
        await hr.call("say", {"word": "a"}, principal=ANA)
        assert any(one for one in seen) and web.live.progress == {}


async def test_nobody_is_told_nothing() -> None:
    async with opened() as (_, _, http):
        answer = await http.get("/live?on=runs")
        assert answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?next=")
