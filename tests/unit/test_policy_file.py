"""Policies in files: each becomes a Policy, or an error with file, key and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Policy, Principal, tool
from handrail.ext.errors import PolicyError
from handrail.policy_file import load_policies, read_policy


def named(tool_id: str) -> Any:
    @tool(tool_id, level="read")
    def body() -> str:
        """Do it."""
        return "done"

    return body


async def allowed(policy: Policy, *names: str) -> list[str]:
    async with Handrail([named(name) for name in names], policy=policy) as hr:
        return [one.id for one in await hr.tools(Principal(tenant="acme", user="ana"))]


def test_a_mapping_becomes_a_policy() -> None:
    policy = read_policy(
        {
            "approval_mode": "danger",
            "allow": ["data.*"],
            "deny": ["data.purge"],
            "capabilities": ["read", "network"],
            "plan": "all",
            "moderate": "allow",
            "rules": [
                {
                    "name": "large",
                    "tool": "data.*",
                    "when": {"limit": {"gt": 100}},
                    "verdict": "deny",
                    "reason": "too much at once",
                    "match": [{"limit": 101}],
                    "not_match": [{"limit": 100}],
                }
            ],
        },
        "handrail.toml: policy",
    )
    assert (policy.approval_mode, policy.plan, policy.moderate) == ("danger", "all", "allow")
    assert (policy.allow, policy.deny) == (("data.*",), ("data.purge",))
    assert policy.capabilities == {"read", "network"}
    [rule] = policy.rules
    assert (rule.label, rule.verdict, rule.reason) == ("large", "deny", "too much at once")


def test_an_empty_mapping_is_the_default_policy() -> None:
    policy = read_policy({}, "here")
    assert (policy.approval_mode, policy.allow, policy.deny, policy.rules) == ("strict", None, (), ())


async def test_in_a_policy_of_its_own_an_empty_allow_list_allows_nothing() -> None:
    assert await allowed(read_policy({"allow": []}, "here"), "a.b") == []


@pytest.mark.req("BY-08")
def test_a_rule_whose_examples_fail_does_not_load() -> None:
    rule = {"tool": "pay.*", "when": {"amount": {"gt": 5}}, "match": [{"amount": 5}]}
    with pytest.raises(PolicyError) as error:
        read_policy({"rules": [{"tool": "a"}, rule]}, "here")
    assert error.value.problem == (
        "here: rules: rule 2: rule 'pay.*': its example {'amount': 5} should match, but does not"
    )
    assert error.value.remedy == "correct the rule or the example"


@pytest.mark.parametrize(
    ("given", "problem", "remedy"),
    [
        ({"denny": []}, "here: 'denny' is not known here", "did you mean 'deny'?"),
        ({"x": 1}, "here: 'x' is not known here", "use one of: approval_mode, allow, deny"),
        ({"deny": "data.*"}, "here: deny: 'data.*' is not a list", "write ['data.*']"),
        ({"allow": [1]}, "here: allow holds names", "as text"),
        ({"approval_mode": "lax"}, "here: 'lax' is no approval_mode", "strict, policy, danger"),
        ({"plan": "some"}, "here: 'some' is no plan", "all"),
        ({"capabilities": ["fly"]}, "here: 'fly' is no capabilities", "read, write, execute, network"),
        ({"rules": {}}, "here: rules: {} is not a list", "write a list"),
        ({"rules": ["x"]}, "here: rules: rule 1: 'x' is not a table of names and values", "write one"),
        ({"rules": [{"tol": "a"}]}, "here: rules: rule 1: 'tol' is not known here", "did you mean 'tool'?"),
        ({"rules": [{"name": 5}]}, "here: rules: rule 1: name is 5", "write it as text"),
        ({"rules": [{"match": 5}]}, "here: rules: rule 1: match: 5 is not a list", "write [5]"),
        (
            {"rules": [{"verdict": "no"}]},
            "here: rules: rule 1: rule '*': 'no' is no verdict",
            "use allow, ask",
        ),
        ({"rules": [{"when": {"a": {"like": 1}}}]}, "'like' is no operator", "use one of: eq, neq"),
        ({"rules": [{"when": {"a": {"regex": "("}}}]}, "regex cannot use '('", ""),
    ],
)
def test_a_mistake_names_place_key_and_remedy(given: Any, problem: str, remedy: str) -> None:
    with pytest.raises(PolicyError) as error:
        read_policy(given, "here")
    assert problem in error.value.problem and error.value.problem.startswith("here")
    assert remedy in (error.value.remedy or "")


YAML = """
agents:
- id: my-agent
  tools:
    allow:
    - web_search
    - file_read
    - file_delete
    deny:
    - file_delete  # never, even if it is listed in allow
- id: free
  tools: {allow: [], deny: []}
- id: bare
- id: careful
  approval_mode: policy
  capabilities: [read]
  rules:
  - {tool: "*", when: {"@agent": careful}, verdict: ask, match: [{"@agent": careful}]}
"""


@pytest.mark.req("AG-02", "PM-21", "PM-22", "PM-24")
async def test_agents_in_yaml_have_their_lists(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text(YAML)
    policies = load_policies(tmp_path / "agents.yaml")
    tools = ("web_search", "file_read", "file_delete", "shell_exec")
    assert list(policies) == ["my-agent", "free", "bare", "careful"]
    assert await allowed(policies["my-agent"], *tools) == ["file_read", "web_search"]
    assert await allowed(policies["free"], *tools) == sorted(tools)
    assert await allowed(policies["bare"], *tools) == sorted(tools)
    assert policies["careful"].approval_mode == "policy"


def test_the_same_in_json_and_toml(tmp_path: Path) -> None:
    agent = {"id": "a", "tools": {"allow": ["x"], "deny": ["y"]}}
    (tmp_path / "agents.json").write_text(json.dumps({"agents": [agent]}))
    (tmp_path / "agents.toml").write_text('[[agents]]\nid = "a"\ntools = {allow = ["x"], deny = ["y"]}\n')
    for name in ("agents.json", "agents.toml"):
        policy = load_policies(str(tmp_path / name))["a"]
        assert (policy.allow, policy.deny) == (("x",), ("y",))


@pytest.mark.parametrize(
    ("document", "problem", "remedy"),
    [
        ([], "[] is not a table of names and values", "write one"),
        ({"agent": []}, "'agent' is not known here", "did you mean 'agents'?"),
        ({"agents": {"id": "a"}}, "agents: it is a table, and not a list of agents", '[{"id": "a"}]'),
        ({"agents": {"b": {}}}, "agents: it is a table, and not a list of agents", '[{"id": "b"}]'),
        ({}, "agents: None is not a list", "write a list"),
        ({"agents": [5]}, "agent 1: 5 is not a table of names and values", "write one"),
        ({"agents": [{"tools": {}}]}, "agent 1: it has no id", "add `id`"),
        ({"agents": [{"id": ""}]}, "agent 1: it has no id", "add `id`"),
        ({"agents": [{"id": "a"}, {"id": "a"}]}, "two agents have the id 'a'", "give each its own"),
        ({"agents": [{"id": "a", "tool": {}}]}, "agent 1: 'tool' is not known here", "did you mean 'tools'?"),
        (
            {"agents": [{"id": "a", "tools": {"denied": ["x"]}}]},
            "agent 1 (a): tools: 'denied' is not known here",
            "did you mean 'deny'?",
        ),
        (
            {"agents": [{"id": "a", "tools": []}]},
            "agent 1 (a): tools: [] is not a table of names and values",
            "write one",
        ),
        (
            {"agents": [{"id": "a", "tools": False}]},
            "agent 1 (a): tools: False is not a table of names and values",
            "write one",
        ),
        (
            {"agents": [{"id": "a", "tools": {"deny": "x"}}]},
            "agent 1 (a): tools.deny: 'x' is not a list",
            "write ['x']",
        ),
        (
            {"agents": [{"id": "a", "deny": ["x"]}]},
            "agent 1: 'deny' is not known here",
            "use one of: id, tools",
        ),
    ],
)
def test_a_file_of_agents_is_read_strictly(tmp_path: Path, document: Any, problem: str, remedy: str) -> None:
    file = tmp_path / "agents.json"
    file.write_text(json.dumps(document))
    with pytest.raises(PolicyError) as error:
        load_policies(file)
    assert error.value.problem == f"{file}: {problem}"
    assert remedy in (error.value.remedy or "")


def test_agents_as_a_mapping_are_told_how_an_entry_begins(tmp_path: Path) -> None:
    file = tmp_path / "agents.yaml"
    file.write_text("agents:\n  clerk:\n    tools: {allow: [x]}\n")
    with pytest.raises(PolicyError) as error:
        load_policies(file)
    assert error.value.remedy == "begin each agent with its id: - id: clerk"
    file.write_text("agents:\n- id: clerk\n  tools: {allow: [x]}\n")
    assert list(load_policies(file)) == ["clerk"]
