"""What identity refuses, in words that give nothing away to whoever tries."""

from __future__ import annotations

import math

from handrail.core.errors import HandrailError

_UNITS = (("hour", 3_600), ("minute", 60))


class NotSignedIn(HandrailError):
    """This key or session is not valid. Use another one, or sign in again."""


class PermissionDenied(HandrailError):
    """You cannot do that with what you hold."""


class WrongPassword(NotSignedIn):
    """The address or the password is not right."""


class TooManyAttempts(NotSignedIn):
    """A password was tried too often."""

    def __init__(self, wait: float) -> None:
        self.wait = wait
        minutes = max(1, math.ceil(wait / 60))
        after = "a minute" if minutes == 1 else f"{minutes} minutes"
        super().__init__(
            f"The password was tried too often. Try again in {after}, or sign in with a one-time link."
        )


class RateLimited(HandrailError):
    """Something was used as often as it can be for a while."""

    def __init__(self, message: str, wait: float) -> None:
        self.wait = wait
        super().__init__(f"{message} Try again in {_duration_text(wait)}.")


def _duration_text(seconds: float) -> str:
    """How long to wait, rounded up."""
    unit, size = next((entry for entry in _UNITS if seconds > entry[1]), ("second", 1))
    count = max(1, math.ceil(seconds / size))
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"
