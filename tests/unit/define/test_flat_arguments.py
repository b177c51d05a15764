"""The short way for arguments that are plain scalars agrees with the long way, enumerations included."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Any, Literal

import pytest

from handrail import Handrail, Principal, Tool, tool
from handrail.core.define.json_values import NotJson, copy_object, is_flat_object
from handrail.core.define.validation import InvalidValue
from handrail.core.tell.events import ToolStarted

SOMEBODY = Principal(tenant="acme", user="u1")


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


class Colour(StrEnum):
    RED = "red"


class Size(Enum):
    SMALL = 1


class Fallback(Enum):
    OTHER = "other"

    @classmethod
    def _missing_(cls, value: object) -> Fallback:
        return cls.OTHER


async def open_ticket(
    title: str, priority: Priority, colour: Colour | None = None, state: Literal["new", "old"] = "new"
) -> dict[str, Any]:
    """Open a ticket."""
    return {"title": title, "priority": repr(priority), "colour": repr(colour), "state": state}


async def sort_by(fallback: Fallback) -> str:
    """Sort."""
    return fallback.name


async def order(size: Size) -> str:
    """Order."""
    return size.name


TICKET = tool("open_ticket", level="read")(open_ticket)


def short_way(subject: Tool, raw: dict[str, Any]) -> dict[str, Any] | None:
    assert subject.flat_validate is not None
    return subject.flat_validate(raw)


def long_way(subject: Tool, raw: dict[str, Any]) -> dict[str, Any] | None:
    """What the body would receive; None where the arguments are refused."""
    try:
        values: dict[str, Any] = subject.validate(copy_object(raw)).__dict__
    except (InvalidValue, NotJson):
        return None
    return values


@pytest.mark.parametrize(
    "raw",
    [
        {"title": "a lamp", "priority": "high"},
        {"title": "a lamp", "priority": "high", "colour": "red"},
        {"title": "a lamp", "priority": "high", "colour": None, "state": "old"},
        {"title": "Größe", "priority": "low"},
    ],
)
def test_the_short_way_gives_the_body_what_the_long_way_gives_it(raw: dict[str, Any]) -> None:
    assert short_way(TICKET, raw) == long_way(TICKET, raw) is not None


@pytest.mark.parametrize(
    "raw",
    [
        {"title": "a lamp", "priority": "urgent"},
        {"title": "a lamp", "priority": "HIGH"},
        {"title": "a lamp", "priority": None},
        {"title": "a lamp", "priority": 1},
        {"title": "a lamp", "priority": Priority.HIGH},
        {"title": "a lamp", "priority": "high", "state": "lost"},
        {"title": "a lamp", "priority": "high", "colour": "blue"},
        {"title": "a lamp", "priority": "high", "more": 1},
        {"title": 1, "priority": "high"},
        {"title": "\ud800", "priority": "high"},
        {"priority": "high"},
    ],
    ids=repr,
)
def test_the_short_way_leaves_to_the_long_way_what_is_refused(raw: dict[str, Any]) -> None:
    assert (short_way(TICKET, raw), long_way(TICKET, raw)) == (None, None)


def test_a_member_that_is_text_itself_goes_the_long_way() -> None:
    raw = {"title": "a lamp", "priority": "high", "colour": Colour.RED}

    assert short_way(TICKET, raw) is None
    assert long_way(TICKET, raw) is not None


def test_an_enumeration_that_has_an_answer_for_unknown_values_is_asked_either_way() -> None:
    subject = tool("sort_by", level="read")(sort_by)

    assert short_way(subject, {"fallback": "size"}) == {"fallback": Fallback.OTHER}
    assert long_way(subject, {"fallback": "size"}) == {"fallback": Fallback.OTHER}


def test_an_enumeration_of_numbers_has_no_short_way() -> None:
    assert tool("order", level="read")(order).flat_validate is None


@pytest.mark.parametrize(
    "more", [{}, {"colour": "red", "state": "new"}], ids=["defaults filled", "all given"]
)
async def test_events_record_values_where_the_body_received_members(more: dict[str, Any]) -> None:
    args = {"title": "a lamp", "priority": "high", **more}
    async with Handrail([TICKET]) as hr:
        outcome = await hr.call("open_ticket", args, principal=SOMEBODY, session="s")
        started = next(event for event in hr.log.read("acme") if isinstance(event, ToolStarted))

    assert outcome.result.data["priority"] == "<Priority.HIGH: 'high'>"
    assert started.payload()["input"] == args
    assert all(type(value) is str for value in started.payload()["input"].values())


@pytest.mark.parametrize(
    ("value", "is_flat"),
    [
        ({}, True),
        ({"a": "text", "b": 1, "c": True, "d": None, "e": 1.5}, True),
        ({"ä": "ö"}, True),
        ({"a": "\ud800"}, False),
        ({"\ud800": 1}, False),
        ({1: "a"}, False),
        ({"a": []}, False),
        ({"a": {}}, False),
        ({"a": float("nan")}, False),
        ({"a": float("inf")}, False),
        ({"a": 10**400}, False),
        ({"a": b"bytes"}, False),
        ({"a": Priority.LOW}, False),
        ({"a": Colour.RED}, False),
        ({Colour.RED: 1}, False),
    ],
    ids=repr,
)
def test_a_flat_object_is_json_as_it_stands(value: dict[Any, Any], is_flat: bool) -> None:
    assert is_flat_object(value) is is_flat
