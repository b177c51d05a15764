"""Retry: how often a failed body is tried again, after what pause and for which errors. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handrail.core.define.result import Result
from handrail.core.define.signal import Aborted
from handrail.core.errors import DefinitionError, RemoteError, ToolError

_NEVER = frozenset({"INVALID_OUTPUT", "UNKNOWN_OUTCOME"})
"""Codes of bodies that did their work, or may have: once more would be twice."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How to go on after a failure: `Retry(attempts=5, on=(ConnectionError, "RATE_LIMITED"))`."""

    attempts: int = 3
    """All together: 1 means that nothing is tried again."""
    first: float = 0.5
    """Seconds before the second attempt."""
    factor: float = 2.0
    """By how much each pause is longer than the one before it."""
    longest: float = 30.0
    """No pause is longer. What asks for more patience than this is not tried again."""
    jitter: float = 0.5
    """The share of a pause that chance may take away, so that many callers do not come back at once."""
    on: tuple[type[Exception] | str, ...] = (Exception,)
    """Classes of exceptions, and codes of failed results and of `ToolError`s.

    A `ToolError` was thought about: it is tried again only if its code or its own class stands here, or if
    it says when (`retry_after`).
    """

    if TYPE_CHECKING:

        def __init__(
            self,
            attempts: int = 3,
            first: float = 0.5,
            factor: float = 2.0,
            longest: float = 30.0,
            jitter: float = 0.5,
            on: Iterable[type[Exception] | str] | type[Exception] | str = (Exception,),
        ) -> None: ...

    def __post_init__(self) -> None:
        _hold("attempts", self.attempts, 1, math.inf, "a whole number, 1 or more", whole=True)
        _hold("first", self.first, 0, math.inf, "seconds, 0 or more")
        _hold("factor", self.factor, 1, math.inf, "a number, 1 or more")
        _hold("longest", self.longest, 0, math.inf, "seconds, 0 or more")
        _hold("jitter", self.jitter, 0, 1, "a share between 0 and 1")
        if self.first > self.longest:
            raise DefinitionError(
                f"retry: the first pause ({self.first:g} s) is above the longest ({self.longest:g} s)",
                remedy="raise longest, or lower first",
            )
        object.__setattr__(self, "on", _read(self.on))

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(item for item in self.on if isinstance(item, str))

    @property
    def kinds(self) -> tuple[type[Exception], ...]:
        return tuple(item for item in self.on if not isinstance(item, str))

    def takes(self, failure: Exception | Result) -> bool:
        """Whether one more attempt may help against this."""
        if isinstance(failure, Result):
            return not failure.success and failure.code in self.codes
        if isinstance(failure, Aborted):
            return False
        if isinstance(failure, RemoteError):
            return failure.code in self.codes or any(map(failure.is_a, self.kinds))
        if isinstance(failure, ToolError):
            own = tuple(kind for kind in self.kinds if issubclass(kind, ToolError))
            return failure.retry_after is not None or failure.code in self.codes or isinstance(failure, own)
        return isinstance(failure, self.kinds)

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds between an attempt that failed, counted from 1, and the next; `chance` lies in [0, 1)."""
        try:
            grown = self.first * self.factor ** (attempt - 1)
        except OverflowError:
            grown = self.longest if self.first else 0.0
        return min(grown, self.longest) * (1 - self.jitter * chance)

    def pause(self, attempt: int, failure: Exception | Result, chance: float) -> float | None:
        """Seconds until the next attempt; None when there is to be none."""
        if attempt >= self.attempts or not self.takes(failure):
            return None
        least = (failure.retry_after or 0.0) if isinstance(failure, ToolError) else 0.0
        return None if least > self.longest else max(least, self.delay(attempt, chance))


def retry_of(retry: Any) -> Retry:
    """The `Retry` that is meant: itself, or a number of attempts."""
    if isinstance(retry, Retry):
        return retry
    if isinstance(retry, int) and not isinstance(retry, bool):
        return Retry(retry)
    raise DefinitionError(
        f"its retry is {retry!r}", remedy="give a Retry, or the number of attempts, such as 3"
    )


def _hold(name: str, value: Any, least: float, most: float, allowed: str, whole: bool = False) -> None:
    kinds = (int,) if whole else (int, float)
    if (
        not isinstance(value, kinds)
        or isinstance(value, bool)
        or not least <= value <= most
        or value == math.inf
    ):
        raise DefinitionError(f"retry: {name} is {value!r}", remedy=f"give {allowed}")


def _read(on: Any) -> tuple[type[Exception] | str, ...]:
    listed = on if isinstance(on, Iterable) and not isinstance(on, (str, type)) else (on,)
    items = tuple(listed)
    for item in items:
        if isinstance(item, str) and item and item not in _NEVER:
            continue
        if isinstance(item, type) and issubclass(item, Exception):
            continue
        if isinstance(item, str) and item in _NEVER:
            why = f"{item} is never tried again: the body did its work, or may have"
            raise DefinitionError(f"retry: {why}", remedy="take it out of `on`")
        raise DefinitionError(
            f"retry: on names {item!r}",
            remedy='give subclasses of Exception and codes, such as (ConnectionError, "RATE_LIMITED")',
        )
    return items
