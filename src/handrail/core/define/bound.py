"""The one place where text for a model is cut."""

from __future__ import annotations

MODEL_LIMIT = 30_000
"""Characters of one result that a model is given unless the caller asks for another bound."""


def cut(text: str, limit: int, handle: str | None = None, begins: int = 0) -> str:
    """At most `limit` characters of the text, and a marker that says what is missing and how to get it.

    `begins` is where the text itself begins in the whole that the handle stands for.
    """
    if len(text) <= limit:
        return text
    shown = max(0, limit)
    if handle is None:
        rest = "Ask for less, or for a part of it."
    else:
        rest = f"Read on with read_result(handle={handle!r}, offset={begins + shown})."
    return f"{text[:shown]}\n[cut: {shown} of {len(text)} characters shown. {rest}]"
