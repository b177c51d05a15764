"""The workspace toolset: files, search, shell and undo in one folder that its tools cannot leave."""

from handrail.toolsets.workspace.desk import Keeping, Workspace
from handrail.toolsets.workspace.root import find_root

__all__ = ["Keeping", "Workspace", "find_root"]
