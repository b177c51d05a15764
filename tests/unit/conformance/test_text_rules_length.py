"""How long a text is, and how many sentences it has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.conformance.text_rules import count_sentences, count_tokens


@pytest.mark.req("DS-01")
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("Wait.", 2),
        ("Say how many pieces of an item are in stock.", 11),
        ("Find orders, newest first.", 6),
        ("data.searchRecords", 4),
        ("a connection", 2),
        ("Rechtsschutzversicherung", 3),
        ("搜索记录", 4),
        ("搜索 records", 3),
        ("é à ü", 3),
    ],
)
def test_a_text_has_about_as_many_tokens_as_a_model_reads(text: str, count: int) -> None:
    assert count_tokens(text) == count


@pytest.mark.req("DS-01")
@given(st.text(max_size=30), st.text(max_size=30))
def test_two_texts_together_are_as_long_as_both(left: str, right: str) -> None:
    assert count_tokens(f"{left} {right}") == count_tokens(left) + count_tokens(right)


@pytest.mark.req("DS-01")
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("Send a mail", 1),
        ("Send a mail.", 1),
        ("Send a mail. Use it rarely.", 2),
        ("Send a mail! Really? Yes.", 3),
        ("Send a mail, e.g. to Bo.", 1),
        ("Compare two files, i.e. Their texts.", 1),
        ("Version 2.5 of Acme Inc. files", 1),
        ("Read config.yaml in the folder.", 1),
        ("Wait... and see.", 1),
        ("Call (it). Then stop.", 2),
        ("搜索记录。返回结果。", 2),
        ("Read it.\n\nWrite it.", 2),
    ],
)
def test_a_text_has_as_many_sentences_as_a_reader_counts(text: str, count: int) -> None:
    assert count_sentences(text) == count
