"""What a list of runs is asked for, and the names under which files are downloaded."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.doors.web.pages.runs.result import content_disposition
from handrail.doors.web.pages.runs.run_list import RunListQuery, read_run_query, time_range

FIELDS = ("tool", "status", "source", "who", "since", "until")


def test_days_count_from_their_beginning_to_their_end() -> None:
    times = time_range(RunListQuery(since="1970-01-02", until="1970-01-02"))
    assert (times.since, times.until) == (86_400.0, 172_800.0)


@pytest.mark.parametrize(
    ("given_", "field"),
    [
        ({"status": "odd"}, "status"),
        ({"source": "odd"}, "source"),
        ({"since": "May"}, "since"),
        ({"until": "0"}, "until"),
    ],
)
def test_what_cannot_be_read_is_said_at_its_field(given_: dict[str, str], field: str) -> None:
    _, wrong = read_run_query(given_)
    assert list(wrong) == [field]


@given(st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=300)))
def test_any_address_is_read_and_leads_to_itself(query: dict[str, str]) -> None:
    asked, _ = read_run_query(query)
    time_range(asked)
    again, _ = read_run_query(dict(parse_qsl(urlsplit(asked.address(after="x")).query)))
    assert again == asked


@given(st.text(max_size=300))
def test_a_file_is_downloaded_under_a_name_and_nothing_else(name: str) -> None:
    told = content_disposition(name)
    assert told.isascii() and told.isprintable()
    head, _, rest = told.partition('filename="')
    plain, _, encoded = rest.partition("\"; filename*=UTF-8''")
    assert head == "attachment; "
    assert '"' not in plain and ";" not in encoded
    whole = unquote(encoded)
    assert whole and not set(whole) & set("/\\:\x00\n\r\u202e") and whole not in (".", "..")
