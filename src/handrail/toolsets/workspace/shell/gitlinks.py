"""Gitlinks: folders that a repository keeps as repositories of their own; git looks into them unasked."""

from __future__ import annotations

import re
from pathlib import Path

_LARGEST = 50_000_000
_NAMED = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")
"""How an index begins that has the names of its entries written out."""
_GITLINK = re.compile(rb"\0\0\xe0\0")
_TO_FLAGS = (36, 48)
"""From the mode of an entry, with short hashes and with long ones."""
_EXTENDED = 0x40


def gitlinks(home: Path) -> set[str] | None:
    """The folders, from the index in the `.git` of a repository; None when it cannot be read.

    Other numbers in an index may look like the mode of a gitlink, so some that are none are among them.
    """
    found: set[str] = set()
    try:
        for index in (home / "index", *home.glob("sharedindex.*")):
            links = _links(index)
            if links is None:
                return None
            found |= links
    except OSError:
        return None
    return found


def _links(index: Path) -> set[str] | None:
    if not index.exists():
        return set()
    if index.stat().st_size > _LARGEST:
        return None
    content = index.read_bytes()
    modes = list(_GITLINK.finditer(content))
    if modes and not content.startswith(_NAMED):
        return None
    return {_name(content, mode.start() + offset) for mode in modes for offset in _TO_FLAGS}


def _name(content: bytes, flags: int) -> str:
    """The name of the entry whose flags stand there."""
    start = flags + (4 if content[flags : flags + 1] and content[flags] & _EXTENDED else 2)
    return content[start : content.find(b"\0", start)].decode(errors="surrogateescape")
