"""Spans of time as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.options import parse_duration

UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@given(st.integers(1, 10**6), st.sampled_from(sorted(UNITS)))
def test_a_number_and_a_unit_are_so_many_seconds(number: int, unit: str) -> None:
    assert parse_duration(f"{number}{unit}", "--x") == number * UNITS[unit]
    assert parse_duration(f" {number}.5{unit} ", "--x") == (number + 0.5) * UNITS[unit]


@pytest.mark.parametrize(
    "text", ["", "5", "d", "-1d", "0d", "1y", "1 d", "inf", "nan", "1e9d", "٣d", "9" * 20 + "d"]
)
def test_anything_else_is_told_with_how_to_write_it(text: str) -> None:
    with pytest.raises(CommandError) as stop:
        parse_duration(text, "--since")
    assert stop.value.problem == f"--since {text!r} is no span of time"
    assert stop.value.remedy == "write 45s, 10m, 12h, 30d or 2w"
