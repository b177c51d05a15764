"""Showing: what of a workspace a command gets to see, to read and to write."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.shell.repositories import nested
from handrail.toolsets.workspace.shell.safety import ShellOptions
from handrail.toolsets.workspace.shell.sandbox import Shown

_SIBLINGS = ("wal", "shm", "journal")


def shown_of(workspace: Workspace, options: ShellOptions, *, network: bool, writable: bool) -> Shown:
    """What a command of this workspace sees. What was let through as reading can do no more."""
    root, keeping = workspace.root, workspace.keeping
    inner = nested(root) if writable else ()
    if writable:
        with suppress(OSError):  # where we cannot write, no command can
            workspace.own("drafts")  # what is not there cannot be hidden, and might be made by the command
        _make_siblings(root, keeping.hidden)
    return Shown(
        root,
        protected=(root / ".git", *inner, *(root / name for name in keeping.protected)),
        hidden=(workspace.state, *(root / name for name in keeping.hidden)),
        readable=options.readable,
        network=network,
        writable=writable,
    )


def _make_siblings(root: Path, hidden: tuple[str, ...]) -> None:
    """A database reads what lies beside it under these names, so nobody else may make that."""
    for name in hidden:
        base, mark, ending = name.rpartition("-")
        if mark and ending in _SIBLINGS and base in hidden and (root / base).is_file():
            with suppress(OSError):
                os.close(os.open(root / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
