"""The newest result of each tool, for each principal, can be read after the call."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail import Handrail, Principal, Result, ToolError
from handrail.ext.ports import MemoryLog
from handrail.sync import Handrail as SyncHandrail
from handrail.testing import capture_tool

ANA = Principal(tenant="acme", user="ana")
OPS = Principal(tenant="acme", user="ana", agent="ops")
CY = Principal(tenant="other", user="ana")
WHO = (ANA, OPS, CY)
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def answered(args: Any) -> Any:
    """An odd number fails, an even one is answered."""
    if args["n"] % 2:
        raise ToolError(f"{args['n']} is odd", code="ODD")
    return args["n"]


def tools() -> list[Any]:
    return [
        capture_tool("data.find", answered, input=NUMBER, aliases=["find"]),
        capture_tool("data.list", answered, input=NUMBER),
    ]


steps = st.tuples(
    st.sampled_from(["data.find", "find", "data-list", "data.list"]),
    st.sampled_from(WHO),
    st.integers(0, 5) | st.just("refused"),
)


@pytest.mark.req("TR-17")
@given(st.lists(steps, max_size=12))
async def test_it_is_the_newest_of_that_tool_and_that_principal_failed_or_not(
    made: list[tuple[str, Principal, Any]],
) -> None:
    newest: dict[tuple[str, Principal], Result] = {}
    async with Handrail(tools()) as hr:
        for name, who, number in made:
            out = await hr.call(name, {"n": number}, principal=who)
            if out.run_id is not None:
                newest[out.tool, who] = out.result
        kept = {(tool, who): hr.last_result(tool, who) for tool in ("data.find", "data.list") for who in WHO}

    assert kept == {key: newest.get(key) for key in kept}


@pytest.mark.req("TR-17")
async def test_it_is_still_the_newest_after_many_calls() -> None:
    async with Handrail(tools()) as hr:
        rare = await hr.call("data.list", {"n": 4}, principal=ANA)
        for number in range(2_000):
            newest = await hr.call("data.find", {"n": number}, principal=ANA)

        assert hr.last_result("data.find", ANA) == newest.result
        assert (newest.code, newest.result.error) == ("ODD", "1999 is odd")
        assert hr.last_result("data.list", ANA) == rare.result


@pytest.mark.req("TR-17")
async def test_it_is_kept_as_long_as_the_log_keeps_its_events() -> None:
    async with Handrail(tools(), log=MemoryLog(keep=8)) as hr:
        await hr.call("data.list", {"n": 4})
        for _ in range(50):
            await hr.call("data.find", {"n": 2})

        assert hr.last_result("data.find") == Result(data=2)
        assert hr.last_result("data.list") is None


@pytest.mark.req("TR-17")
def test_it_is_there_behind_the_blocking_facade_too() -> None:
    with SyncHandrail(tools()) as hr:
        hr.call("data.find", {"n": 2}, principal=ANA)
        failed = hr.call("data.find", {"n": 3}, principal=ANA)
        hr.call("data.find", {"n": 4}, principal=OPS)

        assert hr.last_result("find", ANA) == failed.result
        assert hr.last_result("find", OPS) == Result(data=4)
        assert hr.last_result("find", CY) is None


@pytest.mark.req("TR-17", "MT-14")
async def test_who_may_no_longer_see_a_tool_reads_nothing_of_it() -> None:
    seen = capture_tool("data.find", answered, input=NUMBER)
    hidden = capture_tool("data.find", answered, input=NUMBER, tenants=["other"])
    async with Handrail([seen]) as hr:
        await hr.call("data.find", {"n": 2}, principal=ANA)
        last = hr.last_result("data.find", ANA)
        assert last is not None and last.data == 2
        hr.registry.register(hidden, replace=True)
        assert hr.last_result("data.find", ANA) is None
