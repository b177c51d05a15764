"""FastMCP as a server over HTTP, in its cheapest form: no sessions, one JSON answer for each request."""

# mypy: disable-error-code="import-not-found"

import asyncio

from fastmcp import FastMCP

from benchmarks.sample_tool import add_numbers
from benchmarks.server_process import announce_port, free_port


async def main() -> None:
    server = FastMCP("benchmark")
    server.tool(add_numbers)
    sock = free_port()
    port = sock.getsockname()[1]
    announce_port(port)
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
