"""What a card shows is exact: the value can be made of it again, and nothing hides or passes for another."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import htpy as h
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handrail.doors.web.pages.approvals import exact_values
from handrail.doors.web.pages.approvals.confusables import is_right_to_left, text_pieces
from handrail.doors.web.pages.approvals.exact_values import (
    ValueRow,
    argument_changes,
    json_literal,
    path_text,
    value_rows,
)

pytestmark = [pytest.mark.fault("F29"), pytest.mark.req("BY-02")]

texts = st.one_of(
    st.text(max_size=12),
    st.text(alphabet=" \t\n\r\\\"'u0aеο\u202e\u200b\u2066\u0301e•–…", max_size=12),
    st.sampled_from("xé\n\u202e").map(lambda text: text * 400),
)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
arguments = st.dictionaries(texts, values, max_size=5)


class Card(HTMLParser):
    """The rows of a card as they are read from its page: each place, and the value beside it."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[list[str]] = []
        self._into: int | None = None
        self.feed(page.encode().decode())  # plain text: markup would escape what it is joined to

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = (dict(attrs).get("class") or "").split()
        if tag == "code" and "ask-name" in names:
            self.found.append(["", ""])
            self._into = 0
        elif tag == "code" and "ask-exact" in names:
            self._into = 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "code":
            self._into = None

    def handle_data(self, data: str) -> None:
        if self._into is not None:
            self.found[-1][self._into] += data


_STEP = re.compile(r'\.?([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def made_again(page: str) -> Any:
    """The value, from nothing but the text of its card."""
    value: Any = {}
    for path, shown in Card(page).found:
        steps = list(_steps(path.replace("\n", "")))
        part = json.loads(shown.replace("\n", ""))
        value = _put(value, steps, part)
    return value


def _steps(path: str) -> Iterator[str | int]:
    at = 0
    while at < len(path):
        found = _STEP.match(path, at)
        assert found is not None, path[at:]
        yield _step(found)
        at = found.end()


def _step(found: re.Match[str]) -> str | int:
    if found[1] is not None:
        return found[1]
    return int(found[2]) if found[2] is not None else str(json.loads(found[3]))


def _put(value: Any, steps: list[str | int], part: Any) -> Any:
    if not steps:
        return part
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        value = value if isinstance(value, list) else []
        value = [*value, {}] if first == len(value) else value
        return [*value[:first], _put(value[first], rest, part), *value[first + 1 :]]
    value = value if isinstance(value, dict) else {}
    return {**value, first: _put(value.get(first, {}), rest, part)}


def same(one: Any, other: Any) -> bool:
    """Equal, also in kind: 1 is not 1.0 and not true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@settings(max_examples=40)
@given(arguments)
def test_the_value_can_be_made_again_from_the_text_of_its_card(value: dict[str, Any]) -> None:
    assert same(made_again(str(h.fragment[exact_values.render_rows(value_rows(value))])), value)


@settings(max_examples=40)
@given(texts)
def test_nothing_on_a_card_is_unseen(text: str) -> None:
    shown = "".join(piece.text for piece in text_pieces(json_literal(text)))
    for one in shown:
        assert one.isprintable(), hex(ord(one))
        assert unicodedata.category(one) not in ("Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp")
        assert one == " " or unicodedata.category(one) != "Zs"
    assert unicodedata.is_normalized("NFC", shown)


@settings(max_examples=40)
@given(texts, texts)
def test_two_texts_never_have_the_same_pieces(one: str, other: str) -> None:
    drawn = [[(piece.text, piece.kind) for piece in text_pieces(json_literal(text))] for text in (one, other)]
    assert (drawn[0] == drawn[1]) is (one == other)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", '"a[\\u202e]b"'),
        ("a\u2066b\u2069", '"a[\\u2066]b[\\u2069]"'),
        ("zero\u200bwidth\u200d\ufeff", '"zero[\\u200b]width[\\u200d][\\ufeff]"'),
        ("\x1b[2J\x07", '"[\\u001b][2J[\\u0007]"'),
        (" both ", '"[\\u0020]both[\\u0020]"'),
        ("two  inside", '"two[\\u0020][\\u0020]inside"'),
        ("    if x:\n        y", '"    if x:[\\n]        y"'),
        ("  ", '"[\\u0020][\\u0020]"'),
        (" " * 25 + "x", '"' + "[\\u0020]" * 25 + 'x"'),
        ("tab\there\nnext", '"tab[\\t]here[\\n]next"'),
        ("nb\u00a0sp\u3000", '"nb[\\u00a0]sp[\\u3000]"'),
        ("p\u0430ypal", '"p[\\u0430]ypal"'),
        ("g\u03bf\u03bfgle", '"g[\\u03bf][\\u03bf]gle"'),
        ("e\u0301 and \u00e9", '"e[\\u0301] and \u00e9"'),
        ("\uff41\ufb01\u2126", '"[\\uff41][\\ufb01][\\u2126]"'),
        ("\u1112\u1161", '"\u1112[\\u1161]"'),
        ("a\ufe0f\U000e0041", '"a[\\ufe0f][\\udb40\\udc41]"'),
        ("\u3164\u2800\u115f", '"[\\u3164][\\u2800][\\u115f]"'),
        ("\ue000\ud800", '"[\\ue000][\\ud800]"'),
        ("a\u2013b \u2019", '"a<\u2013>b <\u2019>"'),
        ("\u0441\u043e\u0440\u0443", '"<\u0441><\u043e><\u0440><\u0443>"'),
        ("\u041f\u0440\u0438\u0432\u0435\u0442", '"\u041f\u0440\u0438\u0432\u0435\u0442"'),
        (
            "Gr\u00fc\u00dfe, \u6771\u4eac, \u20ac 5 \u00b2",
            '"Gr\u00fc\u00dfe, \u6771\u4eac, \u20ac 5 \u00b2"',
        ),
        ('C:\\temp "x"', '"C:\\\\temp \\"x\\""'),
    ],
    ids=lambda given: ascii(given)[:24],
)
def test_what_hides_is_written_out_and_what_passes_for_another_is_marked(text: str, shown: str) -> None:
    marks = {"plain": "{}", "written": "[{}]", "noted": "<{}>"}
    assert "".join(marks[one.kind].format(one.text) for one in text_pieces(json_literal(text))) == shown


def test_each_mark_names_its_character() -> None:
    [mark] = [one for one in text_pieces(json_literal("a\u202e")) if one.kind == "written"]
    assert mark.about == "U+202E right-to-left override"
    assert [one.about for one in text_pieces(json_literal("\n")) if one.kind == "written"] == [
        "U+000A line break"
    ]


def test_a_long_value_is_folded_with_its_length_and_nothing_is_cut() -> None:
    text = "start " + "x" * 9_988 + " tail!"
    page = str(h.fragment[exact_values.render_rows(value_rows({"note": text}))])
    assert "<details" in page and "10\u202f000 characters" in page
    assert text in page and made_again(page) == {"note": text}
    assert page.index("tail!") < page.index(text), "the end is to be seen before it is opened"


@pytest.mark.parametrize("at", range(6))
def test_a_folded_text_shows_no_part_of_what_is_written_out(at: int) -> None:
    page = str(
        h.fragment[exact_values.render_rows(value_rows({"command": "ls" + " " * 300 + "x" * at + "; rm"}))]
    )
    summary = re.sub(r"<[^>]+>", "", page.partition("</summary>")[0].partition("<summary>")[2])
    start, _, end = summary.partition(" … ")
    assert re.fullmatch(r"&#34;ls(\\u0020)+", start)
    assert re.match(rf"(\\u0020)+x{{{at}}}; rm&#34;", end)


longer = st.lists(
    st.sampled_from(
        ["x", "\\", '"', " ", "  ", "\u202e", "\n", "\U000e0041", "p\u0430y", "\u2019", "x" * 50]
    ),
    min_size=300,
    max_size=400,
).map("".join)


@settings(max_examples=40)
@given(longer)
def test_a_folded_text_begins_and_ends_with_whole_pieces_of_the_text(text: str) -> None:
    whole = list(text_pieces(json_literal(text)))
    head, tail = exact_values.fold_ends(json_literal(text))
    for shown, there in ((head, whole[: len(head)]), (tail[::-1], whole[: -len(tail) - 1 : -1])):
        assert shown[:-1] == there[:-1]
        cut, piece = shown[-1], there[-1]
        assert cut == piece or (cut.kind == piece.kind == "plain" and cut.text in piece.text)
    assert text.startswith(json.loads("".join(one.text for one in head) + '"'))
    assert text.endswith(json.loads('"' + "".join(one.text for one in tail)))


def test_many_values_are_folded_and_none_is_left_out() -> None:
    value = {f"n{at}": at for at in range(100)}
    page = str(h.fragment[exact_values.render_rows(value_rows(value))])
    assert "70 more values" in page and made_again(page) == value


def test_text_that_runs_from_right_to_left_is_shown_in_its_order_and_as_it_is_read() -> None:
    hebrew = "\u05e9\u05dc\u05d5\u05dd 100"
    page = str(h.fragment[exact_values.render_rows(value_rows({"to": hebrew}))])
    assert is_right_to_left(hebrew) and not is_right_to_left("Grüße")
    assert "letter by letter" in page and made_again(page) == {"to": hebrew}


def test_known_fields_have_the_labels_of_the_schema_beside_their_names() -> None:
    schema = {
        "properties": {
            "id": {"type": "string", "title": "Record"},
            "kind": {"oneOf": [{"const": "a", "title": "First"}, {"const": "b", "title": "Second"}]},
            "lines": {"items": {"properties": {"n": {"title": "Count"}}}},
        }
    }
    found = value_rows({"id": "rec-1", "kind": "b", "lines": [{"n": 1}], "more": [1, 2]}, schema)
    assert [(one.path, one.label, one.choice, one.literal) for one in found] == [
        ("id", "Record", None, '"rec-1"'),
        ("kind", None, "Second", '"b"'),
        ("lines[0].n", "Count", None, "1"),
        ("more", None, None, "[1, 2]"),
    ]


def test_a_name_that_is_no_plain_word_stands_as_json() -> None:
    assert path_text(("a", 0, "b c", "", "x.y")) == 'a[0]["b c"][""]["x.y"]'
    assert path_text(("\u202e",)) == '["\u202e"]'


def test_a_masked_secret_says_so() -> None:
    page = str(h.fragment[exact_values.render_value(ValueRow(("token",), "•••"))])
    assert "a secret, shown to nobody" in page


@given(arguments, arguments)
def test_differences_are_all_that_changed_and_nothing_else(before: Any, after: Any) -> None:
    found = argument_changes(before, after)
    old, new = {one.steps: one for one in value_rows(before)}, {one.steps: one for one in value_rows(after)}
    for one in found:
        if one.before is not None:
            del old[one.row.steps]
        if one.after is not None:
            old[one.row.steps] = one.after
    assert {place: row.literal for place, row in old.items()} == {
        place: row.literal for place, row in new.items()
    }
    assert (not found) is same(before, after)


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, 1.0), (5, "5"), (None, "null"), ({}, [])]
)
def test_what_python_takes_for_the_same_is_a_change_all_the_same(one: Any, other: Any) -> None:
    assert len(argument_changes({"a": one}, {"a": other})) == 1
    assert len(argument_changes({"a": [one]}, {"a": [other]})) >= 1


def test_a_change_reads_from_old_to_new() -> None:
    page = str(
        h.fragment[
            exact_values.render_changes(
                argument_changes({"status": "archived", "x": 1}, {"status": "inactive", "y": 2})
            )
        ]
    )
    shown = re.sub(r"<[^>]+>", "", page)
    assert 'status"archived" becomes  → "inactive"'.replace('"', "&#34;") in shown.replace("&quot;", "&#34;")
    assert "left out, was 1" in shown and "added 2" in shown
