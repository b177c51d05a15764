"""Handrail as a server, put together as `handrail serve` does: `memory`, or `sqlite` for durable events.

All doors behind the entrance: where a request comes from, whose key it shows, how much it sends and how often
are looked at, and each request has its line in the log. Only the rate of a key has no bound here.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import uvloop

from benchmarks.sample_tool import NAME, add_numbers
from benchmarks.server_process import announce_port, free_port
from handrail import Handrail, Principal, tool
from handrail.app import build_doors
from handrail.identity.bootstrap import create_first_tenant
from handrail.identity.permissions import console_principal
from handrail.platform import Platform, platform_of
from handrail.platform.logs import log_to
from handrail.platform.middleware import RequestLimits
from handrail.platform.server import ServerOptions, serve

_TENANT = "acme"
_KEY = "benchmark"
_HOLD = 20.0


async def main(kind: str, folder: Path) -> None:
    tools = [tool(NAME, level="read")(add_numbers)]
    if kind == "memory":
        platform = platform_of(Handrail(tools), {_KEY: Principal(_TENANT, "u1", permissions=["*"])})
        await _serve(platform, _KEY)
        return
    async with Handrail(tools, database=f"sqlite:///{folder / 'handrail.db'}", worker=True) as hr:
        platform = platform_of(hr)
        assert platform.services is not None
        founded = await create_first_tenant(platform.services, _TENANT)
        assert founded is not None
        owner = console_principal(_TENANT)
        text, _ = await platform.services.keys.make(owner, _KEY, user=founded.owner.id, permissions=["*"])
        await _serve(platform, text.reveal())


async def _serve(platform: Platform, key: str) -> None:
    with free_port() as sock:
        port = sock.getsockname()[1]
    log_to(sys.stderr)
    place = ServerOptions(port=port, limits=RequestLimits(rate=1e9))
    doors = build_doors(platform, _HOLD)
    await serve(platform, doors, place, lambda address: announce_port(port, key=key))


if __name__ == "__main__":
    with (
        tempfile.TemporaryDirectory(prefix="handrail-bench-") as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(main(sys.argv[1], Path(folder)))
