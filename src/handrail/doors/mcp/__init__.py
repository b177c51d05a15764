"""The MCP door: Handrail's tools for programs that speak the Model Context Protocol."""
