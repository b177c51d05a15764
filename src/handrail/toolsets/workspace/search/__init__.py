"""Search: finds files by name and by content, below the root of the workspace."""

from handrail import Tool
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.search.finding import Finder
from handrail.toolsets.workspace.search.glob import glob
from handrail.toolsets.workspace.search.grep import grep
from handrail.toolsets.workspace.search.list_files import list_files
from handrail.toolsets.workspace.search.search_code import search_code
from handrail.toolsets.workspace.search.search_files import search_files

__all__ = ["glob", "grep", "list_files", "search_code", "search_files", "searching_tools"]


def searching_tools(workspace: Workspace, finder: Finder | None = None) -> tuple[Tool, ...]:
    """The tools that find files and lines in a workspace."""
    finder = finder or Finder.of(workspace)
    makers = (grep, glob, search_files, search_code)
    return (list_files(workspace), *(make(workspace, finder) for make in makers))
