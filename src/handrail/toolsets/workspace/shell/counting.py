"""Counting: what the processes of a sandbox use together, which no limit of a single process bounds."""

from __future__ import annotations

import os
from typing import Literal

from handrail.toolsets.workspace.shell.sandbox import Limits

_PAGE = os.sysconf("SC_PAGE_SIZE")


def over_limit(first: int, limits: Limits, *, memory: bool) -> Literal["processes", "memory"] | None:
    """The limit that the sandbox of this first process has passed; with `memory`, that is counted too."""
    home = f"/proc/{first}/root/proc"
    try:
        pids = [name for name in os.listdir(home) if name.isdigit()]
    except OSError:  # it is gone
        return None
    if len(pids) > limits.processes:
        return "processes"
    if memory and sum(_own_bytes(f"{home}/{pid}") for pid in pids) > limits.memory:
        return "memory"
    return None


def _own_bytes(process: str) -> int:
    """Memory that the process shares with nobody."""
    try:
        with open(f"{process}/statm", "rb") as statm:
            _, resident, shared, *_ = statm.read().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE
