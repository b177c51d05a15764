"""What was submitted as a table: nothing is lost, and nothing becomes a formula."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail.identity.session_aggregates import Aggregate
from handrail.platform.session_export import export_csv, export_json
from handrail.store.tool_sessions import ToolSession, ToolSessionSubmission


def submission(name: str, input: Any, output: Any) -> ToolSessionSubmission:
    return ToolSessionSubmission("s1", "t1", "u1", name, input, output, "call_1", 0.0)


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.req("CS-05")
def test_each_submission_is_a_line_and_each_field_a_column() -> None:
    given = [submission("Ana", {"a": 1, "b": [1]}, {"x": True}), submission("Bo", {"c": None}, "plain")]
    assert rows(export_csv(given)) == [
        ["participant", "submitted_at", "input.a", "input.b", "input.c", "output.x", "output"],
        ["Ana", "1970-01-01T00:00:00+00:00", "1", "[1]", "", "true", ""],
        ["Bo", "1970-01-01T00:00:00+00:00", "", "", "", "", "plain"],
    ]


@example("=1+1", "-x")
@example("@a", "\t=1")
@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_no_text_that_somebody_typed_is_a_formula_in_a_spreadsheet(name: str, value: str) -> None:
    table = rows(export_csv([submission(name, {"a": value, value or "x": 1}, None)]))
    for cell in (one for row in table for one in row):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert all(len(row) == len(table[0]) for row in table)


def test_numbers_below_zero_stay_numbers() -> None:
    assert "-4" in rows(export_csv([submission("Ana", {"a": -4}, None)]))[1]


def test_the_whole_session_is_one_document() -> None:
    session = ToolSession("t1", "acme", "rate", "Ours", "ana", 0.0, share_digest="secret")
    told = export_json(session, [submission("Ana", {"a": 1}, 2)], Aggregate({"mean": 2}))
    assert told["aggregate"] == {"mean": 2} and told["submissions"][0]["user_display_name"] == "Ana"
    assert "secret" not in str(told)
