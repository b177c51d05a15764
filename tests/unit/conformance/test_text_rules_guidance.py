"""Guidance: who may change something is told when to, when not to, and what to try first."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.conformance.conformant_tool import findings, good

WHOLE = "Use it when a customer asks. Not for single records. Try data.search first."
RULES = ("guidance", "destructive-guidance")


@pytest.mark.req("DS-04", "DS-05")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"level": "read"}, []),
        ({"level": "draft"}, []),
        ({"level": "write"}, [("guidance", "warning")]),
        ({"level": "destructive"}, [("destructive-guidance", "error")]),
        ({"level": "read", "danger": "dangerous"}, [("destructive-guidance", "error")]),
        ({"level": "write", "danger": "dangerous"}, [("destructive-guidance", "error")]),
        ({"level": None, "danger": lambda args: "safe"}, [("destructive-guidance", "error")]),
    ],
)
def test_a_tool_that_changes_something_has_guidance(
    options: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert [(one.rule, one.level) for one in findings(good(**options), *RULES)] == expected
    assert findings(good(**options, guidance=WHOLE), *RULES) == []


@pytest.mark.req("DS-04", "DS-05")
@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (
            "It changes the record.",
            "when to use it, nor when not to, nor what cheaper or safer tool comes first",
        ),
        ("Use it when a customer asks.", "when not to, nor what cheaper or safer tool comes first"),
        ("Use it when asked, never otherwise.", "what cheaper or safer tool comes first"),
        ("Prefer data.search.", "when to use it, nor when not to"),
    ],
)
@pytest.mark.parametrize("level", ["write", "destructive"])
def test_what_guidance_leaves_out_is_named(level: str, text: str, missing: str) -> None:
    [finding] = findings(good(level=level, guidance=text), *RULES)

    assert (finding.rule, finding.level) == ("guidance", "warning")
    assert finding.message == f"its guidance does not say {missing}"


@pytest.mark.req("DS-04")
@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        "Use it before trips.book. It knows nothing about buses.",
        "For records that are wrong. Don't use it on archived ones; `data.search` shows which.",
        "Once the customer has agreed. Only for active records. Do a dry run.",
        "If a count is too low. Unless it was ordered already: look at orders.list.",
    ],
)
def test_there_are_many_ways_to_say_it(text: str) -> None:
    assert findings(good(level="write", guidance=text), *RULES) == []
