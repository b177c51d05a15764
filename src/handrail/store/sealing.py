"""Seal: what must stay secret at rest, encrypted. Bound to its tenant, and to what it is about."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from collections.abc import Iterable
from typing import Any

from handrail.core.errors import UsageError

KEY_BYTES = 32
_VERSION = b"\x01"
_NONCE_BYTES = 12
_ID_BYTES = 6


class SealError(UsageError):
    """What is sealed cannot be opened."""


class LostKey(SealError):
    """The key that sealed this is not here. Give it back in HANDRAIL_KEY or in the key file."""


def key_id(key: bytes) -> str:
    """What a key is called: it says nothing of the key."""
    return hashlib.sha256(b"handrail key id" + key).digest()[:_ID_BYTES].hex()


class Seal:
    """Closes with the newest key, opens with every one it has."""

    __slots__ = ("_keys", "_newest")

    def __init__(self, keys: Iterable[bytes]) -> None:
        given = list(keys)
        if not given or any(len(key) != KEY_BYTES for key in given):
            raise SealError(f"A seal needs keys of {KEY_BYTES} bytes, the newest one first.")
        self._keys = {key_id(key): key for key in given}
        self._newest = key_id(given[0])

    @property
    def newest(self) -> str:
        """The id of the key that closes."""
        return self._newest

    @property
    def key_ids(self) -> frozenset[str]:
        """The ids of the keys that open."""
        return frozenset(self._keys)

    def close(self, tenant: str, value: Any, about: str = "") -> str:
        """JSON data as text that only this tenant's rows can hold, and only about the same thing."""
        written = json.dumps(value, separators=(",", ":"), allow_nan=False)
        head = _VERSION + bytes.fromhex(self._newest)
        nonce = os.urandom(_NONCE_BYTES)
        cipher = _cipher(self._keys[self._newest])
        locked: bytes = cipher.encrypt(nonce, written.encode(), _bound(head, tenant, about))
        return base64.urlsafe_b64encode(head + nonce + locked).decode("ascii")

    def open(self, tenant: str, sealed: str, about: str = "") -> Any:
        """What was closed; raises when it was changed, moved, or its key is not here."""
        from cryptography.exceptions import InvalidTag

        head, nonce, locked = _parts(sealed)
        key = self._keys.get(head[1:].hex())
        if key is None:
            here = ", ".join(sorted(self._keys))
            raise LostKey(
                f"This was sealed with the key {head[1:].hex()}, which is not here (here: {here}). "
                "Give that key back, after the newest one, in HANDRAIL_KEY or in the key file."
            )
        try:
            opened: bytes = _cipher(key).decrypt(nonce, locked, _bound(head, tenant, about))
        except InvalidTag:
            raise SealError(
                "What is sealed here was changed, or belongs to another place. Nothing was opened."
            ) from None
        return json.loads(opened)

    def derived(self, purpose: str) -> bytes:
        """A key for something else, made of the newest one: the same in every process that has it."""
        return hmac.digest(self._keys[self._newest], f"handrail: {purpose}".encode(), "sha256")

    def __repr__(self) -> str:
        return f"Seal({self._newest})"


def _cipher(key: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # heavy: only where something is sealed

    return AESGCM(key)


def _bound(head: bytes, tenant: str, about: str) -> bytes:
    """What stands beside the text and cannot be exchanged: each part with its length."""
    parts = (tenant.encode("utf-8", "surrogatepass"), about.encode("utf-8", "surrogatepass"))
    return head + b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def _parts(sealed: str) -> tuple[bytes, bytes, bytes]:
    try:
        raw = base64.b64decode(sealed.encode("ascii"), altchars=b"-_", validate=True)
    except ValueError:
        raw = b""
    end_of_head = 1 + _ID_BYTES
    if len(raw) < end_of_head + _NONCE_BYTES or raw[:1] != _VERSION:
        raise SealError("This is not something that Handrail sealed. Nothing was opened.")
    end_of_nonce = end_of_head + _NONCE_BYTES
    return raw[:end_of_head], raw[end_of_head:end_of_nonce], raw[end_of_nonce:]
