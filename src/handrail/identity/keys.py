"""Keys: how an API key is spelled, and by what it is known again.

`hr_<tenant>_<id>_<secret>`: the tenant stands in the key, so that it is looked up within that tenant's scope.
Of the secret only a SHA-256 is kept. A slow hash protects words that people choose, which can be guessed; a
secret of 256 random bits cannot, and every call would pay for the slowness. A sign-in link is spelled alike,
with `hl` before it; a link by which people join a tool session with `hj`; the token of an embed with `he`.
None can stand for another.
"""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

_FORM = re.compile(r"(hr|hl|hj|he)_([a-z0-9]+(?:-[a-z0-9]+)*)_([0-9a-f]{16})_([0-9a-f]{64})\Z")
_LONGEST = 160
_NOBODY = sha256(b"no key has this digest").hexdigest()


Mark = Literal["hr", "hl", "hj", "he"]


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key in its parts."""

    tenant: str
    id: str
    secret: str = field(repr=False)
    mark: Mark = "hr"

    @property
    def prefix(self) -> str:
        """What may be shown of it."""
        return f"{self.mark}_{self.tenant}_{self.id}"

    def reveal(self) -> str:
        """The key itself: to be shown once, to whoever asked for it."""
        return f"{self.prefix}_{self.secret}"

    @property
    def digest(self) -> str:
        return sha256(self.reveal().encode()).hexdigest()

    def is_of(self, digest: str | None) -> bool:
        """Whether this is the key of that digest. It takes as long where there is none to compare with."""
        same = hmac.compare_digest(self.digest, digest or _NOBODY)
        return same and digest is not None


def new_key(tenant: str, mark: Mark = "hr") -> KeyText:
    return KeyText(tenant, secrets.token_hex(8), secrets.token_hex(32), mark)


def read_key(text: str, mark: Mark = "hr") -> KeyText | None:
    """The parts of a key, or None if it cannot be one."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    found = _FORM.match(text)
    return None if found is None or found[1] != mark else KeyText(found[2], found[3], found[4], mark)
