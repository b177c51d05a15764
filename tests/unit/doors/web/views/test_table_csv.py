"""The CSV of a table: every cell comes back, and no spreadsheet runs what a tool wrote."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.core.define.ui_specs import OutputSection
from handrail.doors.web.views.table_csv import BOM, table_csv

CELLS = (
    st.none()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=12)
    | st.text("'=+-@ab", max_size=5)
)
SECTIONS = [OutputSection("rows", "Rows", "table", {"columns": ["a", {"key": "b", "label": "=B"}]})]
RUN = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def lines_of(rows: list[dict[str, Any]]) -> list[list[str]]:
    text = table_csv(SECTIONS, {"success": True, "data": {"rows": rows}}, "rows")
    assert text is not None and text.startswith(BOM) and text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text.removeprefix(BOM), newline="")))


def read_back(cell: str, value: Any) -> Any:
    """The cell as the value it was: without the mark that keeps text from being run."""
    if value is None or isinstance(value, str):
        return cell.removeprefix("'") if cell.lstrip("'").startswith(RUN) else cell
    return type(value)(cell)


@pytest.mark.req("UI-12")
@given(st.lists(st.fixed_dictionaries({"a": CELLS, "b": CELLS}), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_a_table_parses_back_to_its_cells(rows: list[dict[str, Any]]) -> None:
    head, *lines = lines_of(rows)
    assert head == ["A", "'=B"]
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        for cell, value in zip(line, (row["a"], row["b"]), strict=True):
            assert read_back(cell, value) == ("" if value is None else value)


@pytest.mark.req("UI-17")
@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        ("＝1+1", "'＝1+1"),
        ("+49 30", "'+49 30"),
        ("-12.50", "-12.50"),
        ('plain, with "quotes"', 'plain, with "quotes"'),
    ],
)
def test_what_a_spreadsheet_would_run_is_marked_as_text(text: str, cell: str) -> None:
    assert lines_of([{"a": text, "b": -5}])[1] == [cell, "-5"]


def test_numbers_stay_numbers_and_what_has_parts_is_json() -> None:
    assert lines_of([{"a": -1.5, "b": {"x": [1, None]}}])[1] == ["-1.5", '{"x":[1,null]}']


def test_every_row_is_there_however_few_the_page_shows() -> None:
    assert len(lines_of([{"a": number, "b": 0} for number in range(10_000)])) == 10_001


def test_the_data_behind_a_chart_is_to_be_had_too() -> None:
    chart = [OutputSection("years", "Years", "chart")]
    text = table_csv(chart, {"success": True, "data": {"years": {"one": 1, "two": 2}}}, "years")
    assert text == BOM + "Name,Value\r\none,1\r\ntwo,2\r\n"


@pytest.mark.parametrize("section", ["", "rest", "other"])
def test_what_is_no_table_has_no_csv(section: str) -> None:
    assert table_csv(SECTIONS, {"success": True, "data": {"rows": [], "rest": 1}}, section) is None
