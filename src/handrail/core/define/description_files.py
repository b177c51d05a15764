"""Descriptions from text files beside the code."""

from __future__ import annotations

import os
import re
from pathlib import Path

from handrail.core.errors import SourceLocation

_VARIABLE = re.compile(r"\$\{(workspace|directory|cwd)\}")


def read_description(tool: str, path: str | None, location: SourceLocation | None) -> str | None:
    """The text of the tool's description file, or None when it has none.

    `path` names it outright; otherwise `<tool>.txt` beside the module is taken if it is there.
    """
    folder = _folder(location)
    if path is not None:
        near = None if folder is None else folder / path
        named = near if near is not None and near.exists() else Path(path)
        try:
            return fill_variables(named.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            import logging  # seldom needed, and not cheap to load

            message = "tool %r keeps its inline description: cannot read %s (%s)"
            logging.getLogger("handrail.define").warning(message, tool, path, error)
            return None
    return None if folder is None else description_in_folder(tool, folder)


def description_in_folder(tool: str, folder: Path) -> str | None:
    """The text of `<tool>.txt` in a folder, or None when it is not there."""
    for name in dict.fromkeys((tool, tool.rpartition(".")[2])):
        if (folder / f"{name}.txt").is_file():
            return read_description(tool, str((folder / f"{name}.txt").absolute()), None)
    return None


def _folder(location: SourceLocation | None) -> Path | None:
    """The folder of the module a tool is written in; a prompt or a string of code has none."""
    if location is None or not Path(location.file).is_file():
        return None
    return Path(location.file).parent


def fill_variables(text: str) -> str:
    """The text with `${workspace}`, `${directory}` and `${cwd}` filled in; others stay as they are."""
    folder = str(Path.cwd())
    values = {
        "workspace": os.environ.get("AGENT_WORKSPACE_ROOT") or folder,
        "directory": folder,
        "cwd": folder,
    }
    return _VARIABLE.sub(lambda match: values[match[1]], text)


def split_description(text: str) -> tuple[str, str]:
    """First paragraph and the rest: a description and its guidance."""
    first, _, rest = text.strip().partition("\n\n")
    return " ".join(first.split()), rest.strip()
