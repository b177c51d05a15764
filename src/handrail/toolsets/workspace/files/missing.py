"""Missing: what to say of a path that leads nowhere, so that the next one leads somewhere."""

from __future__ import annotations

import os
from difflib import get_close_matches
from itertools import islice

from handrail.ext import ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.place import named

_LOOKED_AT = 2_000
"""Names of a folder that are compared."""
_LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def not_found(
    workspace: Workspace, path: str, remedy: str = "Find it by name with search_files."
) -> ToolError:
    """There is no such file: which part of the path is missing, and what is there under a similar name."""
    parts = workspace.beneath.parts(path)
    there = 0
    while there < len(parts) and _is_there(workspace, parts[: there + 1]):
        there += 1
    if there == len(parts):
        return ToolError(f"There is no {path} in the workspace. {remedy}", code="FILE_NOT_FOUND")
    names = _names(workspace, parts[:there])
    if parts[there] in names:
        return ToolError(
            f"{named(parts[: there + 1])} is a link that leads nowhere. {remedy}", code="FILE_NOT_FOUND"
        )
    near = _similar(names, parts[there])
    rest = parts[there + 1 :]
    guesses = ", ".join(named((*parts[:there], one, *rest)) for one in near)
    said = f"There is no {path} in the workspace."
    if rest:
        said += f" The folder {named(parts[: there + 1])} does not exist."
    return ToolError(f"{said} {f'Did you mean {guesses}?' if guesses else remedy}", code="FILE_NOT_FOUND")


def names_in(workspace: Workspace, path: str) -> list[str]:
    """What a folder holds that the tools see."""
    held = workspace.open_folder(path)
    try:
        listed = os.open(".", _LISTED, dir_fd=held)
    finally:
        os.close(held)
    parts = tuple(one for one in path.split("/") if one != ".")
    try:
        return [one for one in os.listdir(listed) if not workspace.is_hidden((*parts, one))]
    finally:
        os.close(listed)


def _is_there(workspace: Workspace, parts: tuple[str, ...]) -> bool:
    try:
        return workspace.stat(named(parts)) is not None
    except ToolError:
        return False


def _names(workspace: Workspace, folder: tuple[str, ...]) -> list[str]:
    try:
        return names_in(workspace, workspace.relative(named(folder)))
    except ToolError:
        return []


def _similar(names: list[str], name: str) -> list[str]:
    """Those that are like the one that is missing, whatever their case."""
    folded = {one.casefold(): one for one in islice(sorted(names), _LOOKED_AT) if one.isprintable()}
    return [folded[one] for one in get_close_matches(name.casefold(), folded, 3, 0.6)]
