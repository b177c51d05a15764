"""Pages made to cost memory and time: what is made of them is bounded, and no step of it holds up others."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.net.body import decode
from handrail.toolsets.web import html_cleaner, markdown
from handrail.toolsets.web.html_cleaner import MAX_OUTPUT, clean_html
from handrail.toolsets.web.html_elements import parse_attributes
from handrail.toolsets.web.markdown import ENOUGH, MOST, make_readable

URL = "https://site.example/docs/page"


@pytest.mark.req("BT-06")
@pytest.mark.parametrize("markup", ["<a href=b>x</a>", "<img src=b>"])
@pytest.mark.parametrize("length", [2_000, 8_000])
def test_short_links_of_a_long_base_do_not_fill_the_memory(markup: str, length: int) -> None:
    base = "a" * length
    for html, url in (
        (f"<base href='/{base}/'>{markup * 2_200}", URL),
        (markup * 2_200, f"{URL}/{base}/"),
    ):
        page = clean_html(html, url)

        assert sum(map(len, page.pieces)) < MAX_OUTPUT + 10_000
        assert page.is_cut == (length == 2_000), "a link that is far too long is left out, and its words stay"


@pytest.mark.req("BT-06")
def test_no_more_tags_are_read_than_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html_cleaner, "MOST_TAGS", 20)
    page = clean_html("<p>x</p>" * 15, URL)

    assert page.is_cut and words_of(page.pieces) == "x" * 10
    assert not clean_html("<p>x</p>" * 10, URL).is_cut


@pytest.mark.req("BT-05")
@pytest.mark.parametrize(
    "html",
    [
        "<p hidden>evil <b>evil</b></p>",
        "<div hidden><div>evil</div>evil</div>",
        "<svg><text>evil</text></svg>",
        "<section hidden><section hidden>evil</section>evil<ul><li>evil<li>evil</ul></section>",
    ],
)
def test_what_is_hidden_stays_so_however_deep_it_stands(html: str) -> None:
    for deep in (0, 10, 159, 160, 161, 500):
        page = make_readable(f"<p>before</p>{'<div>' * deep}{html}after", URL, "text")

        assert "evil" not in page.text and "before" in page.text and "after" in page.text, deep


@pytest.mark.req("BT-05")
@pytest.mark.parametrize("length", [8_000, 9_000, 70_000, 200_000])
@pytest.mark.parametrize(
    "attributes",
    [
        "hidden data-x='{}'",
        "data-x='{}' hidden",
        "{0} hidden",
        "a='{}' b={} aria-hidden=true",
        "class='{}' style='display:none'",
        "style='color:red;{};display:none'",
    ],
)
def test_what_is_hidden_stays_so_however_much_is_said_of_it(attributes: str, length: int) -> None:
    many = ("q " if attributes.startswith("{0}") else "q") * length
    page = make_readable(f"<p>before</p><div {attributes.format(many, many)}>evil</div>after", URL, "text")

    assert "evil" not in page.text and "before" in page.text and "after" in page.text


@pytest.mark.req("BT-05")
def test_what_is_shown_is_read_however_much_is_said_of_it() -> None:
    long = "q" * 200_000
    page = make_readable(
        f"<div class='{long}' hidden-x='{long}'>shown <a data-x='{long}' href=/x>link", URL, "text"
    )
    styled = make_readable(
        f"<p style='background:url(data:image/png;base64,{'q' * 30_000})'>shown", URL, "text"
    )

    assert page.text == "shown link" and styled.text == "shown"


@pytest.mark.req("BT-06")
def test_very_many_attributes_are_not_kept() -> None:
    assert parse_attributes(" ".join(f"a{number}=1" for number in range(200_000)) + " href=x") == {
        "href": "x"
    }


@pytest.mark.req("BT-06")
def test_lists_and_quotes_within_each_other_are_no_wider_than_deep() -> None:
    """What stands in a quote has a mark of it before each line."""
    for tag in ("<blockquote>", "<ul><li>", "<ol><li>", "<dl><dd>"):
        readable = make_readable(tag * 60 + "<p>x</p>" * 1000, URL, "markdown").text

        assert readable.count("x") == 1000 and len(readable) < 60_000


BITS = [
    *["<p>", "</p>", "<ul>", "<ol start=7>", "<li>", "</ul>", "</ol>", "<table>", "<tr>", "<td>", "</table>"],
    *[
        "<div>",
        "</div>",
        "<blockquote>",
        "<pre>",
        "</pre>",
        "<b>",
        "</b>",
        "<a href=x>",
        "</a>",
        "<img src=x>",
    ],
    *["one two three four", "&amp;", "&lt;", "x", "\n"],
]


@pytest.mark.req("BT-06")
@given(st.lists(st.sampled_from(BITS), max_size=60).map("".join))
def test_a_page_is_converted_in_parts_that_stand_for_themselves(html: str) -> None:
    """A conversion lets no other thread run, so that none of them may be long."""
    pieces = clean_html(html, URL).pieces
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "ENOUGH", 40)
        patch.setattr(markdown, "MOST", 100)
        parts = list(markdown.split_html(pieces))

    opened = sum(map(len, (piece for piece in pieces if piece[0] == "<")))
    assert all(len(part) <= 2 * 100 + 40 + 2 * opened for part in parts)
    assert all(len(re.sub("<[^>]*>", "", part)) <= 2 * 100 + 40 for part in parts)
    assert words_of(parts) == words_of(pieces)
    assert all(map(balanced, parts))


@pytest.mark.req("BT-06")
@pytest.mark.parametrize(
    "html", ["<p>one two</p>", "<img src=x>", "&amp;", "<p><pre>", "<b>x", "<table><tr><td>x"]
)
def test_no_part_is_long(html: str) -> None:
    parts = list(markdown.split_html(clean_html(html * 12_000, URL).pieces))

    assert max(map(len, parts)) < 2 * MOST + 100_000
    assert max(map(len, parts)) < ENOUGH + 100 or "<p>" not in html


def words_of(html: list[str]) -> str:
    return unescape(re.sub("<[^>]*>", "", "".join(html)))


def balanced(html: str) -> bool:
    deep: list[str] = []
    for slash, name in re.findall(r"<(/?)(\w+)[^>]*>", html):
        if slash and deep.pop() != name:
            return False
        if not slash and name not in ("br", "hr", "img"):
            deep.append(name)
    return deep == []


@pytest.mark.req("BT-05")
def test_a_page_in_parts_reads_like_one() -> None:
    entries = "".join(f"<li>{'word ' * 60}<p>end {number}</p></li>" for number in range(1, 700))
    numbered = make_readable(f"<p>before<ol>{entries}</ol>", URL, "markdown").text
    assert re.findall(r"^(\d+)\. word", numbered, re.MULTILINE) == [str(number) for number in range(1, 700)]

    items = "".join(f"<li>item {number}</li>" for number in range(3_000))
    nested = make_readable(f"<ul><li>top<ul>{items}</ul></ul>", URL, "markdown").text
    assert nested == "- top\n" + "\n".join(f"  - item {number}" for number in range(3_000))

    paragraphs = "".join(f"<p>paragraph {number}</p>" for number in range(3_000))
    total = make_readable(f"<main><div>{paragraphs}", URL, "markdown").text
    assert total == "\n\n".join(f"paragraph {number}" for number in range(3_000))

    code = make_readable(
        "<pre>" + "".join(f"line {number}\n" for number in range(30_000)), URL, "markdown"
    ).text
    lines = [line for line in code.split("\n") if line and line != "```"]
    assert lines == [f"line {number}" for number in range(30_000)], "a line is never cut"
    assert code.count("```") == 4, "it was converted in two parts"


@given(st.lists(st.sampled_from(["&amp;", "&lt;", "x", "&", "\n", ";", "&#38;", "&nope"]), max_size=30))
def test_no_entity_is_cut(bits: list[str]) -> None:
    text = "x" * (16_384 - 20) + "".join(bits) + "y" * 20_000

    assert words_of(clean_html(f"<pre>{text}", URL).pieces) == unescape(text)


@pytest.fixture
def counting() -> Iterator[list[int]]:
    """A codec that says how much it is given in one go."""
    given: list[int] = []

    class Decoder(codecs.IncrementalDecoder):
        def decode(self, data: Any, final: bool = False) -> str:
            given.append(len(data))
            return bytes(data).decode("latin-1")

    def find(name: str) -> codecs.CodecInfo | None:
        if name != "counting":
            return None
        return codecs.CodecInfo(
            codecs.latin_1_encode, codecs.latin_1_decode, incrementaldecoder=Decoder, name="counting"
        )

    codecs.register(find)
    yield given
    codecs.unregister(find)


@pytest.mark.req("BT-06")
def test_a_long_text_is_decoded_in_slices(counting: list[int]) -> None:
    """Bytes that are none of the encoding take long, and no other thread runs while they are decoded."""
    text = decode(b"a\r\nb\r" * 100_000, "text/plain; charset=counting")

    assert text == "a\nb\n" * 100_000 and sum(counting) == 500_000 and max(counting) <= ENOUGH


@given(
    st.binary(max_size=100), st.sampled_from(["utf-8", "utf-16", "utf-32", "shift_jis", "gbk", "iso-2022-jp"])
)
def test_slices_decode_to_what_the_whole_does(body: bytes, codec: str) -> None:
    start = b"ab" * 8190  # so that the end of a slice is within what follows
    total = (start + body).decode(
        {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "gbk": "gb18030"}.get(codec, codec), "replace"
    )

    assert (
        decode(b"\0\0" + start + body, f"charset={codec}")[-20:]
        == decode(total.encode("utf-8", "replace"), "charset=utf-8")[-20:]
    )
