"""Numbers that people give us: limits and counts."""

from __future__ import annotations

from handrail.core.errors import UsageError


def at_least_one(what: str, given: object) -> int:
    """The number, if it is a whole one from 1 on; otherwise an error that says what it is for."""
    if type(given) is not int or given < 1:
        raise UsageError(f"{what} is a whole number from 1 on, not {given!r}.")
    return given
