"""Git repositories: their settings, and those of gitlinks in them, may name programs that git runs."""

from __future__ import annotations

import os
import re
from collections import deque
from contextlib import suppress
from pathlib import Path

from handrail import ToolError
from handrail.toolsets.workspace.shell.rules import SAFE, Classification, moderate, most_dangerous
from handrail.toolsets.workspace.workspace import Workspace

_MAX_INDEX_BYTES = 50_000_000

_INDEX_HEADS = (b"DIRC\0\0\0\2", b"DIRC\0\0\0\3")
"""How an index begins that has the names of its entries written out."""
_GITLINK = re.compile(rb"\0\0\xe0\0")

_TO_FLAGS = (36, 48)
"""From the mode of an entry, with short hashes and with long ones."""
_EXTENDED = 0x40


def gitlinks(home: Path) -> set[str] | None:
    """The folders, from the index in the `.git` of a repository; None when it cannot be read.

    Other numbers in an index may look like the mode of a gitlink, so some that are none are among them.
    """
    folders: set[str] = set()
    try:
        for index in (home / "index", *home.glob("sharedindex.*")):
            links = _links_of_index(index)
            if links is None:
                return None
            folders |= links
    except OSError:
        return None
    return folders


def _links_of_index(index: Path) -> set[str] | None:
    if not index.exists():
        return set()
    if index.stat().st_size > _MAX_INDEX_BYTES:
        return None
    content = index.read_bytes()
    modes = list(_GITLINK.finditer(content))
    if modes and not content.startswith(_INDEX_HEADS):
        return None
    return {_entry_name(content, mode.start() + offset) for mode in modes for offset in _TO_FLAGS}


def _entry_name(content: bytes, flags: int) -> str:
    """The name of the entry whose flags stand there."""
    start = flags + (4 if content[flags : flags + 1] and content[flags] & _EXTENDED else 2)
    return content[start : content.find(b"\0", start)].decode(errors="surrogateescape")


_MAX_SETTINGS_BYTES = 1_000_000

_MAX_FOLDERS = 4_000
"""Folders that are looked into for repositories before each command that writes."""
_MAX_REPOSITORIES = 50
_SKIPPED = frozenset({"node_modules", ".venv", "venv", "__pycache__", ".tox", ".handrail"})

_STARTS = re.compile(
    r"(?:^|\])\s*(?:external|textconv|command|clean|process|program|cmd|alternateRefsCommand|showSignature)\s*"
    r"(?:=(?!\s*git-lfs (?:clean -- %f|filter-process)\s*$)|$)|"
    r"(?:^|\])\s*(?:submodule\s*=(?!\s*(?:log|short)\s*$)|sort\s*=.*signature)|"
    r"(?-i:%[-+ ]?G)|"
    r"\[\s*include",
    re.IGNORECASE | re.MULTILINE,
)
"""Settings that make git start a program while it only reads, or take more settings from elsewhere."""
_FETCHES = re.compile(r"promisor|partialclone", re.IGNORECASE)

_REACHES = re.compile(
    r"(?:^|\])\s*(?:uploadpack|vcs|sshcommand|gitproxy|allow)\b", re.IGNORECASE | re.MULTILINE
)


def classify_folder(workspace: Workspace, folder: str) -> Classification:
    """A repository inside of the workspace may be somebody else's."""
    try:
        parts = Path(workspace.relative(folder)).parts
    except ToolError:
        return SAFE  # whoever goes there is told what is wrong with it
    for count in range(1, len(parts) + 1):
        if (workspace.root.joinpath(*parts[:count]) / ".git").exists():
            return moderate(
                "this folder has a repository of its own, whose settings may name programs", folder
            )
    return SAFE


def nested_repositories(root: Path) -> list[Path]:
    """The `.git` of each repository inside of a folder, the nearest first; in large folders not of all."""
    repositories: list[Path] = []
    waiting = deque([str(root)])
    for _ in range(_MAX_FOLDERS):
        if not waiting:
            break
        folder = waiting.popleft()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == ".git":
                    repositories.append(Path(entry.path))
                elif entry.name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return [repository for repository in repositories if repository.parent != root][:_MAX_REPOSITORIES]


def is_own_repository(workspace: Workspace, folder: str) -> bool:
    """Whether a folder belongs to the workspace and to no other repository."""
    try:
        workspace.relative(folder)
    except ToolError:
        return False
    return classify_folder(workspace, folder).is_safe


def classify_settings(root: Path) -> Classification:
    """The settings of the workspace's own repository: who unpacked it somewhere did not write them."""
    home = root / ".git"
    if home.is_file() and not home.is_symlink():
        return _classify_git_file(root, home)
    return _classify_git_folder(root, home, root, {(home.resolve(), root.resolve())})


def _classify_git_folder(
    root: Path, home: Path, folder: Path, seen: set[tuple[Path, Path]]
) -> Classification:
    """The settings in the `.git` of a folder, and in those of the repositories that it keeps as gitlinks."""
    if (home / "commondir").exists():
        return moderate("the repository takes its settings from another folder", "commondir")
    for name in ("config", "config.worktree"):
        if _names_program(home / name):
            part = home.relative_to(root) / name if home.is_relative_to(root) else name
            return moderate("the repository's settings name a program that git may start", str(part))
    links = gitlinks(home)
    if links is None or len(seen) > _MAX_REPOSITORIES:
        return moderate("git may obey the settings of repositories in it that cannot be looked at")
    return most_dangerous(_classify_gitlink(root, folder / link, seen) for link in sorted(links))


def _classify_gitlink(root: Path, folder: Path, seen: set[tuple[Path, Path]]) -> Classification:
    """Each is looked at once, however often and in whatever circle they name each other."""
    home = folder / ".git"
    try:
        if not home.exists():
            return SAFE
        if home.is_file():
            home = folder / home.read_text(errors="replace").removeprefix("gitdir:").strip()
        home = home.resolve()
        if (place := (home, folder.resolve())) in seen or not home.is_dir():
            return SAFE
        seen.add(place)
        return _classify_git_folder(root, home, folder, seen)
    except (OSError, ValueError):
        return moderate("git may obey the settings of a repository that cannot be looked at", folder.name)


def _classify_git_file(root: Path, link: Path) -> Classification:
    """A repository kept elsewhere; outside of the workspace no command sees it."""
    folder = link.read_text(errors="replace").removeprefix("gitdir:").strip()
    if (root / folder).resolve().is_relative_to(root):
        return moderate("the repository is kept in a folder that commands can change", folder)
    return SAFE


def _names_program(settings: Path) -> bool:
    try:
        with settings.open(errors="replace") as file:
            text = file.read(_MAX_SETTINGS_BYTES + 1)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if len(text) > _MAX_SETTINGS_BYTES or _STARTS.search(text):
        return True
    return _FETCHES.search(text) is not None and _REACHES.search(text) is not None
