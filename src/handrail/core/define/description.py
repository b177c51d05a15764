"""Descriptions from text files beside the code."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from handrail.core.errors import Place

_log = logging.getLogger("handrail.define")
_VARIABLE = re.compile(r"\$\{(workspace|directory|cwd)\}")


def external(tool: str, path: str | None, place: Place | None) -> str | None:
    """The text of the tool's description file, or None when it has none.

    `path` names it outright; otherwise `<tool>.txt` beside the module is taken if it is there.
    """
    folder = Path(place.file).parent if place is not None else Path()
    if path is not None:
        named = folder / path if not Path(path).is_absolute() and (folder / path).exists() else Path(path)
        try:
            return fill(named.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("tool %r keeps its inline description: cannot read %s (%s)", tool, path, error)
            return None
    for name in dict.fromkeys((tool, tool.rpartition(".")[2])):
        beside = folder / f"{name}.txt"
        if beside.is_file():
            return external(tool, str(beside), place)
    return None


def fill(text: str) -> str:
    """The text with `${workspace}`, `${directory}` and `${cwd}` filled in; others stay as they are."""
    here = str(Path.cwd())
    values = {"workspace": os.environ.get("AGENT_WORKSPACE_ROOT") or here, "directory": here, "cwd": here}
    return _VARIABLE.sub(lambda found: values[found[1]], text)


def split(text: str) -> tuple[str, str]:
    """First paragraph and the rest: a description and its guidance."""
    first, _, rest = text.strip().partition("\n\n")
    return " ".join(first.split()), rest.strip()
