"""What people see of a result: words first, then its parts, numbers as they write them, JSON last."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from htpy import fragment

from handrail import tool
from handrail.core.define.result import Attachment, Result
from handrail.doors.web.views.charts import spread_labels
from handrail.doors.web.views.plot import scale_for, short_number
from handrail.doors.web.views.result import render_result
from handrail.doors.web.views.scalars import format_number
from handrail.doors.web.views.text import visible_text
from handrail.doors.web.views.values import render_value
from handrail.ext.forms import Block, OutputSection, forget_view_spec, register_output_block


class Page(HTMLParser):
    """The text of a page outside its folds and inside them, and its elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.folded = "", ""
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._folds: list[str] = []
        self.feed("".join(html))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("details", "summary"):
            self._folds.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("details", "summary"):
            assert self._folds.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._folds and self._folds[-1] == "details":
            self.folded += data
        else:
            self.open += data + " "

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [
            attrs
            for name, attrs in self.elements
            if name == tag and all(value in (attrs.get(key) or "").split() for key, value in wanted.items())
        ]


def drawn(result: Any, *sections: OutputSection, **more: Any) -> Page:
    return Page(str(fragment[render_result(sections, result, id="r", **more)]))


def section(type: Any, /, **config: Any) -> OutputSection:
    return OutputSection("it", "Heading", type, config)


def it(value: Any) -> dict[str, Any]:
    return {"success": True, "data": {"it": value}}


@pytest.mark.req("TR-04")
def test_the_summary_of_a_result_is_the_first_thing_to_read() -> None:
    page = drawn(Result(data={"a": 1}, summary="3 records found in Berlin."))
    assert page.open.startswith("3 records found in Berlin.")


@pytest.mark.req("TR-04")
def test_a_result_that_says_nothing_is_done() -> None:
    assert "Done." in drawn(Result()).open


@pytest.mark.req("TR-05")
@pytest.mark.req("BF-03")
def test_a_diff_is_told_apart_line_by_line_below_what_is_said_of_it() -> None:
    output = "Edited a.py.\nThe edit: at line 1.\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-<b>\n+\u202ec\n d"
    html = str(fragment[render_result(None, Result(output=output, summary="Edited a.py (+1 -1)"), id="r")])
    assert '<del class="view-removed">-&lt;b&gt;\n</del>' in html
    assert '<ins class="view-added">+<span class="view-char" title="Right-to-left override">' in html
    shown = Page(html).open
    assert shown.count("Edited a.py") == 1
    assert "The edit: at line 1." in shown and "@@ -1,2 +1,2 @@" in shown


def test_what_the_summary_says_is_not_said_again() -> None:
    result = Result(output="Created a.md (1 line).", summary="Created a.md (1 line)", data={"size": 3})
    assert drawn(result).open.count("Created a.md") == 1


def test_markdown_is_read_formatted_and_the_values_behind_it_are_folded() -> None:
    page = drawn(Result(data={"total": 4711}, markdown="## Hits\n\n**two**"))
    assert page.all("h4") and page.all("strong") and "Hits" in page.open
    assert "4711" not in page.open and "4711" in page.folded


@pytest.mark.req("TR-05")
def test_sections_stand_before_markdown_which_is_folded() -> None:
    page = drawn(Result(data={"it": {"n": 4711}}, markdown="for the model"), section("summary"))
    assert "4711" in page.open and "for the model" in page.folded


def test_a_failure_is_told_in_words_with_its_fields_and_its_code_folded_away() -> None:
    fields = {"fields": {"max_rate": "at most 1"}}
    page = drawn(Result.fail("The rate is above one.", code="INVALID_PARAM", metadata=fields))
    assert page.all("div", role="alert")
    assert "The rate is above one." in page.open and "Max Rate" in page.open and "at most 1" in page.open
    assert "INVALID_PARAM" not in page.open and "INVALID_PARAM" in page.folded


def test_an_envelope_from_a_log_is_drawn_like_the_result_that_it_tells_of() -> None:
    told = Result(data={"it": [1]}, summary="Yes", attachments=(Attachment("text/csv", "a.csv", b"1,2"),))
    page = drawn(told.to_dict())
    assert page.open == drawn(told).open.replace(", 3\u00a0bytes", "")


def test_files_are_named_with_kind_and_size_and_are_fetched_where_there_is_an_address() -> None:
    told = Result(attachments=(Attachment("image/png", "a\u202egnp.exe", b"x" * 2048),))
    page = drawn(told, files="/runs/1/files")
    assert "\\u202e" in page.open and "2.0\u00a0kB" in page.open
    assert page.all("a", href="/runs/1/files/0") and not page.all("img")
    assert not drawn(told).all("a")


@pytest.mark.req("UI-14")
def test_each_section_is_drawn_under_its_heading_by_its_own_renderer() -> None:
    rows = [{"who": "a", "n": 1}, {"who": "b", "n": -2}, {"who": "c", "n": 3}]
    for kind, sign in (("table", "table"), ("chart", "view-chart"), ("radar", "polygon"), ("ranking", "ol")):
        page = drawn(it(rows), section(kind))
        assert page.open.startswith("Heading") and page.all(sign), kind
        assert "More" not in page.open
    assert drawn(it({"n": 1}), section("summary")).all("dl")


@pytest.mark.req("UI-03")
def test_a_block_of_a_tools_own_with_the_wrong_shape_is_shown_as_it_is() -> None:
    @tool("odd.look", level="read")
    def odd() -> dict[str, Any]:
        """Look odd."""
        return {}

    register_output_block("block:tool-output-odd-look", lambda _: [Block("table", "t", "T", {"rows": 4711})])
    try:
        page = Page(str(fragment[render_result(odd, Result(data={"a": 1}), id="r")]))
        assert "4711" in page.open
    finally:
        forget_view_spec("tool:odd-look")


@pytest.mark.req("UI-07")
def test_null_empty_and_nothing_inside_are_told_apart() -> None:
    value: dict[str, Any] = {"a": None, "b": "", "c": [], "d": {}, "e": False, "f": 0}
    page = Page(str(fragment[render_value(value, id="v")]))
    words = " ".join(page.open.split())
    assert words == "A none B empty C no items D nothing inside E No F 0"


@pytest.mark.req("UI-07")
def test_long_text_is_folded_and_whole() -> None:
    text = "word " * 1000 + "end"
    page = Page(str(fragment[render_value({"text": text}, id="v")]))
    assert "5,003 characters" in page.open and "end" not in page.open
    assert text in page.folded


@pytest.mark.req("UI-07")
def test_a_list_of_objects_is_a_table_and_what_is_beyond_a_hundred_is_folded() -> None:
    page = Page(str(fragment[render_value([{"n": number, "m": "x"} for number in range(150)], id="v")]))
    assert len(page.all("tr")) == 101
    assert "The first 100 of 150 rows." in page.open and "50 items more" in page.open
    assert '"n": 149' in page.folded


@pytest.mark.req("UI-07")
@pytest.mark.parametrize(
    "value",
    [
        [{"n": number, "m": "x"} for number in range(30_000)],
        list(range(30_000)),
        {f"n{number}": number for number in range(30_000)},
    ],
    ids=["rows", "items", "values"],
)
def test_what_can_be_downloaded_is_not_written_out_but_said_with_a_link(value: Any) -> None:
    html = str(fragment[render_result(None, Result(data=value), id="r", downloads="/runs/1/result")])
    page = Page(html)
    assert "29,900" in page.open and "more" in page.open and "29999" not in html.replace(",", "")
    assert len(page.all("a", href="/runs/1/result.json")) == 2, "beside the rest, and below everything"


@pytest.mark.req("UI-12")
def test_a_large_table_shows_its_first_rows_says_so_and_shows_all_when_asked() -> None:
    rows = [{"n": number} for number in range(10_000)]
    place: dict[str, Any] = {"downloads": "/runs/1/result", "here": "/tools/x", "query": {"call": "c 1"}}
    page = drawn(it(rows), section("table"), **place)
    assert "The first 100 of 10,000 rows." in page.open and len(page.all("tr")) == 101
    [more] = [one["href"] for one in page.all("a") if "all.it=1" in str(one["href"])]
    assert str(more).startswith("/tools/x?call=c%201&all.it=1#")
    assert page.all("a", href="/runs/1/result.csv?section=it") and page.all("a", href="/runs/1/result.json")
    whole = drawn(it(rows), section("table"), downloads="/runs/1/result", query={"all.it": "1"})
    assert "The first 5,000 of 10,000 rows." in whole.open and len(whole.all("tr")) == 5001
    assert "take it as a file" in whole.folded


@pytest.mark.req("UI-12")
@pytest.mark.parametrize(
    ("asked", "shown_order", "told"),
    [
        ({}, ["9", "10", "b", "none", "a"], None),
        ({"sort.it": "v"}, ["9", "10", "a", "b", "none"], "ascending"),
        ({"sort.it": "-v"}, ["b", "a", "10", "9", "none"], "descending"),
        ({"sort.it": "gone"}, ["9", "10", "b", "none", "a"], None),
    ],
)
def test_a_table_is_sorted_by_a_link(asked: dict[str, str], shown_order: list[str], told: str | None) -> None:
    rows = [{"v": one} for one in (9, 10, "b", None, "a")]
    page = drawn(it(rows), section("table"), query=asked)
    assert [word for word in page.open.split() if word in shown_order] == shown_order
    assert page.all("th")[0].get("aria-sort") == told
    [link] = page.all("a", **{"class": "view-sort"})
    assert link["href"] == ("?sort.it=-v#r-0-part" if told == "ascending" else "?sort.it=v#r-0-part")


@pytest.mark.req("UI-12")
def test_where_a_page_cannot_be_drawn_another_way_a_table_has_no_links_and_all_its_rows() -> None:
    page = drawn(it([{"n": number} for number in range(300)]), section("table"))
    assert not page.all("a") and len(page.all("tr")) == 301 and "The first" not in page.open
    [table] = page.all("table")
    assert table["data-view-sort"] == "whole"
    assert page.all("button", **{"class": "view-sort", "type": "button"}), "a script sorts what is here"
    page = drawn(it([{"n": number} for number in range(6_000)]), section("table"))
    assert "The first 5,000 of 6,000 rows." in page.open and "JSON below" in page.open
    assert not page.all("a") and not page.all("button") and len(page.all("tr")) == 5001
    assert "5999" in page.folded


def test_a_table_names_the_columns_that_it_leaves_out() -> None:
    page = drawn(it([{"net": 1, "present_value": 4711}]), section("table", columns=["net"]))
    assert "Also in the data: Present Value." in " ".join(page.open.split())
    assert "4711" in page.folded


@pytest.mark.req("UI-12")
def test_numbers_stand_to_the_right_and_say_what_they_are_exactly() -> None:
    column = {"key": "n", "format": "currency", "unit": "EUR"}
    page = drawn(it([{"n": 1234.567, "t": "x"}]), section("table", columns=[column, "t"]), language="de")
    assert "1.234,57" in page.open and "EUR" in page.open
    [number] = page.all("data")
    assert number["value"] == number["title"] == "1234.567"
    assert [cell.get("class") for cell in page.all("td")] == ["view-right", None]


@pytest.mark.parametrize(
    ("number", "how", "language", "text"),
    [
        (1234567.891, {}, "en", "1,234,567.891"),
        (2026, {}, "en", "2026"),
        (-52000, {"decimals": 0}, "fr", "\u221252\u202f000"),
        (0.125, {"format": "percent"}, "de", "12,5\u00a0%"),
        (0.1 + 0.2, {}, "en", "0.30000000000000004"),
        (0.3, {"decimals": 2}, "en", "0.30"),
        (-0.001, {"decimals": 1}, "en", "0.0"),
        (84210, {"format": "currency", "unit": "EUR"}, "de-CH", "84\u2019210.00\u00a0EUR"),
        (1e300, {"decimals": 2}, "en", "1E300"),
        (1e-9, {}, "en", "1E\u22129"),
        (0, {"format": "percent"}, "xx", "0\u00a0%"),
        (3725, {"format": "duration"}, "en", "1\u00a0h 2\u00a0min"),
        (59.5, {"format": "duration"}, "de", "59,5\u00a0s"),
        (-90, {"format": "duration"}, "en", "\u22121\u00a0min 30\u00a0s"),
        (10**18, {}, "en", "1,000,000,000,000,000,000"),
    ],
)
def test_numbers_are_written_as_their_reader_writes_them(
    number: float, how: dict[str, Any], language: str, text: str
) -> None:
    assert format_number(number, how, language) == text


@pytest.mark.req("UI-17")
@pytest.mark.fault("F29")
def test_what_cannot_be_seen_is_written_out_marked_and_named() -> None:
    page = Page(str(fragment[visible_text("a\u202eb\x07c\r\nd")]))
    assert page.open.replace(" ", "") == "a\\u202eb\\x07c\nd"
    assert [one["title"] for one in page.all("span")] == ["Right-to-left override", "U+0007"]


@pytest.mark.req("UI-12")
def test_bars_start_at_zero_and_their_lengths_are_true() -> None:
    page = drawn(it({"a": 50, "b": 100, "c": -100}), section("chart"))
    bars = page.all("rect")
    heights = [float(str(one["height"])) for one in bars]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2) and heights[2] == pytest.approx(
        heights[1], abs=0.2
    )
    feet = [float(str(one["y"])) + float(str(one["height"])) for one in bars[:2]]
    assert feet[0] == pytest.approx(feet[1], abs=0.2) == pytest.approx(float(str(bars[2]["y"])), abs=0.2)


@pytest.mark.parametrize("kind", ["bar", "area"])
def test_lengths_that_differ_little_are_drawn_from_zero_all_the_same(kind: str) -> None:
    page = drawn(it({"a": 990, "b": 1010}), section("chart", kind=kind))
    assert page.all("line", **{"class": "view-zero"})
    assert not drawn(it({"a": 990, "b": 1010}), section("chart", kind="line")).all(
        "line", **{"class": "view-zero"}
    )


@pytest.mark.req("UI-12")
def test_a_chart_says_what_it_shows_and_keeps_its_data_one_click_away() -> None:
    rows = [{"year": "2027", "net": -1.5}, {"year": "2028", "net": 2}]
    page = drawn(it(rows), section("chart", kind="line"))
    [picture] = page.all("svg", role="img")
    assert picture["aria-label"] == "Line chart, Heading: Net from \u22121.5 (2027) to 2 (2028)."
    assert page.all("table") and "\u22121.5" in page.folded
    assert all("style" not in attrs for _, attrs in page.elements)


def test_a_line_is_broken_where_a_number_is_missing() -> None:
    page = drawn(it([1, 2, None, 4, 5]), section("chart", kind="area"))
    assert len(page.all("polyline")) == 2 and len(page.all("path")) == 2 and len(page.all("circle")) == 4


def test_what_a_chart_does_not_draw_is_said_and_is_in_the_data() -> None:
    page = drawn(it(list(range(150))), section("chart"))
    assert len(page.all("rect")) == 60
    assert "The first 60 of 150 are drawn; the data has all." in page.open


def test_a_custom_block_is_a_frame_without_rights_or_text_where_it_has_no_address() -> None:
    page = drawn(it("<h1>Hi</h1>"), section("custom", height=100), frames="/runs/1/frames")
    [frame] = page.all("iframe")
    assert (frame["src"], frame["sandbox"], frame["height"]) == ("/runs/1/frames/it", "", "100")
    assert "<h1>Hi</h1>" in drawn(it("<h1>Hi</h1>"), section("custom")).folded


@pytest.mark.parametrize(
    ("numbers", "from_zero", "ticks"),
    [
        ([3, 97], True, (0, 25, 50, 75, 100)),
        ([0], True, (0, 0.25, 0.5, 0.75, 1)),
        ([-5, 12], True, (-5, 0, 5, 10, 15)),
        ([990, 1010], False, (990, 995, 1000, 1005, 1010)),
        ([0.001], True, (0, 0.00025, 0.0005, 0.00075, 0.001)),
    ],
)
def test_axes_have_round_numbers(numbers: list[float], from_zero: bool, ticks: tuple[float, ...]) -> None:
    assert scale_for(numbers, from_zero=from_zero).ticks == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (120000, "120k"),
        (-1.5e6, "\u22121.5M"),
        (0.25, "0.25"),
        (1e20, "1e20"),
        (1e-9, "1e\u22129"),
    ],
)
def test_ticks_take_few_signs(number: float, text: str) -> None:
    assert short_number(number) == text


def test_names_at_the_ends_of_lines_do_not_cover_each_other() -> None:
    places = spread_labels([100.0, 101.0, 216.0, 216.0])
    assert sorted(places) == places and all(b - a >= 14 for a, b in pairwise(places))
