"""Events of all seven types, for tests of how they are kept."""

from __future__ import annotations

from typing import Any, get_args

from hypothesis import strategies as st

from handrail import Attachment, Principal, Result
from handrail.core.define.call import BoundCall, Repair
from handrail.core.define.levels import Source
from handrail.ext.events import (
    Event,
    NeedsApproval,
    OutputAppended,
    ToolApproved,
    ToolCancelled,
    ToolCompleted,
    ToolFailed,
    ToolStarted,
)

half = st.sampled_from(["\ud800", "\udfff", "\x00", "\n"])
"""Hypothesis makes no halves of surrogate pairs by itself."""
any_text = st.text(max_size=12) | st.lists(half | st.text(max_size=3), max_size=4).map("".join)
names = any_text | st.sampled_from(["s1", "x" * 300, "a\x00b", "\udfff", "漢字", "call:c1"])
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text
data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=8,
)
inputs = st.dictionaries(any_text, data, max_size=3)
maybe = st.none() | any_text
repairs = st.lists(st.builds(Repair, any_text, any_text, data, data), max_size=2).map(tuple)
durations = st.floats(0, 1e9)

principals = st.builds(
    Principal,
    st.sampled_from(["acme", "other"]),
    st.none() | names,
    st.frozensets(any_text, max_size=2),
    st.frozensets(any_text, max_size=2),
    st.none() | names,
    maybe,
    st.sampled_from(["agent", "person", "service"]),
    st.lists(any_text, max_size=2).map(tuple),
    key_id=maybe,
)
calls = st.builds(
    BoundCall,
    names,
    principals,
    names.filter(bool),
    st.sampled_from(get_args(Source)),
    st.none() | names,
    st.none() | st.integers(),
    maybe,
    maybe,
    maybe,
    st.none() | names,
    st.integers(0, 9),
)
results = st.builds(
    Result,
    st.booleans(),
    data,
    maybe,
    maybe,
    maybe,
    maybe,
    maybe,
    inputs,
    maybe,
    st.lists(st.builds(Attachment, any_text, any_text, ref=any_text), max_size=1).map(tuple),
)
times = st.floats(0, 1e11)


def events() -> st.SearchStrategy[Event]:
    """Any event that is kept."""
    told = (calls, names, times)
    run = names.filter(bool)
    return st.one_of(
        st.builds(ToolStarted, *told, run, inputs, repairs, st.booleans()),
        st.builds(OutputAppended, *told, run, any_text),
        st.builds(ToolCompleted, *told, st.none() | run, results, durations),
        st.builds(ToolFailed, *told, st.none() | run, results, durations, data, maybe, maybe),
        st.builds(ToolCancelled, *told, st.none() | run, results, durations, data),
        st.builds(NeedsApproval, *told, any_text, inputs, any_text, repairs),
        st.builds(ToolApproved, *told, any_text, maybe, inputs, st.booleans()),
    )


ANA = Principal("acme", "ana", agent="bot", permissions={"x.read"})


def call(number: int = 1, session: str | None = "s1", **given: Any) -> BoundCall:
    return BoundCall("dice.roll", given.pop("principal", ANA), f"call_{number}", session=session, **given)


def started(
    number: int = 1, session: str | None = "s1", at: float | None = None, **given: Any
) -> ToolStarted:
    when = float(number) if at is None else at
    repeatable = given.pop("repeatable", False)
    tool = given.pop("tool", "dice.roll")
    made = call(number, session, **given)
    return ToolStarted(made, tool, when, f"run_{number}", {"sides": 6}, (), repeatable)


def completed(begun: ToolStarted, at: float | None = None, value: Any = 4) -> ToolCompleted:
    return ToolCompleted(
        begun.call, begun.tool, begun.at + 0.5 if at is None else at, begun.run_id, Result(data=value), 500.0
    )


def failed(begun: ToolStarted, code: str = "TOOL_FAILED", at: float | None = None) -> ToolFailed:
    when = begun.at + 0.5 if at is None else at
    return ToolFailed(begun.call, begun.tool, when, begun.run_id, Result.fail("no luck", code=code), 500.0)


def cancelled(begun: ToolStarted) -> ToolCancelled:
    told = Result.fail("Cancelled", code="CANCELLED")
    return ToolCancelled(begun.call, begun.tool, begun.at + 0.5, begun.run_id, told, 500.0)
