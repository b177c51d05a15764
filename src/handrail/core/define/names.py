"""Names: what a tool may be called, and how it is spelled for people, pages and providers."""

from __future__ import annotations

import hashlib
import re

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[.\-][A-Za-z0-9_]+)*\Z")
SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
MAX_NAME = 128
WIRE_LIMIT = 64

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK = re.compile(r"[\s._\-]+")


def is_name(text: str) -> bool:
    """Whether a tool or an alias may be called this."""
    return len(text) <= MAX_NAME and NAME.match(text) is not None


def words(name: str) -> list[str]:
    """The words of a name, whatever its style: `data.searchRecords` is data, search, Records."""
    return [word for word in _BREAK.split(_HUMP.sub(" ", name)) if word]


def humanize_field_name(name: str) -> str:
    """Title Case for a label: `max_results` is Max Results."""
    return " ".join(word[:1].upper() + word[1:] for word in words(name))


def slug_of(name: str) -> str:
    """The URL-safe form: `data.searchRecords` is data-search-records."""
    return "-".join(word.lower() for word in words(name))


def wire_name(name: str) -> str:
    """The form providers accept: no dots, at most 64 characters.

    Dots become `__`. A longer name keeps its beginning and ends in a digest of the whole, so it stays
    unique; the way back is the registry's table, which refuses two tools with one wire name.
    """
    plain = name.replace(".", "__")
    if len(plain) <= WIRE_LIMIT:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:10]
    return f"{plain[: WIRE_LIMIT - 11]}_{digest}"


def category_of(name: str) -> str | None:
    """The heading a dotted name stands under in the menu."""
    head, dot, _ = name.rpartition(".")
    return head if dot else None
