"""The log of a server: lines that are written together, and what is not kept waiting."""

from __future__ import annotations

import asyncio
import io
import json
import logging

from handrail.platform.logs import BufferedHandler
from tests.harness.foreign_mcp_server import poll_until


def handler() -> tuple[BufferedHandler, io.StringIO, logging.Logger]:
    stream = io.StringIO()
    gathering = BufferedHandler(stream)
    logger = logging.Logger("tested", logging.INFO)  # noqa: LOG001  # one that nobody else has
    logger.addHandler(gathering)
    return gathering, stream, logger


async def test_lines_of_one_moment_are_written_together_and_soon() -> None:
    _, stream, logger = handler()
    for number in range(3):
        logger.info("line %d", number)
    assert stream.getvalue() == ""
    await poll_until(lambda: bool(stream.getvalue()))
    assert stream.getvalue() == "line 0\nline 1\nline 2\n"
    logger.info("line 3")
    await poll_until(lambda: "line 3" in stream.getvalue())


async def test_a_warning_waits_for_nobody_and_keeps_its_place() -> None:
    _, stream, logger = handler()
    logger.info("before")
    logger.warning("trouble")
    assert stream.getvalue() == "before\ntrouble\n"


def test_without_a_loop_a_line_is_written_at_once() -> None:
    _, stream, logger = handler()
    logger.info("alone")
    assert stream.getvalue() == "alone\n"


def test_what_is_gathered_when_the_loop_ends_is_not_lost() -> None:
    gathering, stream, logger = handler()

    async def brief() -> None:
        logger.info("last words")

    asyncio.run(brief())
    asyncio.run(brief())
    gathering.flush()  # as the end of the process does
    assert stream.getvalue() == "last words\nlast words\n"
    logger.info("after")
    assert stream.getvalue().endswith("after\n")


def test_many_lines_do_not_pile_up() -> None:
    async def busy() -> int:
        _, stream, logger = handler()
        for number in range(1_000):
            logger.info("line %d", number)
        return stream.getvalue().count("\n")

    assert asyncio.run(busy()) == 1_000


def test_a_line_is_one_line_of_ascii_whatever_is_in_it() -> None:
    from handrail.platform.logs import _JsonFormatter

    gathering, stream, logger = handler()
    gathering.setFormatter(_JsonFormatter())
    logger.info("half \ud800, break \n, ü \x9b", extra={"fields": {"path": "/\ud800", "odd": object}})
    [line] = stream.getvalue().splitlines()
    assert line.isascii() and json.loads(line)["path"] == "/\ud800"
