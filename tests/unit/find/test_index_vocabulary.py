"""What a word may be meant for that nobody wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.find.bitsets import bits_of
from handrail.core.find.index import Vocabulary, distance

TERMS = ["authenticat", "calendar", "deploy", "fetch", "record", "recorder", "search", "starch", "web"]
WORDS = Vocabulary(TERMS)
ALL = (1 << len(TERMS)) - 1


def without(*hidden: str) -> int:
    return bits_of((at for at, term in enumerate(WORDS.terms) if term not in hidden), len(TERMS))


@pytest.mark.req("BY-17")
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("serch", "search"),
        ("saerch", "search"),
        ("searxh", "search"),
        ("seaarch", "search"),
        ("recrod", "record"),
        ("calender", "calendar"),
        ("auth", "authenticat"),
        ("deployment", "deploy"),
    ],
)
def test_a_word_stands_for_what_it_is_nearly(word: str, meant: str) -> None:
    assert meant in WORDS.near(word, ALL)


@pytest.mark.parametrize("word", ["we", "weather", "x", "2024", "", "zzzzz" * 20, "w3b"])
def test_a_word_that_is_far_from_all_stands_for_none(word: str) -> None:
    assert WORDS.near(word, ALL) == set()


@pytest.mark.req("BY-17")
def test_only_terms_that_count_are_meant() -> None:
    assert "search" not in WORDS.near("serch", without("search"))
    assert WORDS.near("auth", without("authenticat")) == set()
    assert WORDS.near("deployment", without("deploy")) == set()
    assert WORDS.split("webfetch", without("web")) is None


def test_hidden_terms_take_no_place_of_those_that_count() -> None:
    hidden = [f"sear{letter}h" for letter in "abdefghijklmnopqrstuvwxyz"]
    many = Vocabulary([*hidden, "searchx"])
    known = bits_of([many.terms.index("searchx")], len(many.terms))
    assert many.near("searchz", known) == {"searchx"}


@pytest.mark.req("BY-17")
def test_two_terms_written_as_one_come_apart() -> None:
    assert WORDS.split("webfetch", ALL) == ("web", "fetch")
    assert WORDS.split("weather", ALL) is None


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_a_distance_is_the_same_both_ways_and_zero_only_for_equals(one: str, other: str) -> None:
    assert distance(one, other) == distance(other, one)
    assert (distance(one, other) == 0) == (one == other)
    assert abs(len(one) - len(other)) <= distance(one, other) <= max(len(one), len(other))


@given(st.text("abcd", min_size=2, max_size=9), st.data())
def test_one_slip_is_one_apart(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    slips = {
        word[:at] + word[at + 1 :],
        f"{word[:at]}x{word[at:]}",
        f"{word[:at]}x{word[at + 1 :]}",
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    }
    assert {distance(word, slip) for slip in slips - {word}} == {1}


@given(st.text(), st.sets(st.text(min_size=1, max_size=8), max_size=20))
def test_any_word_can_be_asked_of_any_vocabulary(word: str, terms: set[str]) -> None:
    vocabulary = Vocabulary(terms)
    known = (1 << len(terms)) - 1
    assert vocabulary.near(word, known) <= terms
    split = vocabulary.split(word, known)
    assert split is None or ("".join(split) == word and set(split) <= terms)
