"""Times, spans and states as a person says them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from handrail.doors.web.humanize import (
    STATUS_LABELS,
    display_name,
    duration,
    level_badge,
    pluralize,
    relative_time,
    status_badge,
    time_ago,
)


def test_times_are_told_as_people_tell_them() -> None:
    now = 1_800_000_000.0
    told = {
        gap: relative_time(now - gap, now)
        for gap in (0, 4, 5, 59, 60, 3_599, 3_600, 86_399, 86_400, 6 * 86_400)
    }
    assert told == {
        0: "just now",
        4: "just now",
        5: "5 s ago",
        59: "59 s ago",
        60: "1 min ago",
        3_599: "59 min ago",
        3_600: "1 h ago",
        86_399: "23 h ago",
        86_400: "1 d ago",
        6 * 86_400: "6 d ago",
    }
    assert relative_time(now + 23.5 * 3_600, now) == "in 23 h"
    assert relative_time(now - 8 * 86_400, now) == "7 Jan 2027"


def test_somebody_is_called_by_name_and_whoever_was_never_a_member_by_their_id() -> None:
    names = {"user_5f0c2a9d41b7_1": "Ana"}
    assert display_name("user_5f0c2a9d41b7_1", names) == "Ana"
    assert display_name("user_5f0c2a9d41b7_2", names) == "somebody who left"
    assert display_name("local", names) == "local"
    assert display_name("lo\u202ecal", names) == "lo\\u202ecal"


def test_the_exact_time_stands_behind_it() -> None:
    drawn = str(time_ago(1_800_000_000.0, 1_800_000_100.0))
    assert 'datetime="2027-01-15T08:00:00+00:00"' in drawn
    assert 'title="2027-01-15 08:00:00 UTC"' in drawn
    assert ">1 min ago<" in drawn


@given(st.floats(0, 4e9), st.floats(0, 4e9))
def test_any_two_times_can_be_told(at: float, now: float) -> None:
    assert relative_time(at, now)


def test_spans_grow_in_their_units() -> None:
    assert [duration(one) for one in (0, 0.0004, 0.0005, 0.0006, 0.084, 1.24, 59.94, 75, 3_700)] == [
        "under 1 ms",
        "under 1 ms",
        "under 1 ms",
        "1 ms",
        "84 ms",
        "1.2 s",
        "59.9 s",
        "1 min 15 s",
        "1 h 1 min",
    ]


def test_a_state_has_a_word_an_icon_and_a_tone() -> None:
    for name, known in STATUS_LABELS.items():
        drawn = str(status_badge(name))
        assert known.word in drawn and "<svg" in drawn and f"mark-{known.tone}" in drawn
    assert "odd thing" in str(status_badge("odd_thing"))


def test_a_level_is_never_told_by_colour_alone() -> None:
    assert "read · safe" in str(level_badge("read", "safe"))
    assert "mark-warn" in str(level_badge("read", "moderate"))
    assert "mark-bad" in str(level_badge("write", "dangerous"))


def test_numbers_agree_with_their_noun() -> None:
    assert [pluralize(one, "tool") for one in (0, 1, 2, 12_000)] == [
        "0 tools",
        "1 tool",
        "2 tools",
        "12\u202f000 tools",
    ]
