"""Tokens: who signed in, where, and until when, signed by this house. Whether it still holds, rows say."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from dataclasses import astuple, dataclass
from hashlib import sha256

_MARK = "hs1"
_PURPOSE = b"handrail: signed sessions, version 1"
_LONGEST = 2_000


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a token says."""

    tenant: str
    user: str
    epoch: int
    """The person's sign-in epoch when it was signed; they have signed out since when theirs is another."""
    expires_at: float
    link_at: float | None = None
    """When a sign-in link let them in; None where it was something else."""


class Signer:
    """Signs and reads tokens, with a key of its own that is made from the house's."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        if len(key) < 32:
            raise ValueError("a key has 32 bytes or more")
        self._key = hmac.digest(key, _PURPOSE, sha256)

    def sign(self, said: SignedIn) -> str:
        body = _encoded(json.dumps(astuple(said)).encode())
        return f"{_MARK}.{body}.{_encoded(self._mac(body))}"

    def read(self, token: str, now: float) -> SignedIn | None:
        """What a token of ours says that is not over; None for anything else."""
        if not isinstance(token, str) or len(token) > _LONGEST or not token.isascii():
            return None
        parts = token.split(".")
        if len(parts) != 3 or parts[0] != _MARK:
            return None
        if not hmac.compare_digest(_encoded(self._mac(parts[1])), parts[2]):
            return None
        try:
            said = SignedIn(*json.loads(_decoded(parts[1])))
        except (ValueError, TypeError, binascii.Error):
            return None
        return said if now < said.expires_at else None

    def _mac(self, body: str) -> bytes:
        return hmac.digest(self._key, f"{_MARK}.{body}".encode(), sha256)


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
