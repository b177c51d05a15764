"""Repositories: git obeys the settings of the folder it runs in, and settings may name programs."""

from __future__ import annotations

import os
import re
from collections import deque
from contextlib import suppress
from pathlib import Path

from handrail.ext import ToolError
from handrail.toolsets.workspace.desk import Workspace
from handrail.toolsets.workspace.shell.gitlinks import gitlinks
from handrail.toolsets.workspace.shell.judgement import SAFE, Judgement, moderate, strictest

_LARGEST = 1_000_000
_FOLDERS = 4_000
"""Folders that are looked into for repositories before each command that writes."""
_MOST = 50
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


def judge_folder(workspace: Workspace, folder: str) -> Judgement:
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


def nested(root: Path) -> list[Path]:
    """The `.git` of each repository inside of a folder, the nearest first; in large folders not of all."""
    found: list[Path] = []
    waiting = deque([str(root)])
    for _ in range(_FOLDERS):
        if not waiting:
            break
        folder = waiting.popleft()
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name == ".git":
                    found.append(Path(entry.path))
                elif entry.name not in _SKIPPED and entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return [one for one in found if one.parent != root][:_MOST]


def is_ours(workspace: Workspace, folder: str) -> bool:
    """Whether a folder belongs to the workspace and to no other repository."""
    try:
        workspace.relative(folder)
    except ToolError:
        return False
    return judge_folder(workspace, folder).is_safe


def judge_settings(root: Path) -> Judgement:
    """The settings of the workspace's own repository: who unpacked it somewhere did not write them."""
    home = root / ".git"
    if home.is_file() and not home.is_symlink():
        return _judge_link(root, home)
    return _judge_home(root, home, root, {(home.resolve(), root.resolve())})


def _judge_home(root: Path, home: Path, folder: Path, seen: set[tuple[Path, Path]]) -> Judgement:
    """The settings in the `.git` of a folder, and in those of the repositories that it keeps as gitlinks."""
    if (home / "commondir").exists():
        return moderate("the repository takes its settings from another folder", "commondir")
    for name in ("config", "config.worktree"):
        if _names_program(home / name):
            part = home.relative_to(root) / name if home.is_relative_to(root) else name
            return moderate("the repository's settings name a program that git may start", str(part))
    links = gitlinks(home)
    if links is None or len(seen) > _MOST:
        return moderate("git may obey the settings of repositories in it that cannot be looked at")
    return strictest(_judge_gitlink(root, folder / link, seen) for link in sorted(links))


def _judge_gitlink(root: Path, folder: Path, seen: set[tuple[Path, Path]]) -> Judgement:
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
        return _judge_home(root, home, folder, seen)
    except (OSError, ValueError):
        return moderate("git may obey the settings of a repository that cannot be looked at", folder.name)


def _judge_link(root: Path, link: Path) -> Judgement:
    """A repository kept elsewhere; outside of the workspace no command sees it."""
    kept = link.read_text(errors="replace").removeprefix("gitdir:").strip()
    if (root / kept).resolve().is_relative_to(root):
        return moderate("the repository is kept in a folder that commands can change", kept)
    return SAFE


def _names_program(settings: Path) -> bool:
    try:
        with settings.open(errors="replace") as file:
            text = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if len(text) > _LARGEST or _STARTS.search(text):
        return True
    return _FETCHES.search(text) is not None and _REACHES.search(text) is not None
