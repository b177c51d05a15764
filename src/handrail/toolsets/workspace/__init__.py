"""The workspace toolset: files, search, shell and undo in one folder that its tools cannot leave."""

from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.keeping import Keeping
from handrail.toolsets.workspace.options import Options, options_of
from handrail.toolsets.workspace.root import find_root
from handrail.toolsets.workspace.toolset import WorkspaceToolset

__all__ = ["Keeping", "Options", "Workspace", "WorkspaceToolset", "find_root", "options_of"]
