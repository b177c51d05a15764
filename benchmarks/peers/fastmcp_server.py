"""FastMCP as a server over HTTP, in its cheapest form: no sessions, one JSON answer for each request."""

# mypy: disable-error-code="import-not-found"

import asyncio

from fastmcp import FastMCP

from benchmarks.serving import free_port, say
from benchmarks.task import add_numbers


async def main() -> None:
    server = FastMCP("benchmark")
    server.tool(add_numbers)
    sock = free_port()
    port = sock.getsockname()[1]
    say(port)
    sock.listen(128)
    await server.run_http_async(
        show_banner=False,
        port=port,
        log_level="warning",
        stateless_http=True,
        json_response=True,
        sockets=[sock],
    )


if __name__ == "__main__":
    asyncio.run(main())
