"""Retry: how often, after what pause and for which errors."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from handrail import Handrail, Result, Retry, ToolError, define, tool
from handrail.ext.errors import Aborted, DefinitionError, UsageError

pytestmark = pytest.mark.req("RT-05")

seconds = st.floats(0, 1e9)
chances = st.floats(0, 1, exclude_max=True)


@st.composite
def retries(draw: st.DrawFn) -> Retry:
    first, longest = draw(seconds), draw(seconds)
    assume(first <= longest)
    return Retry(
        attempts=draw(st.integers(1, 10**6)),
        first=first,
        factor=draw(st.floats(1, 1e6)),
        longest=longest,
        jitter=draw(st.floats(0, 1)),
    )


@given(retries(), st.integers(1, 10**6), chances)
@example(Retry(first=0, factor=1e300, longest=0), 10**6, 0.0)
@example(Retry(factor=1e300), 10**6, 0.99)
def test_a_pause_lies_between_nothing_and_the_longest(retry: Retry, attempt: int, chance: float) -> None:
    delay = retry.delay(attempt, chance)
    assert math.isfinite(delay) and 0 <= delay <= retry.longest


@given(retries(), st.integers(1, 10**6))
def test_without_chance_pauses_begin_with_the_first_and_never_shrink(retry: Retry, attempt: int) -> None:
    assert retry.delay(1, 0) == retry.first
    assert retry.delay(attempt, 0) <= retry.delay(attempt + 1, 0)


@given(retries(), st.integers(1, 10**6), chances)
def test_chance_takes_away_no_more_than_the_jitter(retry: Retry, attempt: int, chance: float) -> None:
    whole = retry.delay(attempt, 0)
    least = whole * (1 - retry.jitter)
    assert least <= retry.delay(attempt, chance) * (1 + 1e-12) and retry.delay(attempt, chance) <= whole


def test_pauses_double_up_to_the_longest() -> None:
    retry = Retry(attempts=9, first=1, factor=2, longest=10, jitter=0.5)
    assert [retry.delay(attempt, 0) for attempt in range(1, 7)] == [1, 2, 4, 8, 10, 10]
    assert [retry.delay(attempt, 0.5) for attempt in range(1, 7)] == [0.75, 1.5, 3, 6, 7.5, 7.5]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"attempts": 0}, "retry: attempts is 0\n  remedy: give a whole number, 1 or more"),
        ({"attempts": 2.5}, "retry: attempts is 2.5"),
        ({"attempts": True}, "retry: attempts is True"),
        ({"attempts": "3"}, "retry: attempts is '3'"),
        ({"first": -1}, "retry: first is -1\n  remedy: give seconds, 0 or more"),
        ({"first": math.nan}, "retry: first is nan"),
        ({"factor": 0.5}, "retry: factor is 0.5\n  remedy: give a number, 1 or more"),
        ({"longest": math.inf}, "retry: longest is inf"),
        ({"jitter": 1.5}, "retry: jitter is 1.5\n  remedy: give a share between 0 and 1"),
        ({"first": 60}, "the first pause (60 s) is above the longest (30 s)\n  remedy: raise longest"),
        ({"on": (ValueError, 7)}, "retry: on names 7\n  remedy: give subclasses of Exception and codes"),
        ({"on": (KeyboardInterrupt,)}, "retry: on names <class 'KeyboardInterrupt'>"),
        ({"on": ("",)}, "retry: on names ''"),
        ({"on": ("INVALID_OUTPUT",)}, "INVALID_OUTPUT is never tried again: the body did its work"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_at_once(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        Retry(**settings)
    assert said in str(caught.value)


class Busy(ToolError):
    """The service is busy."""


@pytest.mark.parametrize(
    ("on", "failure", "again"),
    [
        ((Exception,), ValueError(), True),
        ((Exception,), Aborted("stop"), False),
        ((ConnectionError,), ConnectionResetError(), True),
        ((ConnectionError,), ValueError(), False),
        (ConnectionError, ConnectionResetError(), True),
        ((Exception,), ToolError("No."), False),
        ((Exception,), ToolError("Later.", retry_after=0), True),
        (("BUSY",), ToolError("Busy.", code="BUSY"), True),
        (("BUSY",), ToolError("Broken.", code="BROKEN"), False),
        ("BUSY", ToolError("Busy.", code="BUSY"), True),
        ((Busy,), Busy(), True),
        ((Busy,), ToolError("No."), False),
        (("BUSY",), Result.fail("Busy.", code="BUSY"), True),
        (("BUSY",), Result(True, code="BUSY"), False),
        ((Exception,), Result.fail("Busy.", code="BUSY"), False),
        ((), ValueError(), False),
    ],
)
def test_what_is_tried_again(on: Any, failure: Any, again: bool) -> None:
    retry = Retry(on=on)
    assert retry.takes(failure) is again
    assert (retry.pause(1, failure, 0) is not None) is again


def test_the_last_attempt_is_the_last() -> None:
    retry = Retry(attempts=3)
    assert [retry.pause(attempt, ValueError(), 0) for attempt in (1, 2, 3, 4)] == [0.5, 1, None, None]
    assert Retry(attempts=1).pause(1, ValueError(), 0) is None


def test_a_tool_that_says_when_is_not_asked_sooner_and_not_waited_for_longer_than_the_longest() -> None:
    retry = Retry(first=1, longest=10)
    pauses = [retry.pause(1, ToolError("Later.", retry_after=after), 0) for after in (-3, 0.5, 7, 10, 10.5)]
    assert pauses == [1, 1, 7, 10, None]


@pytest.mark.parametrize("after", [math.nan, math.inf, "soon"])
def test_a_time_that_is_none_is_refused(after: Any) -> None:
    with pytest.raises(UsageError, match="retry_after is a number of seconds"):
        ToolError("Later.", retry_after=after)


def body() -> str:
    """Do something."""
    return ""


def test_a_number_of_attempts_will_do() -> None:
    assert tool("x.y", level="read", retry=4)(body).retry == Retry(attempts=4)
    assert tool("x.y", level="read")(body).retry is None
    assert Handrail(retry=2)._runtime.retry == Retry(attempts=2)


@pytest.mark.parametrize("given", [0, "often", True, {"attempts": 3}])
def test_a_retry_that_cannot_be_meant_names_the_tool(given: Any) -> None:
    with pytest.raises(DefinitionError, match=r"tool 'x\.y': .*retry"):
        tool("x.y", level="read", retry=given)(body)
    with pytest.raises(DefinitionError, match="retry"):
        Handrail(retry=given)


@pytest.mark.parametrize("level", ["write", "destructive"])
def test_a_tool_with_effects_is_retried_only_if_it_says_that_twice_does_no_harm(level: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        tool("x.y", level=level, retry=3)(body)
    assert f"its level is {level}: a second attempt may be a second effect" in str(caught.value)
    assert "remedy: say idempotent=True if twice does no harm" in str(caught.value)
    assert tool("x.y", level=level, retry=3, idempotent=True)(body).retry == Retry()
    assert tool("x.y", level=level, retry=1)(body).retry == Retry(attempts=1)
    assert tool("x.y", level_fn=lambda args: "read", level=level, retry=3)(body).retry == Retry()


async def test_a_lazy_definition_is_held_to_the_same() -> None:
    made = {"description": "Do something.", "level": "write", "retry": 3, "execute": lambda args: ""}
    async with Handrail([define("x.y", lambda init: made)]) as hr:
        out = await hr.call("x.y")
    assert out.code == "TOOL_UNAVAILABLE" and "second effect" in (out.result.error or "")
