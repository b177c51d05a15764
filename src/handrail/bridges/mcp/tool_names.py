"""Names: what the tools of a server are called here. Each has one name, and no two share a spelling of it."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from handrail.ext.tools import slug_of, wire_name

PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*\Z")
MAX_PREFIX = 32
_MAX_NAME = 128
_PLAIN = re.compile(r"[A-Za-z0-9_]+(?:[.\-][A-Za-z0-9_]+)*\Z")
_NOT_NAME_CHARS = re.compile(r"[^A-Za-z0-9_]+")
_MARKS = (8, 16, 32)
"""How many characters of a digest tell names apart, and how many where those were not enough."""


def local_names(prefix: str, remote: Iterable[str]) -> dict[str, str]:
    """The server's own names, each with its name here.

    Where two would be spelled alike for a provider or on a page, both get a mark of their own. So no tool
    that a server adds can take the name of another.
    """
    ours = {name: _plain(prefix, name) for name in remote}
    for length in _MARKS:
        used = Counter(spelling for name in ours.values() for spelling in _spellings(name))
        alike = [
            name for name, own in ours.items() if any(used[spelling] > 1 for spelling in _spellings(own))
        ]
        if not alike:
            break
        ours.update({name: _marked(prefix, name, length) for name in alike})
    return ours


def has_prefix(prefix: str, name: str) -> bool:
    """Whether a name could be that of a tool under this prefix, in any of its spellings."""
    return name.startswith((f"{prefix}.", f"{prefix}__", f"{slug_of(prefix)}-"))


def _plain(prefix: str, name: str) -> str:
    plain = f"{prefix}.{name}"
    fits = len(plain) <= _MAX_NAME and _PLAIN.match(name) and has_prefix(prefix, slug_of(plain))
    return plain if fits else _marked(prefix, name, _MARKS[0])


def _marked(prefix: str, name: str, length: int) -> str:
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:length]
    readable = _NOT_NAME_CHARS.sub("_", name).strip("_")[: _MAX_NAME - MAX_PREFIX - length - 2]
    return f"{prefix}.{readable}_{mark}" if readable else f"{prefix}.{mark}"


def _spellings(name: str) -> set[str]:
    return {name, wire_name(name), slug_of(name)}
