"""Whatever happened, in whatever order and with whatever in it, there is a story of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handrail.core.define.call import BoundCall, Repair
from handrail.core.define.principal import Principal
from handrail.core.define.result import Attachment, Result
from handrail.core.tell.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    Progress,
    Retrying,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)
from handrail.doors.web.timeline.entries import MISSING, value_changes
from handrail.doors.web.timeline.render import render_timeline
from handrail.doors.web.timeline.sentences import build_timeline, users_in
from handrail.doors.web.timeline.texts import DisplayNames
from handrail.platform.display_text import visible
from tests.unit.doors.web.timeline.events import numbered

TEXT = st.text(max_size=300)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
ARGS = st.dictionaries(TEXT, JSON, max_size=4)
MAYBE = st.none() | TEXT
CALLS = st.builds(
    BoundCall,
    st.just("t"),
    st.builds(Principal, st.just("acme"), MAYBE, agent=MAYBE),
    st.sampled_from(["call_1", "call_2"]) | TEXT,
    st.sampled_from(["web", "api", "mcp", "job", "cli", "agent"]) | TEXT,
    MAYBE,
    parent=MAYBE,
    depth=st.integers(0, 16),
)
FILES = st.lists(st.builds(Attachment, TEXT, TEXT, st.binary(max_size=4)), max_size=2).map(tuple)
METADATA = st.fixed_dictionaries(
    {},
    optional={"attempts": JSON, "earlier_errors": JSON, "answered_by": JSON, "cached": JSON, "warning": JSON},
)
CODES = MAYBE | st.sampled_from(["REJECTED", "CANCELLED", "TIMEOUT", "UNKNOWN_OUTCOME", "INVALID_PARAM"])
RESULTS = st.builds(
    Result,
    st.booleans(),
    JSON,
    MAYBE,
    error=MAYBE,
    code=CODES,
    title=MAYBE,
    metadata=METADATA,
    attachments=FILES,
)
REPAIRS = st.lists(st.builds(Repair, TEXT, TEXT, JSON, JSON), max_size=3).map(tuple)
WHEN = st.floats(0, 4e9)
SPANS = st.floats(0, 1e9)
HEAD = (CALLS, TEXT, WHEN)
EVENTS = st.one_of(
    st.builds(ToolStarted, *HEAD, TEXT, ARGS, REPAIRS),
    st.builds(OutputAppended, *HEAD, TEXT, TEXT),
    st.builds(ToolCompleted, *HEAD, MAYBE, RESULTS, SPANS),
    st.builds(ToolFailed, *HEAD, MAYBE, RESULTS, SPANS, JSON, MAYBE, MAYBE),
    st.builds(ToolCancelled, *HEAD, MAYBE, RESULTS, SPANS, JSON),
    st.builds(NeedsApproval, *HEAD, TEXT, ARGS, TEXT, REPAIRS),
    st.builds(ToolApproved, *HEAD, TEXT, MAYBE, ARGS, st.booleans()),
    st.builds(Progress, *HEAD, TEXT, ARGS),
    st.builds(Retrying, *HEAD, TEXT, st.integers(1, 9), TEXT, SPANS),
)
VOICES = st.builds(
    DisplayNames, MAYBE, st.dictionaries(TEXT, TEXT, max_size=2), st.dictionaries(TEXT, TEXT, max_size=2)
)


@given(st.lists(EVENTS, max_size=8), VOICES)
def test_any_events_have_a_story_in_their_order_that_leaves_none_out(
    events: list[Event], display_names: DisplayNames
) -> None:
    numbered(*events)
    lines = build_timeline(events, display_names)
    told_of = [line.event.seq for line in lines]
    assert told_of == sorted(told_of)
    by_line = {line.event.seq: line.events for line in lines}
    assert sum(by_line.values()) == len(events)
    assert all(line.sentence.strip() and "\n" not in line.sentence for line in lines)
    assert all(visible(line.sentence) == line.sentence for line in lines)
    users_in(events)


@given(st.lists(EVENTS, max_size=5), VOICES)
def test_a_story_can_be_drawn_and_holds_no_markup_of_others(
    events: list[Event], display_names: DisplayNames
) -> None:
    numbered(*events)
    page = str(
        render_timeline(
            build_timeline(events, display_names), 1_000.0, lambda event: f"/e/{event.seq}", linked=True
        )
    )
    assert "<script" not in page and page.count("<ol") == 1


@given(JSON, JSON)
def test_changes_lead_from_one_value_to_the_other(before: Any, after: Any) -> None:
    found = value_changes({"a": before}, {"a": after})
    assert (not found) == _equal(before, after)
    assert value_changes(before, before) == ()
    for one in found:
        assert one.before is not MISSING or one.after is not MISSING


def _equal(one: Any, other: Any) -> bool:
    """Equal as JSON, where true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)
