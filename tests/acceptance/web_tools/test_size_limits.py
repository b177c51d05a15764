"""How large an answer is, and how much may come before it."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest

from tests.acceptance.web_tools.local_site import (
    SiteRequest,
    Writer,
    answer,
    fetch,
    options_allowing,
    site,
    without_end,
)

GO_ON = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.mark.req("BT-06")
async def test_an_answer_that_declares_too_much_is_given_up_before_it_comes() -> None:
    async def declared(asked: SiteRequest, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")

    async with site(index=declared) as web:
        done = await fetch(web.url, options_allowing(web), timeout=10)
        await asyncio.wait_for(web.left.wait(), 30)

    assert done.code == "TOO_LARGE"


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    "piece", [GO_ON * 999, b"HTTP/1.1 103 Early Hints\r\nX: " + b"x" * 9999 + b"\r\n\r\n"]
)
async def test_answers_before_the_answer_are_given_up_like_headers(piece: bytes) -> None:
    async with site(index=partial(without_end, piece, b"")) as web:
        done = await fetch(web.url, options_allowing(web))
        await asyncio.wait_for(web.left.wait(), 30)

    assert done.code == "TOO_LARGE" and "before the body is larger than 256 KB," in done.to_model()


@pytest.mark.req("BT-06")
async def test_what_comes_before_an_answer_has_a_limit_of_its_own() -> None:
    body = answer("x" * 900_000)
    async with site(few=GO_ON * 4_000 + body, many=GO_ON * 11_000 + body) as web:
        few = await fetch(f"{web.url}/few", options_allowing(web, max_bytes=900_000))
        many = await fetch(f"{web.url}/many", options_allowing(web, max_bytes=2_000_000))

    assert few.ok and many.code == "TOO_LARGE"


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    ("most", "size"),
    [
        (10_262_144, "10.3 MB"),
        (10_000_000, "10 MB"),
        (900_000, "900 KB"),
        (12_345, "12 KB"),
        (500, "500 bytes"),
    ],
)
async def test_the_most_that_is_read_is_told_as_people_say_it(most: int, size: str) -> None:
    async def declared(asked: SiteRequest, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")

    async with site(index=declared) as web:
        done = await fetch(web.url, options_allowing(web, max_bytes=most))

    assert f"The answer is larger than {size}," in done.to_model()
