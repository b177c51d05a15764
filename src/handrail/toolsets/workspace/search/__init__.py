"""Search: finds files by name and by content, below the root of the workspace."""

from handrail import Tool
from handrail.toolsets.workspace.search.finder import Finder
from handrail.toolsets.workspace.search.glob import glob
from handrail.toolsets.workspace.search.grep import grep
from handrail.toolsets.workspace.search.list_files import list_files
from handrail.toolsets.workspace.search.search_code import search_code
from handrail.toolsets.workspace.search.search_files import search_files
from handrail.toolsets.workspace.workspace import Workspace

__all__ = ["glob", "grep", "list_files", "search_code", "search_files", "search_tools"]


def search_tools(workspace: Workspace, finder: Finder | None = None) -> tuple[Tool, ...]:
    """The tools that find files and lines in a workspace."""
    finder = finder or Finder.of(workspace)
    makers = (grep, glob, search_files, search_code)
    return (list_files(workspace), *(make(workspace, finder) for make in makers))
