"""Search: finds files by name and by content, below the root of the workspace."""

from handrail.toolsets.workspace.search.glob import glob
from handrail.toolsets.workspace.search.grep import grep
from handrail.toolsets.workspace.search.list_files import list_files
from handrail.toolsets.workspace.search.search_code import search_code
from handrail.toolsets.workspace.search.search_files import search_files

__all__ = ["glob", "grep", "list_files", "search_code", "search_files"]
