"""Aside: what only some calls come to have, so that the others need not carry it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from handrail.core.define.signal import Signal
from handrail.core.guard.dedup import Entry, Signature
from handrail.core.guard.keys import KeyId

T = TypeVar("T")

Claimed = tuple[list[str], str, str]
"""The keys that a call holds, its tenant, and the holder's name."""

_NOTHING: Mapping[str, Any] = {}


class Aside:
    """An idempotency key, claims, secrets, failed attempts, a timer, a signal and who waits for the end."""

    __slots__ = (
        "approval_id",
        "attempt",
        "claimed",
        "doubtful",
        "entry",
        "extra",
        "finished",
        "key",
        "reason",
        "secrets",
        "signal",
        "stray",
        "timer",
        "tries",
        "waiting",
        "withheld",
    )

    def __init__(self) -> None:
        self.approval_id: str | None = None
        self.attempt = 1
        self.claimed: Claimed | None = None
        self.doubtful = False
        self.entry: tuple[Signature, Entry] | None = None
        self.extra = _NOTHING
        self.finished = False
        self.key: KeyId | None = None
        self.reason: str | None = None
        self.secrets: set[str] | None = None
        self.signal: Signal | None = None
        self.stray: asyncio.Future[Any] | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.tries: tuple[str, ...] = ()
        self.waiting: tuple[Callable[[], None], ...] = ()
        self.withheld = ""


NOTHING_ASIDE = Aside()
"""Shared by all calls that have nothing aside; never written to."""


class HasAside:
    """The base of whatever carries an `aside`."""

    __slots__ = ("aside",)

    aside: Aside


class Lies(Generic[T]):
    """An attribute that lies in the aside; the first one that is set gives the call an aside of its own."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name.lstrip("_")

    def __get__(self, call: HasAside, owner: type | None = None) -> T:
        value: T = getattr(call.aside, self._name)
        return value

    def __set__(self, call: HasAside, value: T) -> None:
        if call.aside is NOTHING_ASIDE:
            call.aside = Aside()
        setattr(call.aside, self._name, value)
