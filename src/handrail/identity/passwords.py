"""Passwords: which may be chosen, and how they are hashed: slowly, on purpose, in threads of their own."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from handrail.core.errors import UsageError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

T = TypeVar("T")

SHORTEST = 12
LONGEST = 1_000
_AT_ONCE = 2
"""How many are hashed at a time: each takes 64 MB while it lasts."""


class WeakPassword(UsageError):
    """This password cannot be chosen."""


def check_password(password: str, email: str) -> None:
    """Raise unless a person of that address may choose this password."""
    if len(password) < SHORTEST:
        raise WeakPassword(f"A password has at least {SHORTEST} characters. Three or four words will do.")
    if len(password) > LONGEST:
        raise WeakPassword(f"A password has at most {LONGEST:,} characters.")
    if unicodedata.normalize("NFKC", password).strip().casefold() == email.casefold():
        raise WeakPassword("Your address is no password: whoever knows you would try it first.")


class Hashing:
    """Hashes and verifies with argon2id, as the library recommends it."""

    def __init__(self, make: Callable[[], PasswordHasher] | None = None) -> None:
        self._make = make or _as_recommended
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="handrail-hash")

    async def hash(self, password: str) -> str:
        return await self._run(lambda: self._hasher.hash(_bytes(password)))

    async def verify(self, hashed: str | None, password: str) -> bool:
        """Whether it is that password. Where there is none to compare with, it takes as long and is False."""
        if len(password) > LONGEST:
            hashed, password = None, ""
        return await self._run(lambda: self._verify(hashed, password))

    def is_outdated(self, hashed: str) -> bool:
        """Whether it was hashed otherwise than new ones are."""
        return self._hasher.check_needs_rehash(hashed)

    def _verify(self, hashed: str | None, password: str) -> bool:
        from argon2.exceptions import Argon2Error, InvalidHashError

        nobodys = self._nobodys  # made by whoever comes first, so that nothing is told by who pays for it
        try:
            self._hasher.verify(hashed or nobodys, _bytes(password))
        except (Argon2Error, InvalidHashError):
            return False
        return hashed is not None

    async def _run(self, fn: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, fn)

    @cached_property
    def _hasher(self) -> PasswordHasher:
        return self._make()

    @cached_property
    def _nobodys(self) -> str:
        """The hash of what nobody knows."""
        return self._hasher.hash(secrets.token_bytes(32))


def _as_recommended() -> PasswordHasher:
    from argon2 import PasswordHasher  # only where somebody has a password

    return PasswordHasher()


def _bytes(password: str) -> bytes:
    """One spelling of what looks the same; half a surrogate pair is no reason to fail."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
