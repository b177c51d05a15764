"""Keeping: what the tools of a workspace leave alone."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from handrail.ext import DefinitionError, folded


@dataclass(frozen=True, slots=True)
class Keeping:
    """What the tools leave alone, as paths from the root."""

    protected: tuple[str, ...] = ()
    """May be read, not changed: settings and policies. Repositories' own folders are so by themselves."""
    hidden: tuple[str, ...] = ()
    """Not there at all: databases and keys. Our own folder is so by itself."""
    hardlinks: bool = False
    """Whether files are read that have a second name, which may lie outside."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "protected", _spelled(map(_from_root, self.protected)))
        object.__setattr__(self, "hidden", _spelled(map(_from_root, self.hidden)))


def _from_root(path: str) -> str:
    """A path in its plainest spelling; one that would keep nothing, or everything, is an error."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or not parts or ".." in parts or any(one in path for one in "*?\0"):
        raise DefinitionError(
            f"{path!r} is no path from the root of a workspace",
            remedy="name a file or a folder in it, such as secrets/key.pem; patterns are not understood",
        )
    return "/".join(parts)


def _spelled(names: Iterable[str]) -> tuple[str, ...]:
    """Each name in every way in which a folder may hold it: what is one letter may be stored as two."""
    forms: tuple[Literal["NFC", "NFD"], ...] = ("NFC", "NFD")
    spelled = ((name, *(unicodedata.normalize(form, name) for form in forms)) for name in names)
    return tuple(dict.fromkeys(one for ways in spelled for one in ways))


def is_among(parts: tuple[str, ...], names: Collection[str]) -> bool:
    """Whether a path is one of those named or lies in it, however it is spelled."""
    if not names:
        return False
    path = tuple(map(folded, parts))
    return any(path[: len(one)] == one for one in (tuple(folded(name).split("/")) for name in names))
