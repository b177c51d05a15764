"""An error while deciding refuses: nothing runs, and the refusal says so."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, Rule, tool
from handrail.core.guard.policy import listed
from handrail.ext.guard import Step, decide

ANA = Principal(tenant="acme", user="ana")
pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """The log of these refusals belongs to the developer, not to the output of the tests."""
    caplog.set_level(logging.CRITICAL, "handrail.guard")


def broken(*_: Any) -> Any:
    raise RuntimeError("the classifier has no model")


def acting(ran: list[int], **options: Any) -> Any:
    @tool("t.act", **options)
    async def act(count: int | None = 1) -> None:
        """Act."""
        ran.append(1)

    return act


async def refused(hr: Handrail, args: dict[str, Any] | None = None) -> Any:
    """The outcome of a call that must be refused because deciding failed."""
    out = await hr.call("t.act", args, principal=ANA, source="web")
    assert (out.status, out.code) == ("refused", "POLICY_ERROR")
    assert out.result.error is not None and "t.act" in out.result.error
    [event] = hr.log.read("acme", call_id=out.call_id)
    assert event.type == "tool.failed"
    assert (await hr.explain("t.act", args, ANA, source="web")).verdict == "deny"
    await hr.close()
    return out


@pytest.mark.req("PM-06", "PM-25")
@pytest.mark.parametrize("axis", ["danger", "level"])
@pytest.mark.parametrize(
    "function", [broken, lambda args: "harmless", lambda args: None, lambda args: args.no]
)
async def test_a_danger_or_level_function_that_fails_or_says_nonsense_refuses(
    axis: str, function: Any
) -> None:
    ran: list[int] = []
    out = await refused(Handrail([acting(ran, **{axis: function})]))

    assert not ran
    assert out.decision is not None and out.decision.layer == "error"


@pytest.mark.req("PM-26", "PM-25")
@pytest.mark.parametrize("verdict", ["allow", "ask", "deny"])
async def test_a_rule_that_cannot_be_compared_refuses_whatever_it_would_say(verdict: Any) -> None:
    ran: list[int] = []
    rule = Rule("t.*", {"count": {"gt": 5}}, verdict)
    hr = Handrail([acting(ran, level="read")], policy=Policy(rules=[rule]))

    await refused(hr, {"count": None})
    assert not ran


@pytest.mark.req("PM-07", "PM-25")
@pytest.mark.parametrize(
    "check",
    [
        broken,
        lambda *_: False,
        lambda *_: "fine",
        lambda *_: Step("sandbox", "maybe", "who knows"),  # type: ignore[arg-type]
    ],
)
async def test_a_safety_check_that_fails_or_says_no_step_refuses(check: Any) -> None:
    ran: list[int] = []
    await refused(Handrail([acting(ran, level="read")], safety=[check]))
    assert not ran


@pytest.mark.req("PM-25")
async def test_a_writes_function_that_fails_refuses(caplog: pytest.LogCaptureFixture) -> None:
    ran: list[int] = []
    async with Handrail([acting(ran, level="write", writes=broken)]) as hr:
        out = await hr.call("t.act", principal=ANA, source="web")

    assert (out.status, out.code) == ("refused", "POLICY_ERROR")
    assert "t.act" in (out.result.error or "") and not ran


@pytest.mark.req("PM-25")
async def test_a_failed_decision_is_not_remembered() -> None:
    said: list[Any] = [RuntimeError("not yet"), None]

    def check(*_: Any) -> None:
        if (answer := said.pop(0)) is not None:
            raise answer

    ran: list[int] = []
    async with Handrail([acting(ran, level="read")], safety=[check]) as hr:
        first = await hr.call("t.act", principal=ANA)
        second = await hr.call("t.act", principal=ANA)

    assert (first.code, second.status, ran) == ("POLICY_ERROR", "completed", [1])


@pytest.mark.req("PM-25")
async def test_what_went_wrong_is_told_to_the_developer_not_to_the_caller(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR, "handrail.guard")
    async with Handrail([acting([], danger=broken)]) as hr:
        out = await hr.call("t.act", principal=ANA)

    assert "no model" not in (out.result.error or "")
    assert "no model" in caplog.text


@pytest.mark.req("PM-17")
async def test_a_tool_whose_visibility_cannot_be_decided_is_not_listed_and_not_run() -> None:
    class Strange(str):
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            raise RuntimeError("cannot be compared")

    ran: list[int] = []
    hr = Handrail([acting(ran, level="read")], policy=Policy(deny=[Strange("x")]))

    assert await hr.tools(ANA) == []
    await refused(hr)
    assert not ran


@pytest.mark.req("PM-25")
def test_a_source_that_nobody_knows_is_no_person() -> None:
    with pytest.raises(KeyError):
        decide(acting([], level="read"), {}, ANA, Policy(), "browser")  # type: ignore[arg-type]


@pytest.mark.req("PM-25")
@pytest.mark.parametrize("source", ["browser", "Agent", "", None])
async def test_a_call_from_a_source_that_nobody_knows_is_refused(source: Any) -> None:
    ran: list[int] = []
    async with Handrail([acting(ran, level="write")]) as hr:
        out = await hr.call("t.act", principal=ANA, source=source)

    assert (out.status, ran) == ("refused", [])


@pytest.mark.req("PM-10")
@pytest.mark.parametrize("key", ["Agent", "admin", "", None])
def test_a_principal_with_a_key_that_is_no_kind_of_key_cannot_be_made(key: Any) -> None:
    with pytest.raises(ValueError, match="agent, person or service"):
        Principal(tenant="acme", key=key)


def test_a_list_names_a_tool_by_every_name_it_can_be_called_by() -> None:
    @tool("data.searchRecords", level="read", aliases=["find_records"], slug="search")
    async def search() -> None:
        """Search."""

    for name in ("data.searchRecords", "find_records", "search", "data__searchRecords", "data.*", "data__*"):
        assert listed([name], search), name
    assert not listed(["data", "searchRecords", "records.*", ""], search)
