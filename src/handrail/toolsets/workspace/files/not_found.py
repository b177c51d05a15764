"""Not found: what to say of a path that leads nowhere, so that the next one leads somewhere."""

from __future__ import annotations

import os
from difflib import get_close_matches
from itertools import islice

from handrail import ToolError
from handrail.toolsets.workspace.target_file import path_from_root
from handrail.toolsets.workspace.workspace import Workspace

_MAX_NAMES = 2_000
"""Names of a folder that are compared."""
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def not_found(
    workspace: Workspace, path: str, remedy: str = "Find it by name with search_files."
) -> ToolError:
    """There is no such file: which part of the path is missing, and what is there under a similar name."""
    parts = workspace.resolver.parts(path)
    existing = 0
    while existing < len(parts) and _exists(workspace, parts[: existing + 1]):
        existing += 1
    if existing == len(parts):
        return ToolError(f"There is no {path} in the workspace. {remedy}", code="FILE_NOT_FOUND")
    names = _names_or_none(workspace, parts[:existing])
    if parts[existing] in names:
        return ToolError(
            f"{path_from_root(parts[: existing + 1])} is a link that leads nowhere. {remedy}",
            code="FILE_NOT_FOUND",
        )
    near = _similar_names(names, parts[existing])
    rest = parts[existing + 1 :]
    guesses = ", ".join(path_from_root((*parts[:existing], name, *rest)) for name in near)
    message = f"There is no {path} in the workspace."
    if rest:
        message += f" The folder {path_from_root(parts[: existing + 1])} does not exist."
    return ToolError(f"{message} {f'Did you mean {guesses}?' if guesses else remedy}", code="FILE_NOT_FOUND")


def visible_names(workspace: Workspace, path: str) -> list[str]:
    """What a folder holds that the tools see."""
    held = workspace.open_folder(path)
    try:
        listed = os.open(".", _LISTED, dir_fd=held)
    finally:
        os.close(held)
    parts = tuple(part for part in path.split("/") if part != ".")
    try:
        return [name for name in os.listdir(listed) if not workspace.is_hidden((*parts, name))]
    finally:
        os.close(listed)


def _exists(workspace: Workspace, parts: tuple[str, ...]) -> bool:
    try:
        return workspace.stat(path_from_root(parts)) is not None
    except ToolError:
        return False


def _names_or_none(workspace: Workspace, folder: tuple[str, ...]) -> list[str]:
    try:
        return visible_names(workspace, workspace.relative(path_from_root(folder)))
    except ToolError:
        return []


def _similar_names(names: list[str], name: str) -> list[str]:
    """Those that are like the one that is missing, whatever their case."""
    folded = {name.casefold(): name for name in islice(sorted(names), _MAX_NAMES) if name.isprintable()}
    return [folded[match] for match in get_close_matches(name.casefold(), folded, 3, 0.6)]
