"""Where a browser goes after signing in: to a page of ours, whatever the address said."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handrail.doors.web.cookies import local_path

_STRIPPED = re.compile(r"[\t\n\r]|^[\x00-\x20]+")


def leads_away(goal: str) -> bool:
    """Whether a browser would take it for another site, as the URL standard says."""
    seen = _STRIPPED.sub("", goal).replace("\\", "/")
    return seen.startswith("//") or not seen.startswith("/")


@pytest.mark.parametrize(
    "goal",
    [
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "\\/evil.example",
        "https:evil.example",
        "https://evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "/\n/evil.example",
        "\t//evil.example",
        " //evil.example",
        "///evil.example",
        "evil.example",
        "",
        "/\u2028/evil",
        "/" + "a" * 3_000,
    ],
)
def test_what_leads_away_leads_to_the_start(goal: str) -> None:
    assert local_path(goal) == "/"


@pytest.mark.parametrize("goal", ["/", "/runs/run_1?part=x#end", "/tools/a%2Fb", "/%2F/evil", "/%5Cevil"])
def test_a_page_of_ours_stays_as_it_is(goal: str) -> None:
    assert local_path(goal) == goal


@given(st.text(alphabet=st.sampled_from("/\\:%2fF5cC \t\r\nahtps.@\u2044")) | st.text())
@example("/%09/evil.example")
def test_no_text_leads_away(goal: str) -> None:
    for given_ in (goal, unquote(goal)):
        assert not leads_away(local_path(given_))
