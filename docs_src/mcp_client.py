"""mcp-client.md: the tools of a foreign server."""

import asyncio
import sys

from handrail import Handrail
from handrail.bridges.mcp import McpToolset, Server

SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("weather")

@server.tool()
def forecast(city: str) -> str:
    '''Say what the weather will be like in a city tomorrow.'''
    return f"Rain in {city}"

server.run("stdio")
"""


async def main() -> None:
    python, code = sys.executable, SERVER
    # region use
    weather = Server("weather", command=python, args=("-c", code), level="read")
    async with Handrail([McpToolset(weather)]) as hr:
        print(await hr.menu())
        out = await hr.call("weather.forecast", {})
        print(out.to_model())
        out = await hr.call("weather.forecast", {"city": "Turin"})
        print(out.result.data)
    # endregion


if __name__ == "__main__":
    asyncio.run(main())
