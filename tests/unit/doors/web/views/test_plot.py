"""The labels under a chart never stand on each other, however narrow it is."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from htpy import fragment
from hypothesis import given
from hypothesis import strategies as st

from handrail.doors.web import views
from handrail.doors.web.views.plot import Plot, scale_for

CSS = Path(views.__file__).parent.parent / "static" / "css" / "views.css"
_LABEL = re.compile(r'<text class="view-tick([^"]*)" x="([0-9.]+)%"[^>]*>([^<]*)</text>')
GLYPH = 6.6
"""The width of a character of 12 px, on average."""


def shown_at(width: int, drawn: str) -> list[tuple[float, str]]:
    """Where the labels stand that a chart of this width shows, and what they say."""
    hidden = {
        name
        for most, name in re.findall(r"@container \(width < (\d+)px\) \{ \.([a-z0-9-]+) ", CSS.read_text())
        if width < int(most)
    }
    found = _LABEL.findall(drawn)
    return [(float(x) * width / 100, text) for kind, x, text in found if not hidden & set(kind.split())]


@given(st.integers(1, 60), st.integers(1, 20), st.booleans(), st.sampled_from((88.0, 99.0)))
def test_labels_have_room_beside_each_other(count: int, long: int, slotted: bool, right: float) -> None:
    labels = [f"{number:0{long}}"[-long:] for number in range(count)]
    drawn = str(fragment[Plot(scale_for([0, 1], from_zero=True), labels, right, slotted).names()])
    for width in (280, 300, 360, 479, 480, 600, 719, 720, 1200):
        shown = shown_at(width, drawn)
        assert shown and shown[0][1][:3] == labels[0][:3], "the first always stands there"
        for (left, one), (beside, other) in pairwise(shown):
            assert beside - left >= (len(one) + len(other)) / 2 * GLYPH, (width, one, other)


def test_a_wide_chart_shows_more_labels_than_a_narrow_one() -> None:
    drawn = str(
        fragment[
            Plot(scale_for([0, 1], from_zero=True), [f"{n} Nov" for n in range(1, 31)], 99.0, True).names()
        ]
    )
    narrow, middle, wide = (len(shown_at(width, drawn)) for width in (300, 500, 900))
    assert 2 <= narrow < middle < wide <= 12
