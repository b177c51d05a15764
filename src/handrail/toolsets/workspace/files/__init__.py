"""Files: read, write, edit, delete, and what there is to know of them."""

from handrail import Tool
from handrail.toolsets.workspace.files.edit_file import edit_file
from handrail.toolsets.workspace.files.file_delete import file_delete
from handrail.toolsets.workspace.files.get_file_info import get_file_info
from handrail.toolsets.workspace.files.read_file import read_file
from handrail.toolsets.workspace.files.write_file import write_file
from handrail.toolsets.workspace.workspace import Workspace

__all__ = ["edit_file", "file_delete", "file_tools", "get_file_info", "read_file", "write_file"]


def file_tools(workspace: Workspace) -> tuple[Tool, ...]:
    """The tools for the files of a workspace."""
    makers = (read_file, write_file, edit_file, file_delete, get_file_info)
    return tuple(make(workspace) for make in makers)
