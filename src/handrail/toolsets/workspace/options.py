"""How a workspace is written in handrail.toml, [workspace], and where it begins by default."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from handrail.ext.errors import DefinitionError
from handrail.toolsets.web.options import ProviderName
from handrail.toolsets.workspace.path_rules import PathRules

_ROOT_MARKERS = (".git", ".hg", "handrail.toml")
ROOT_VARIABLE = "AGENT_WORKSPACE_ROOT"


def find_root(start: Path | None = None, environment: Mapping[str, str] | None = None) -> Path:
    """What AGENT_WORKSPACE_ROOT names; else the nearest folder upwards that is a repository; else the start.

    A person's home and what lies above it are never taken by themselves: they hold more than one project.
    """
    env = os.environ if environment is None else environment
    if named := env.get(ROOT_VARIABLE):
        return Path(named).resolve()
    start_folder = (start or Path.cwd()).resolve()
    home = Path(env.get("HOME") or Path.home()).resolve()
    for folder in (start_folder, *start_folder.parents):
        if folder == home or folder in home.parents:
            break
        if any((folder / sign).exists() for sign in _ROOT_MARKERS):
            return folder
    return start_folder


class WorkspaceError(DefinitionError):
    """The workspace cannot be used."""


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """What a workspace allows. Without a word it allows what can be taken back and stays inside."""

    root: str = "."
    """The folder; `{tenant}` in it stands for the tenant's slug, so that each tenant has its own."""
    tenant: str = "local"
    """Whose workspace it is, where the folder is the same for all; no other tenant sees these tools."""
    network: bool = False
    """Whether a command may ask for the network."""
    unsandboxed: bool = False
    """Whether commands run where there is no sandbox."""
    readable: tuple[str, ...] = ()
    """Folders outside that commands may read, such as a toolchain. File tools do not see them."""
    hardlinks: bool = False
    """Whether files are read that have a second name, which may lie outside."""
    protected: tuple[str, ...] = ()
    """Paths from the root that tools read and do not change."""
    hidden: tuple[str, ...] = ()
    """Paths from the root that are not there for tools."""
    private_networks: tuple[str, ...] = ()
    """Networks and hosts inside that webfetch may reach, such as 10.1.0.0/16."""
    search: ProviderName | None = None
    """Who searches the web; by default whoever is set up."""
    searxng_url: str | None = None
    """Where a SearXNG of one's own answers."""

    @property
    def is_shared(self) -> bool:
        """Whether each tenant has a folder of its own."""
        return "{tenant}" in self.root


def parse_options(
    table: Mapping[str, Any], where: str, folder: Path, tenant: str = "local"
) -> WorkspaceOptions:
    """The options as they are written; a root that is relative is so to the folder."""
    read: dict[str, Any] = {"tenant": tenant}
    for key, value in table.items():
        if key not in _READERS:
            near = difflib.get_close_matches(key, _READERS, 1, 0.5)
            remedy = f"did you mean {near[0]!r}?" if near else f"use one of: {', '.join(_READERS)}"
            raise WorkspaceError(f"{where}: {key!r} is not a setting of a workspace", remedy=remedy)
        try:
            read[key] = _READERS[key](value)
        except ValueError as error:
            raise WorkspaceError(f"{where}: {key} is {value!r}", remedy=f"{error}") from None
    for key in ("protected", "hidden"):
        try:
            PathRules(**{key: read.get(key, ())})
        except DefinitionError as error:
            raise WorkspaceError(f"{where}: {key}: {error.problem}", remedy=error.remedy) from None
    read["root"] = _absolute(folder, read.get("root", "."))
    read["readable"] = tuple(_absolute(folder, name) for name in read.get("readable", ()))
    return WorkspaceOptions(**read)


def _absolute(folder: Path, name: str) -> str:
    """A folder that the settings name; `~` is the home of whoever runs this."""
    try:
        return str(folder / Path(name).expanduser())
    except RuntimeError:
        return str(folder / name)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("give text")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError('give a list, such as ["one", "two"]')
    return tuple(_text(item) for item in value)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("give true or false")
    return value


def _provider(value: Any) -> Any:
    if value not in get_args(ProviderName):
        raise ValueError(f"use one of: {', '.join(get_args(ProviderName))}")
    return value


_READERS: dict[str, Callable[[Any], Any]] = {
    "root": _text,
    "tenant": _text,
    "network": _switch,
    "unsandboxed": _switch,
    "readable": _texts,
    "hardlinks": _switch,
    "protected": _texts,
    "hidden": _texts,
    "private_networks": _texts,
    "search": _provider,
    "searxng_url": _text,
}
"""Every setting of a workspace, and what reads it."""
