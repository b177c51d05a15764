"""Listings and facts: nothing reaches the screen as a tool wrote it, and nothing breaks a line."""

import io
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from handrail.doors.cli.output import Answer, format_time, listing, moment, show_answer, show_facts, show_rows
from handrail.doors.cli.screen import Screen

_texts = st.text(st.characters(codec="utf-8"), max_size=30)


def _screen() -> tuple[Screen, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Screen(out, err), out, err


@given(st.lists(st.tuples(_texts, _texts, st.integers() | st.none()), min_size=1, max_size=8))
def test_a_row_is_one_line_of_visible_cells_whatever_is_in_them(
    rows: list[tuple[str, str, int | None]],
) -> None:
    screen, out, err = _screen()
    show_rows(screen, ("A", "B", "C"), rows, "none")
    lines = out.getvalue().split("\n")
    assert len(lines) == len(rows) + 1 and lines[-1] == ""
    assert all(len(line.split("\t")) == 3 for line in lines[:-1])
    hidden = [one for one in out.getvalue() if unicodedata.category(one) in ("Cc", "Cf", "Cs")]
    assert set(hidden) <= set("\n\t\u200c\u200d")
    assert err.getvalue() == ""


def test_an_empty_listing_says_so_on_standard_error() -> None:
    screen, out, err = _screen()
    show_rows(screen, ("A",), [], "There is nothing.")
    assert (out.getvalue(), err.getvalue()) == ("", "There is nothing.\n")


def test_facts_leave_out_what_is_not_there_and_write_arguments_exactly() -> None:
    screen, out, _ = _screen()
    show_facts(screen, {"id": "a\x1b[2J", "empty": None, "arguments": {"to\n": "\x1b]0;x\x07", "pieces": 5}})
    assert out.getvalue() == ('id         a\\x1b[2J\narguments\n  to = "\\u001b]0;x\\u0007"\n  pieces = 5\n')


def test_facts_write_out_blanks_that_push_an_argument_out_of_sight() -> None:
    screen, out, _ = _screen()
    show_facts(screen, {"arguments": {"command": "ls" + " " * 300 + "; rm"}})
    assert out.getvalue() == 'arguments\n  command = "ls' + "\\u0020" * 300 + '; rm"\n'


def test_a_time_in_a_pipe_is_utc() -> None:
    screen, _, _ = _screen()
    assert format_time(0.25, screen) == "1970-01-01T00:00:00Z"
    assert format_time(None, screen) == ""


def test_times_stand_in_rows_and_facts_as_they_are_written_elsewhere() -> None:
    screen, out, _ = _screen()
    show_rows(screen, ("At", "Until"), [(moment(0.25), moment(None))], "none")
    show_facts(screen, {"at": moment(60), "until": moment(None)})
    assert out.getvalue() == "1970-01-01T00:00:00Z\t\nat  1970-01-01T00:01:00Z\n"


def test_an_answer_for_programs_is_the_document_alone() -> None:
    screen, out, err = _screen()
    show_answer(screen, Answer({"a": 1}, "one", note="see more"), json=True)
    assert (out.getvalue(), err.getvalue()) == ('{"a":1}\n', "")


def test_an_answer_for_people_is_its_text_and_then_its_note() -> None:
    screen, out, err = _screen()
    show_answer(screen, Answer({"a": 1}, "one", note="see more"), json=False)
    show_answer(screen, Answer([], listing(("A",), [("x",)], "none")), json=False)
    assert (out.getvalue(), err.getvalue()) == ("one\nx\n", "see more\n")
