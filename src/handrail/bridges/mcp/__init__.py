"""The MCP client: foreign servers as toolsets. The protocol's package is loaded when a server is needed."""

from handrail.bridges.mcp.server_settings import Secret, Server, ServerError, ToolRule, servers_of
from handrail.bridges.mcp.toolset import McpToolset

__all__ = ["McpToolset", "Secret", "Server", "ServerError", "ToolRule", "servers_of"]
