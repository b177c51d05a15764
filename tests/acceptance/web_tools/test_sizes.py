"""How large an answer is, as far as its server says so before it comes."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.web_tools.sites import Asked, Writer, allowing, fetched, site


@pytest.mark.req("BT-06")
async def test_an_answer_that_declares_too_much_is_given_up_before_it_comes() -> None:
    async def declared(asked: Asked, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")

    async with site(index=declared) as web:
        done = await fetched(web.url, allowing(web), timeout=10)
        await asyncio.wait_for(web.left.wait(), 30)

    assert done.code == "TOO_LARGE"
