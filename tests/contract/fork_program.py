"""A program that opens a database and forks, as those do that start processes in this way."""

from __future__ import annotations

import asyncio
import os
import sys

from handrail import Handrail, Principal, tool

ANA = Principal("acme", "ana", permissions={"*"})


@tool("notes.echo", level="read")
async def echo(text: str) -> str:
    """Give back a text."""
    return text


async def call(hr: Handrail) -> str | None:
    out = await asyncio.wait_for(
        hr.call("notes.echo", {"text": "x"}, principal=ANA, idempotency_key=f"k{os.getpid()}"), 20
    )
    return out.status if out.ok else out.result.error


def main(url: str) -> None:
    """Call here, call in a fork, then end at once and leave the fork behind until its input ends."""
    hr = Handrail([echo], database=url)
    say(asyncio.run(call(hr)))
    if os.fork() == 0:
        say(asyncio.run(call(hr)))
        say("forked")
        sys.stdin.read()
    os._exit(0)


def say(what: str | None) -> None:
    os.write(1, f"{what}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1])
