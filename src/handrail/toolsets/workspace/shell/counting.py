"""Counting: what the processes of a sandbox use together, which no limit of a single process bounds."""

from __future__ import annotations

import os
import re
from typing import Literal

from handrail.toolsets.workspace.shell.sandbox import Limits

_SHARED = re.compile(rb"^RssShmem:\s+(\d+) kB", re.MULTILINE)
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
    if memory and _used(home, pids, limits.memory) > limits.memory:
        return "memory"
    return None


def _used(home: str, pids: list[str], most: int) -> int:
    """What each has for itself, and the most that one of them has in common with others."""
    own, common = 0, 0
    for pid in pids:
        alone, shared = _bytes(f"{home}/{pid}")
        own += alone
        if shared > most // 4:  # files count here too, so it is looked at more closely
            common = max(common, _shared_memory(f"{home}/{pid}"))
    return own + common


def _bytes(process: str) -> tuple[int, int]:
    """Memory that the process shares with nobody, and that it may share."""
    try:
        with open(f"{process}/statm", "rb") as statm:
            _, resident, shared, *_ = statm.read().split()
    except (OSError, ValueError):
        return 0, 0
    return (int(resident) - int(shared)) * _PAGE, int(shared) * _PAGE


def _shared_memory(process: str) -> int:
    """Memory of a process that is no file's."""
    try:
        with open(f"{process}/status", "rb") as status:
            found = _SHARED.search(status.read())
    except OSError:
        return 0
    return 0 if found is None else int(found[1]) * 1024
