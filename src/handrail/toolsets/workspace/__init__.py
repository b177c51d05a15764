"""The workspace toolset: files, search, shell and undo in one folder that its tools cannot leave."""

from handrail.toolsets.workspace.options import WorkspaceOptions, find_root, parse_options
from handrail.toolsets.workspace.path_rules import PathRules
from handrail.toolsets.workspace.toolset import WorkspaceToolset
from handrail.toolsets.workspace.workspace import Workspace

__all__ = ["PathRules", "Workspace", "WorkspaceToolset", "find_root", "WorkspaceOptions", "parse_options"]
