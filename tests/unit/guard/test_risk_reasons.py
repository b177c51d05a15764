"""Judged: a tool that says what makes a call dangerous, in every place where somebody reads why."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from handrail import Handrail, Policy, Principal, Tool, tool
from handrail.core.guard.guard import Guard
from handrail.core.guard.risk import assess_risk
from handrail.ext.guard import RiskAssessment, decide

ANA = Principal(tenant="acme", user="ana")
BOSS = Principal(tenant="acme", user="bo", permissions={"approvals.decide"})
DANGERS = {"ls": "safe", "touch": "moderate", "rm": "dangerous"}


def peril(args: Any) -> RiskAssessment:
    word = args.command.split()[0]
    return RiskAssessment(DANGERS[word], f"`{args.command}` is {word}")  # type: ignore[arg-type]  # any of the three


def shell(**options: Any) -> Tool:
    @tool("shell.run", **({"danger": peril} | options))
    async def run(command: str) -> str:
        """Run a command."""
        return f"ran {command}"

    return run


@pytest.mark.req("PM-06", "EX-08")
@pytest.mark.parametrize(
    ("command", "source", "layer", "reason"),
    [
        ("rm -rf build", "agent", "danger", "Needs approval: it is dangerous (`rm -rf build` is rm)"),
        ("rm -rf build", "web", "danger", "Needs confirmation: it is dangerous (`rm -rf build` is rm)"),
        ("touch x", "agent", "level", "Needs approval: it changes real data (`touch x` is touch)"),
        ("ls", "agent", "level", "read runs by itself here (`ls` is ls)"),
    ],
)
async def test_the_step_that_decides_names_the_part_that_decided(
    command: str, source: Any, layer: str, reason: str
) -> None:
    async with Handrail([shell()]) as hr:
        said = await hr.explain("shell.run", {"command": command}, ANA, source=source)
    assert (said.layer, said.reason) == (layer, reason)
    assert f"{layer}: {said.verdict}, {reason}" in said.explain()


@pytest.mark.req("PM-06", "AP-01")
async def test_the_model_the_card_and_the_log_read_the_same_reason() -> None:
    async with Handrail([shell()]) as hr:
        out = await hr.call("shell.run", {"command": "rm -rf build"}, principal=ANA, session="s")
        [request] = await hr.approvals.list(ANA)
        [event] = hr.log.read("acme", session="s")
    assert request.reason == "Needs approval: it is dangerous (`rm -rf build` is rm)"
    assert (request.level, request.danger) == ("destructive", "dangerous")
    assert (out.result.error or "").startswith(f"{request.reason}. It waits for a person")
    assert event.payload()["reason"] == request.reason


@pytest.mark.req("PM-06")
async def test_a_key_that_does_not_reach_so_far_is_told_which_part_went_too_far() -> None:
    reader = Principal(tenant="acme", user="ana", ceiling="read")
    async with Handrail([shell()]) as hr:
        out = await hr.call("shell.run", {"command": "touch x"}, principal=reader)
    assert out.status == "refused"
    assert "reaches read, and this call is write: `touch x` is touch" in (out.result.error or "")


@pytest.mark.req("PM-06")
def test_a_level_function_may_say_why_and_its_danger_says_the_same() -> None:
    one = shell(danger=None, level=lambda args: RiskAssessment("destructive", "`rm` deletes"))
    assert assess_risk(one, None) == ("destructive", "dangerous", "`rm` deletes", "`rm` deletes")
    two = shell(level=lambda args: "write", danger=lambda args: RiskAssessment("safe", "it is a copy"))
    assert assess_risk(two, None) == ("write", "safe", "", "it is a copy")


@pytest.mark.req("PM-06", "PM-26")
@given(st.lists(st.tuples(st.sampled_from([*DANGERS]), st.text(max_size=20)), max_size=8))
def test_a_guard_that_remembers_mixes_no_reasons_up(commands: list[tuple[str, str]]) -> None:
    one, policy = shell(), Policy()
    guard = Guard(policy)
    assert one.validate is not None
    for word, rest in commands:
        values = one.validate({"command": f"{word} {rest}"})
        assert guard.decide(one, values, ANA, "agent") == decide(one, values, ANA, policy)


@pytest.mark.req("PM-06")
def test_nothing_is_remembered_of_calls_that_were_explained() -> None:
    one = shell()
    guard = Guard(Policy())
    assert one.validate is not None
    for number in range(50):
        guard.decide(one, one.validate({"command": f"rm {number}"}), ANA, "agent")
    assert not guard._weighed and not guard._fixed


@pytest.mark.req("PM-06")
@pytest.mark.parametrize(
    ("why", "shown"),
    [
        ("two\n lines\tin one.", "two lines in one"),
        ("x" * 10_000, "x" * 300 + "…"),
    ],
)
def test_a_reason_is_one_line_of_bounded_length(why: str, shown: str) -> None:
    assert assess_risk(shell(danger=lambda args: RiskAssessment("safe", why)), None).danger_why == shown


@pytest.mark.req("PM-06")
@pytest.mark.parametrize(
    "said",
    [
        RiskAssessment("lethal", "x"),  # type: ignore[arg-type]  # what a careless author may write
        RiskAssessment("safe", 7),  # type: ignore[arg-type]
        RiskAssessment("write", "x"),
        7,
    ],
)
async def test_a_judgement_that_is_none_refuses_the_call(said: Any) -> None:
    async with Handrail([shell(danger=lambda args: said)]) as hr:
        out = await hr.call("shell.run", {"command": "ls"}, principal=ANA)
    assert (out.status, out.code) == ("refused", "POLICY_ERROR")


@pytest.mark.req("PM-06", "RC-05")
@pytest.mark.parametrize("danger", ["safe", "dangerous"])
async def test_a_secret_that_a_reason_quotes_is_masked_everywhere(danger: Any) -> None:
    Secret = Annotated[str, Field(json_schema_extra={"format": "password"})]

    @tool("db.login", danger=lambda args: RiskAssessment(danger, f"it sends {args.password} abroad"))
    async def login(user: str, password: Secret) -> str:
        """Log in."""
        return "in"

    async with Handrail([login]) as hr:
        out = await hr.call("db.login", {"user": "ana", "password": "hunter2-hunter2"}, principal=ANA)
        requests = await hr.approvals.list(ANA)
        if requests:
            await hr.approvals.approve(requests[0].id, by=BOSS)
            final = await hr.wait(out.call_id, timeout=10, principal=ANA)
            assert final.status == "completed"
            assert "hunter2" not in f"{final.decision}"
        told = [event.payload() for event in hr.log.read("acme")]
    assert "it sends" in f"{out.decision}"
    assert "hunter2" not in f"{out!r} {out.decision} {told}"
    assert all("hunter2" not in f"{one.reason} {one.decision}" for one in requests)
