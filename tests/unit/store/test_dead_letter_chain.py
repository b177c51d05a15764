"""chain_of: which dead letters belong to one call and its replays."""

from __future__ import annotations

import pytest

from handrail.store.dead_letters import chain_of

ORIGINS = {
    "first": None,
    "second": "first",
    "third": "second",
    "fourth": "third",
    "sibling": "first",
    "other": None,
    "others_replay": "other",
    "orphan": "purged",
}


@pytest.mark.parametrize("letter", ["first", "second", "third", "fourth", "sibling"])
def test_from_any_letter_the_chain_reaches_its_origin_and_every_replay(letter: str) -> None:
    assert chain_of(letter, ORIGINS) == {"first", "second", "third", "fourth", "sibling"}


def test_a_letter_whose_origin_was_purged_is_a_chain_of_its_own() -> None:
    assert chain_of("orphan", ORIGINS) == {"orphan"}
    assert chain_of("unknown", ORIGINS) == {"unknown"}


def test_letters_that_name_each_other_do_not_go_round_for_ever() -> None:
    assert chain_of("a", {"a": "b", "b": "c", "c": "a"}) == {"a", "b", "c"}
