"""The MCP client: foreign servers as toolsets. The protocol's package is loaded when a server is needed."""

from handrail.bridges.mcp.server import Secret, Server, ServerError, ToolRule
from handrail.bridges.mcp.toolset import McpToolset
from handrail.bridges.mcp.written import servers_of

__all__ = ["McpToolset", "Secret", "Server", "ServerError", "ToolRule", "servers_of"]
