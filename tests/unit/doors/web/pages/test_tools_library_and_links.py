"""Links that fill in a form, and what an address asks of the library."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.core.define.tool import Tool
from handrail.doors.web.pages.tools.inputs import InvalidJson
from handrail.doors.web.pages.tools.library import LibraryQuery, read_library_query
from handrail.doors.web.pages.tools.preferences import MAX_LINK, LinkTooLong, input_from_link, input_link
from tests.unit.doors.web.forms.schemas import ANYTHING
from tests.unit.doors.web.forms.test_round_trip import same

PLAIN = Tool(id="a b/c", slug="a b/c", name="A")
KEEN = Tool(id="k", slug="k", name="K", secrets=frozenset({"word", "inner.*.pin"}))


def packed(path: str) -> str:
    return path.partition("?input=")[2]


@given(st.dictionaries(st.text(max_size=5), ANYTHING, max_size=3))
@pytest.mark.req("RA-02")
def test_a_link_gives_back_what_was_put_in(value: dict[str, Any]) -> None:
    path, left_out = input_link(PLAIN, value)
    assert path.isascii() and " " not in path and path.startswith("/tools/a%20b%2Fc?input=")
    assert same(input_from_link(PLAIN, packed(path)), value) and left_out == ()


def test_no_secret_goes_into_a_link_nor_comes_out_of_one() -> None:
    value = {"word": "hush", "inner": [{"pin": 1, "who": "ana"}], "times": 2}
    path, left_out = input_link(KEEN, value)
    assert input_from_link(PLAIN, packed(path)) == {"inner": [{"who": "ana"}], "times": 2}
    assert sorted(left_out) == ["inner.0.pin", "word"]
    made_by_hand, _ = input_link(PLAIN, value)
    assert input_from_link(KEEN, packed(made_by_hand)) == {"inner": [{"who": "ana"}], "times": 2}


def test_an_input_that_is_too_long_for_a_link_makes_none() -> None:
    with pytest.raises(LinkTooLong):
        input_link(PLAIN, {"text": "x" * MAX_LINK})


@given(st.text(max_size=30))
def test_a_broken_link_says_so(text: str) -> None:
    said = None
    try:
        input_from_link(PLAIN, text)
    except InvalidJson as error:
        said = str(error)
    assert said in (None, "The link is not whole, so nothing of it was filled in. Copy it again.")


@pytest.mark.req("RA-01")
def test_a_wish_is_what_the_address_asks_for_and_nothing_that_there_is_not() -> None:
    asked = {"q": f"  {'x' * 300}", "origin": "nowhere", "kind": "code", "category": "Shop & more", "z": "1"}
    wish = read_library_query(asked)
    assert wish == LibraryQuery("x" * 200, "", "code", "Shop & more", "")
    assert read_library_query(
        dict(pair.split("=") for pair in wish.url().partition("?")[2].split("&")[:1])
    ).words
    assert LibraryQuery(category="Shop & more").url(after="é") == "/tools?category=Shop+%26+more&after=%C3%A9"
    assert read_library_query({}).is_open and LibraryQuery().url() == "/tools"
