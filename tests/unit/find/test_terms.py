"""From texts and names to terms."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail.core.define.names import slug_of, wire_name
from handrail.core.find.terms import STOP_TERMS, compact_name, pieces, stem, terms

FORMS = """
create creates created creating creation | delete deletes deleted deleting deletion | record records recording
search searches searched searching | query queries querying | copy copies copied copying | file files filing
plan plans planned planning | run runs running | cancel cancels cancelled cancelling | process processes
address addresses | write writes writing | share shared sharing | parse parses parsing | merge merged merging
calculate calculator calculation | validate validation | install installed installing | add adds added adding
match matches matching | box boxes | class classes | status statuses | invoice invoices invoicing | size sizes
rate rating ratings | meeting meetings meet | connect connection connecting | category categories
message messages messaging | image images | log logs logged logging | fix fixes fixing | embed embedding
"""
APART = "file fill | state stats | new news | post poster | station state | section sector | use user"


@pytest.mark.req("BY-17")
@pytest.mark.parametrize("forms", [group.split() for group in FORMS.strip().replace("\n", "|").split("|")])
def test_forms_of_one_word_have_one_stem(forms: list[str]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.req("BY-17")
@pytest.mark.parametrize("words", [group.split() for group in APART.split("|")])
def test_words_that_only_look_alike_keep_stems_of_their_own(words: list[str]) -> None:
    assert len({stem(word) for word in words}) == len(words)


@pytest.mark.req("BY-17", "NM-03")
def test_names_of_every_style_come_apart_and_stay_whole() -> None:
    assert terms("data.searchRecords") == ["data", "searchrecord", "search", "record"]
    assert terms("search_records-now") == ["search", "record", "now"]
    assert terms("GitHub HTTPServer sha256") == [
        *("github", "git", "hub"),
        *("httpserver", "http", "server"),
        *("sha256", "sha", "256"),
    ]
    assert terms("v2Api") == ["v2api", "v", "2", "api"]


@pytest.mark.req("BY-17")
def test_case_accents_and_compatible_letters_do_not_matter() -> None:
    assert terms("ÜBERWEISUNG") == terms("überweisung") == terms("uberweisung")
    assert terms("ﬁle ① Ｆｉｌｅ") == ["file", "1", "file"]
    assert terms("Straße") == terms("STRASSE")
    assert terms("검색") == ["검색"]


@pytest.mark.req("BY-17")
def test_what_is_between_words_is_no_word() -> None:
    assert terms("") == terms(" \t\n…-_.·🙂") == []
    assert pieces("Mail (e-mail): send!") == [("mail",), ("e",), ("mail",), ("send",)]


@given(st.text())
@example("aA0")
@example("İİ ŉ ΐ ᾳ ǆ Ⅷ ｶﾞ")
def test_any_text_has_terms_and_they_are_their_own_terms(text: str) -> None:
    found = terms(text)
    assert set(terms(" ".join(found))) == set(found)
    assert all(found)


@given(st.text(st.characters(codec="ascii", categories=["Ll", "Lu"]), min_size=1))
def test_a_stem_is_its_own_stem_and_begins_like_the_word(word: str) -> None:
    found = stem(word)
    assert stem(found) == found
    assert found and found[0] == word[0] and len(found) <= len(word)


@given(st.from_regex(r"[a-z][a-z0-9]{0,8}(?:[._][a-z0-9]{1,8}|[A-Z][a-z]{1,5}){0,3}", fullmatch=True))
def test_every_spelling_of_a_name_squeezes_to_one(name: str) -> None:
    spelled = {compact_name(one) for one in (name, wire_name(name), slug_of(name), name.upper())}
    assert len(spelled) == 1


def test_weak_terms_are_stems() -> None:
    assert {stem(term) for term in STOP_TERMS} == STOP_TERMS
    assert {"the", "of", stem("does"), stem("tools")} <= STOP_TERMS and "search" not in STOP_TERMS
