"""Keeping: what the tools of a workspace leave alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from handrail.ext import DefinitionError


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
        object.__setattr__(self, "protected", tuple(map(_from_root, self.protected)))
        object.__setattr__(self, "hidden", tuple(map(_from_root, self.hidden)))


def _from_root(path: str) -> str:
    """A path in its plainest spelling; one that would keep nothing, or everything, is an error."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or not parts or ".." in parts or any(one in path for one in "*?\0"):
        raise DefinitionError(
            f"{path!r} is no path from the root of a workspace",
            remedy="name a file or a folder in it, such as secrets/key.pem; patterns are not understood",
        )
    return "/".join(parts)


def is_among(parts: tuple[str, ...], names: Collection[str]) -> bool:
    if not names:
        return False
    folded = tuple(part.casefold() for part in parts)
    return any(folded[: len(one)] == one for one in (tuple(name.casefold().split("/")) for name in names))
