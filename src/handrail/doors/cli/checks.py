"""Checks: one thing that `handrail doctor` looked at, and what came of it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from handrail.core.errors import HandrailError
from handrail.doors.cli.exits import Stop
from handrail.doors.cli.screen import database_trouble

T = TypeVar("T")
State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    state: State
    said: str
    remedy: str | None = None


def tried(name: str, attempt: Callable[[], T]) -> T | Check:
    """What an attempt gives, or why it failed."""
    try:
        return attempt()
    except (Stop, HandrailError) as error:
        stop = error if isinstance(error, Stop) else Stop.of(error)
        return Check(name, "fail", stop.problem, stop.remedy)
    except Exception as error:
        if (trouble := database_trouble(error)) is None:
            raise
        return Check(name, "fail", trouble.problem, trouble.remedy)


def version_of(package: str) -> str | None:
    """The version that is installed; None without."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
