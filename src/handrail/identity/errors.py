"""What identity refuses, in words that give nothing away to whoever tries."""

from __future__ import annotations

import math

from handrail.core.errors import HandrailError


class NotSignedIn(HandrailError):
    """This key or session is not valid. Use another one, or sign in again."""


class NotGranted(HandrailError):
    """You cannot do that with what you hold."""


class WrongPassword(NotSignedIn):
    """The address or the password is not right."""


class TooManyTries(NotSignedIn):
    """A password was tried too often."""

    def __init__(self, wait: float) -> None:
        self.wait = wait
        minutes = max(1, math.ceil(wait / 60))
        after = "a minute" if minutes == 1 else f"{minutes} minutes"
        super().__init__(
            f"The password was tried too often. Try again in {after}, or sign in with a one-time link."
        )
