"""Where a workspace begins, for whoever does not say."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_SIGNS = (".git", ".hg", "handrail.toml")
VARIABLE = "AGENT_WORKSPACE_ROOT"


def find_root(start: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """What AGENT_WORKSPACE_ROOT names; else the nearest folder upwards that is a repository; else the start.

    A person's home and what lies above it are never taken by themselves: they hold more than one project.
    """
    env = os.environ if environment is None else environment
    if named := env.get(VARIABLE):
        return Path(named).resolve()
    here = (start or Path.cwd()).resolve()
    home = Path(env.get("HOME") or Path.home()).resolve()
    for folder in (here, *here.parents):
        if folder == home or folder in home.parents:
            break
        if any((folder / sign).exists() for sign in _SIGNS):
            return folder
    return here
