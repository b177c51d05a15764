"""How the policies of an agents' file are tested: who may call what, and every tool."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from examples.agent_policy import tools
from examples.agent_policy.__main__ import ANA, EDITOR, POLICIES
from handrail import Outcome, Policy, Principal
from handrail.ext.toolsets import discover
from handrail.testing import ConformanceCase, ScriptedApprover, call_sync, conformance_cases

TOOLS = {tool.id: tool for tool in discover(tools)}
ARGS: dict[str, dict[str, Any]] = {
    "web_search": {"words": "oat prices"},
    "file_read": {"path": "plan.txt"},
    "file_write": {"path": "plan.txt", "text": "Buy rye."},
    "file_delete": {"path": "plan.txt"},
    "shell_exec": {"command": "ls"},
}


@pytest.fixture(autouse=True)
def files() -> Iterator[None]:
    before = dict(tools.FILES)
    yield
    tools.FILES.clear()
    tools.FILES.update(before)


def called(policy: Policy, who: Principal, name: str) -> Outcome:
    """A call that a person agrees to, if one is asked."""
    return call_sync(
        TOOLS[name], ARGS[name], principal=who, policy=policy, approver=ScriptedApprover(always=True)
    )


@pytest.mark.parametrize("case", conformance_cases([tools], strict=True))
def test_every_tool_is_conformant(case: ConformanceCase) -> None:
    case()


@pytest.mark.parametrize(
    ("agents", "may"),
    [
        (["editor"], "web_search file_read file_write"),
        (["researcher"], "web_search file_read shell_exec"),
        (["assistant"], "web_search file_read file_write file_delete shell_exec"),
        (["editor", "researcher"], "web_search file_read"),
        (["researcher", "editor"], "web_search file_read"),
        (["editor", "assistant"], "web_search file_read file_write"),
        (["editor", "assistant", "researcher"], "web_search file_read"),
    ],
    ids=lambda part: " over ".join(part) if isinstance(part, list) else "",
)
def test_an_agent_may_call_what_it_and_all_above_it_allow(agents: list[str], may: str) -> None:
    policy, who = POLICIES[agents[0]], ANA.spawn(agents[0])
    for name in agents[1:]:
        policy, who = policy.spawn(POLICIES[name]), who.spawn(name)

    ended = {name: called(policy, who, name) for name in TOOLS}

    assert sorted(name for name, out in ended.items() if out.ok) == sorted(may.split())
    assert {out.code for out in ended.values() if not out.ok} <= {"NOT_PERMITTED"}


def test_a_deny_wins_over_the_pattern_that_allows_it_and_nothing_is_lost() -> None:
    assert POLICIES["editor"].allows(TOOLS["file_delete"])

    out = called(POLICIES["editor"], EDITOR, "file_delete")

    assert out.decision is not None
    assert (out.status, out.decision.layer, out.decision.rule) == ("refused", "allow/deny", "deny")
    assert "plan.txt" in tools.FILES


def test_a_list_takes_no_approval_away() -> None:
    out = call_sync(
        TOOLS["shell_exec"],
        {"command": "ls"},
        principal=ANA.spawn("researcher"),
        policy=POLICIES["researcher"],
    )

    assert (out.status, out.code) == ("pending", "NEEDS_APPROVAL")


def test_files_are_read_written_and_deleted() -> None:
    anybody = Policy()

    assert called(anybody, ANA, "file_read").result.data == "Buy oats."
    assert called(anybody, ANA, "file_write").result.data == "plan.txt has 8 characters."
    assert called(anybody, ANA, "file_read").result.data == "Buy rye."
    assert called(anybody, ANA, "file_delete").result.data == "plan.txt is gone."
    assert called(anybody, ANA, "file_delete").code == "NO_SUCH_FILE"
    assert called(anybody, ANA, "file_read").result.error == "There is no plan.txt. There are: notes.txt."
