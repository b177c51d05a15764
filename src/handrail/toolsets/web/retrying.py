"""retry_after: how long a server asks to be left alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_MOST_DIGITS = 7
"""A longer number is a moment, not a time to wait."""


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, where the server says them."""
    told = headers.get("retry-after", "").strip()
    if not told:
        return _windows(headers)
    return _seconds(told) if told[:1].isdigit() else _until(told)


def _windows(headers: Mapping[str, str]) -> float | None:
    """Brave has windows of a second and of a month, and says what is left of each and how long it lasts."""
    resets = [_seconds(one) for one in headers.get("x-ratelimit-reset", "").split(",")]
    left = [one.strip() for one in headers.get("x-ratelimit-remaining", "").split(",")]
    used_up = [reset for reset, rest in zip(resets, left, strict=False) if rest == "0" and reset is not None]
    return max(used_up) if used_up else resets[0]


def _seconds(text: str) -> float | None:
    digits = text.strip()
    return float(digits) if digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS else None


def _until(date: str) -> float | None:
    try:
        when = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    seconds = (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return float(round(seconds)) if 0 < seconds < 10**_MOST_DIGITS else None
