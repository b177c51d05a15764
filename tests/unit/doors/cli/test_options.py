"""Values of options as people write them, and the words that repeat the options of a command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.options import SharedOptions, parse_choice, parse_duration

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


def test_a_choice_is_one_of_those_there_are() -> None:
    assert parse_choice("read", ("read", "write"), "no level") == "read"
    for text in ("", "READ", "rea"):
        with pytest.raises(CommandError) as stop:
            parse_choice(text, ("read", "write"), f"{text!r} is no level")
        assert stop.value.problem == f"{text!r} is no level"
        assert stop.value.remedy == "use one of: read, write"


def test_another_command_about_the_same_repeats_what_was_given() -> None:
    assert SharedOptions(json=True, tools=["shop"]).about_database == []
    options = SharedOptions(database="sqlite:///x.db", user="ann")
    assert options.about_database == ["--database", "sqlite:///x.db", "--user", "ann"]
