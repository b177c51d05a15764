"""Paging: the query parameters of every list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

from fastapi import Query

T = TypeVar("T")

MOST = 200
Limit = Annotated[int, Query(ge=1, le=MOST, description="At most so many.")]
After = Annotated[
    str | None, Query(max_length=1_000, description="Go on from here: the `next` of the page before.")
]
Time = Annotated[float | None, Query(allow_inf_nan=False, description="Seconds since 1970.")]
Name = Annotated[str | None, Query(max_length=1_000)]


def cut(found: Sequence[T], limit: int, place: Callable[[T], str]) -> tuple[Sequence[T], str | None]:
    """A page of what was found with one more than it holds, and from where to go on if there is more."""
    page = found[:limit]
    return page, place(page[-1]) if len(found) > limit else None


def page_of(
    found: Sequence[T], after: str | None, limit: int, place: Callable[[T], str]
) -> tuple[Sequence[T], str | None]:
    """A page of a list that is at hand. After a thing that is gone, it begins anew."""
    start = next((at + 1 for at, one in enumerate(found) if place(one) == after), 0) if after else 0
    return cut(found[start : start + limit + 1], limit, place)
