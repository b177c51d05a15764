"""Unsaid: what a text adds to the line that stands above it already."""

from __future__ import annotations


def unsaid(text: str, line: str | None) -> str:
    """The text without its first line, where that says no more than the line above it: `Edited a.py.`
    below `Edited a.py (+1 -1)`."""
    if not line:
        return text
    first, _, rest = text.partition("\n")
    said, above = first.rstrip("."), line.rstrip(".")
    return rest if said == above or above.startswith(f"{said} (") else text
