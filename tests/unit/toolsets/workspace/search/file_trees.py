"""Trees: small folders with rules to ignore by, drawn by Hypothesis and written to the disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from hypothesis import strategies as st

from handrail.ext.tools import Signal
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.search.walk import walk

NAMES = ["a", "b", "ab", "a.c", "b.c", ".d", "A"]
names = st.sampled_from(NAMES)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)

_pieces = st.sampled_from(["a", "b", "*", "?", "ab", "*.c", "[ab]", "[!a]", "a*", "**", ".d", "A"])
_lines = st.builds(
    lambda no, root, parts, folder: f"{no}{root}{'/'.join(parts)}{folder}",
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(_pieces, min_size=1, max_size=3),
    st.sampled_from(["", "", "/"]),
)
rules = st.lists(_lines | st.sampled_from(["", "# a", "  ", "a ", "\\!a"]), max_size=5).map("\n".join)


def make_files(root: Path, files: Iterable[str], text: str | bytes = "x\n") -> None:
    """Make files; a path that a file stands in the way of is left out."""
    for path in files:
        target = root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            continue


def write_rules(root: Path, given: dict[str, str], name: str = ".gitignore") -> None:
    """Put rules into those of the folders that are there."""
    for folder, text in given.items():
        if (root / folder).is_dir():
            (root / folder / name).write_text(text)


def walked(root: Path, start: str = ".", **options: bool) -> list[str]:
    """The files that a walk comes across."""
    workspace = Workspace(root)
    try:
        found = walk(workspace, start, Signal(), **options)
        return [one.path for one in found if one.is_file]
    finally:
        workspace.close()


def every_file(root: Path) -> list[str]:
    found = (
        os.path.relpath(os.path.join(folder, name), root)
        for folder, _, all_ in os.walk(root)
        for name in all_
    )
    return sorted(path for path in found if not path.startswith(".git/"))
