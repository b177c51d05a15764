"""What identity refuses, in words that give nothing away to whoever tries."""

from __future__ import annotations

from handrail.core.errors import HandrailError


class NotSignedIn(HandrailError):
    """This key or session is not valid. Use another one, or sign in again."""


class NotGranted(HandrailError):
    """You cannot do that with what you hold."""
