"""webfetch before servers of every kind: that refuse, lead on, never end, fall silent or break off."""

from __future__ import annotations

import asyncio
import gzip
from functools import partial

import pytest

from handrail import Handrail, Principal
from handrail.net import fetcher
from handrail.toolsets.web import webfetch
from tests.acceptance.web_tools.local_site import (
    SiteRequest,
    Writer,
    answer,
    fetch,
    options_allowing,
    redirect,
    site,
    without_end,
)


@pytest.mark.req("BT-06")
async def test_a_server_that_has_had_enough_says_when_to_come_again() -> None:
    async with site(index=answer("no", status="429 X", Retry_After="7")) as web:
        done = await fetch(web.url, options_allowing(web))
        web.pages["/"] = answer("no", status="404 X", Retry_After="7")
        gone = await fetch(web.url, options_allowing(web))

    assert done.result is not None and done.result.metadata["retry_after"] == 7.0
    assert gone.result is not None and "retry_after" not in gone.result.metadata


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("404 Nope", "404 (Not Found). Check the address"),
        ("500 X", "500 (Internal Server Error)"),
        ("299 X", "nothing"),
        ("799 X", "the status 799."),
    ],
)
async def test_a_status_is_told_in_words(status: str, words: str) -> None:
    async with site(index=answer("nothing", status=status)) as web:
        done = await fetch(web.url, options_allowing(web))

    assert words in done.to_model() and (done.code is None) == status.startswith("2")


@pytest.mark.req("BT-06")
async def test_redirects_are_followed_to_the_fifth() -> None:
    async with site(index=answer("arrived", Set_Cookie="a=b")) as web:
        web.pages |= {f"/{number}": redirect(f"./{number - 1 or ''}?q=ü#f") for number in range(1, 7)}
        web.pages["/5"] = answer(status="301 M", Location="/4", Set_Cookie="session=1")
        web.pages["/moved"] = redirect("/My first page")
        web.pages["/My%20first%20page"] = redirect("/grüße".encode().decode("latin-1"))
        web.pages["/gr%C3%BC%C3%9Fe"] = redirect("/")
        done = await fetch(f"{web.url}/5", options_allowing(web))
        too_many = await fetch(f"{web.url}/6", options_allowing(web))
        assert (await fetch(f"{web.url}/moved", options_allowing(web))).ok, "as servers write it"

    assert done.ok and "arrived" in done.to_model()
    assert too_many.code == "TOO_MANY_REDIRECTS"
    assert not any("cookie" in asked.headers for asked in web.asked)


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("head", "piece", "code"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n", b"x" * 65536, "TOO_LARGE"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"5\r\n12345\r\n" * 9999, "TOO_LARGE"),
        (b"HTTP/1.1 200 OK\r\n", b"X-Long: x\r\n" * 9999, "CONNECTION_FAILED"),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x" * 65536, "CONNECTION_FAILED"),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 999, "TOO_LARGE"),
        (b"", b"SSH-2.0-server\r\n", "CONNECTION_FAILED"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", b"x" * 999, "TOO_LARGE"),
    ],
    ids=["body", "chunks", "headers", "header", "hints", "no web server", "declared"],
)
async def test_an_answer_without_end_is_given_up(head: bytes, piece: bytes, code: str) -> None:
    async with site(index=lambda asked, writer: without_end(piece, head, asked, writer)) as web:
        done = await fetch(web.url, options_allowing(web, max_bytes=300_000))
        await asyncio.wait_for(web.left.wait(), 30)

    assert done.code == code


@pytest.mark.req("BT-06")
async def test_what_will_not_be_read_is_not_waited_for() -> None:
    async def only(head: bytes, asked: SiteRequest, writer: Writer) -> None:
        writer.write(head)

    heads = {
        "/large": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
        "/gone": b"HTTP/1.1 410 X\r\n\r\n",
    }
    async with site() as web:
        web.pages = {path: partial(only, head) for path, head in heads.items()}
        codes = [(await fetch(f"{web.url}{path}", options_allowing(web))).code for path in heads]

    assert codes == ["TOO_LARGE", "HTTP_STATUS"]


@pytest.mark.req("BT-06")
async def test_a_body_in_very_many_pieces_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetcher, "_MOST_PIECES", 100)
    pieces = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 101 + b"0\r\n\r\n"
    async with site(index=pieces) as web:
        assert (await fetch(web.url, options_allowing(web))).code == "TOO_LARGE"
        web.pages["/"] = pieces.replace(b"1\r\nx\r\n", b"", 1)
        assert (await fetch(web.url, options_allowing(web))).ok


@pytest.mark.req("BT-06")
async def test_an_answer_that_breaks_off_is_no_page() -> None:
    short = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf"
    packed = answer(gzip.compress(b"whole" * 1000)[:-9], Content_Encoding="gzip")
    async with site(short=short, packed=packed, nothing=b"") as web:
        for page in ("short", "packed", "nothing"):
            done = await fetch(f"{web.url}/{page}", options_allowing(web))
            assert done.code == "CONNECTION_FAILED", page
    assert (await fetch(web.url, options_allowing(web))).code == "CONNECTION_FAILED", (
        "nobody listens there any more"
    )


@pytest.mark.req("BT-06", "BY-18")
async def test_a_server_that_is_silent_costs_no_more_than_the_time_allowed() -> None:
    async def silent(asked: SiteRequest, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nbegin")

    async with site(index=silent) as web:
        done = await fetch(web.url, options_allowing(web), timeout=0.1)
        await asyncio.wait_for(web.left.wait(), 30)

    assert done.code == "TIMEOUT" and "0.1 seconds" in done.to_model()


@pytest.mark.req("BT-06", "BY-18")
@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"],
    ids=["head", "body"],
)
async def test_the_time_is_for_the_whole_answer_and_not_for_each_byte(head: bytes) -> None:
    async def dripping(asked: SiteRequest, writer: Writer) -> None:
        writer.write(head)
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)  # a server in no hurry

    async with site(index=dripping) as web:
        done = await fetch(web.url, options_allowing(web), timeout=0.3)
        await asyncio.wait_for(web.left.wait(), 30)

    assert done.code == "TIMEOUT"


@pytest.mark.req("BY-18", "CX-06")
async def test_cancelling_closes_the_connection() -> None:
    async def silent(asked: SiteRequest, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nbegin")

    async with site(index=silent) as web, Handrail([webfetch(options_allowing(web))]) as hr:
        principal = Principal(tenant="acme", user="ana")
        running = asyncio.create_task(hr.call("webfetch", {"url": web.url}, principal=principal))
        await asyncio.wait_for(web.came.wait(), 30)
        assert not web.left.is_set()
        running.cancel()
        await asyncio.wait_for(web.left.wait(), 30)
        with pytest.raises(asyncio.CancelledError):
            await running
