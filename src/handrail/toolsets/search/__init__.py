"""Tools with which an agent finds the tools that its prompt has no room for."""

from handrail.toolsets.search.describe_tool import describe_tool
from handrail.toolsets.search.search_tools import search_tools

__all__ = ["describe_tool", "search_tools"]
