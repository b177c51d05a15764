"""Asking: which runs a list is about, as its form and its address say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from urllib.parse import urlencode

from handrail.core.define.permission import SOURCES
from handrail.core.tell.runs import RunStatus

STATUSES: tuple[RunStatus, ...] = get_args(RunStatus)
LONGEST = 200


@dataclass(frozen=True, slots=True)
class Asking:
    """What was asked for, each as it was typed."""

    tool: str = ""
    status: str = ""
    source: str = ""
    who: str = ""
    since: str = ""
    until: str = ""

    @property
    def query(self) -> str:
        """As part of an address, without what was left open."""
        return urlencode({one.name: value for one in fields(self) if (value := getattr(self, one.name))})

    @property
    def any(self) -> bool:
        return bool(self.query)

    def address(self, path: str = "/runs", **more: str | None) -> str:
        told = urlencode({name: value for name, value in more.items() if value})
        query = "&".join(filter(None, (self.query, told)))
        return f"{path}?{query}" if query else path


@dataclass(frozen=True, slots=True)
class Times:
    """The span that a list is about."""

    since: float | None
    until: float | None


def asking_of(query: Mapping[str, str]) -> tuple[Asking, dict[str, str]]:
    """What was asked for, and what of it could not be read, by field."""
    given = Asking(**{one.name: query.get(one.name, "").strip()[:LONGEST].strip() for one in fields(Asking)})
    wrong: dict[str, str] = {}
    if given.status and given.status not in STATUSES:
        given = replace(given, status="")
        wrong["status"] = "There is no such state. All are shown."
    if given.source and given.source not in SOURCES:
        given = replace(given, source="")
        wrong["source"] = "There is no such way in. All are shown."
    for name in ("since", "until"):
        if getattr(given, name) and day_of(getattr(given, name)) is None:
            wrong[name] = "Write a day as 2026-05-31."
    return given, wrong


def times_of(given: Asking) -> Times:
    """From the beginning of the first day to the end of the last one."""
    first, last = day_of(given.since), day_of(given.until)
    return Times(
        None if first is None else first.timestamp(),
        None if last is None else (last + timedelta(days=1)).timestamp(),
    )


def day_of(text: str) -> datetime | None:
    try:
        day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return None
    return day if 1970 <= day.year < 9999 else None
