"""retry_after: how long a server asks to be left alone."""

from __future__ import annotations

from collections.abc import Mapping

_LONGEST = 86_400.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, where the server says them; a date is not read."""
    told = headers.get("retry-after", "").strip()
    if not told:
        # Brave says how long each of its windows lasts, the shortest first.
        told = headers.get("x-ratelimit-reset", "").partition(",")[0].strip()
    if not (told.isascii() and told.isdigit() and len(told) <= 6):
        return None
    return min(float(told), _LONGEST)
