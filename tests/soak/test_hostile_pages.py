"""Ten megabytes made to keep a parser busy: each is read, or cut, in a time that can be waited for."""

from __future__ import annotations

import time

import pytest

from handrail.toolsets.web.markdown import make_readable
from tests.unit.toolsets.web.test_page import HOSTILE

PATIENCE = 20.0
"""Seconds of a processor. A parser that is quadratic in the depth of a page takes hours for the first."""


@pytest.mark.req("BT-06")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "kind", ["deep", "deep lists", "different", "adopted", "half quotes", "angles", "styles"]
)
def test_ten_hostile_megabytes_are_over_soon(kind: str) -> None:
    unit = HOSTILE[kind]
    html = "".join(unit.format(number) for number in range(10_000_000 // len(unit)))
    begun = time.process_time()
    page = make_readable(html, "https://site.example/", "markdown")

    assert time.process_time() - begun < PATIENCE
    assert page.is_cut
