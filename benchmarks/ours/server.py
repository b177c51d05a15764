"""Handrail as a server, put together as `handrail serve` does: `memory`, or `sqlite` for durable events.

All doors behind the entrance: where a request comes from, whose key it shows, how much it sends and how often
are looked at, and each request has its line in the log. Only the rate of a key has no bound here.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import uvloop

from benchmarks.serving import free_port, say
from benchmarks.task import NAME, add_numbers
from handrail import Handrail, Principal, tool
from handrail.doors.entrance import Bounds
from handrail.doors.logs import log_to
from handrail.doors.serve import Place, serve
from handrail.identity.founding import found
from handrail.identity.granting import console
from handrail.platform import Platform, platform_of

_TENANT = "acme"
_KEY = "benchmark"


async def main(kind: str, folder: Path) -> None:
    tools = [tool(NAME, level="read")(add_numbers)]
    if kind == "memory":
        platform = platform_of(Handrail(tools), {_KEY: Principal(_TENANT, "u1", permissions=["*"])})
        await _serve(platform, _KEY)
        return
    async with Handrail(tools, database=f"sqlite:///{folder / 'handrail.db'}", worker=True) as hr:
        platform = platform_of(hr)
        assert platform.offices is not None
        founded = await found(platform.offices, _TENANT)
        assert founded is not None
        owner = console(_TENANT)
        text, _ = await platform.offices.keys.make(owner, _KEY, user=founded.owner.id, permissions=["*"])
        await _serve(platform, text.reveal())


async def _serve(platform: Platform, key: str) -> None:
    with free_port() as sock:
        port = sock.getsockname()[1]
    log_to(sys.stderr)
    place = Place(port=port, bounds=Bounds(rate=1e9))
    await serve(platform, place, lambda address: say(port, key=key))


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(main(sys.argv[1], Path(folder)))
