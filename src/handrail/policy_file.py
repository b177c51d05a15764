"""Policies as people write them: a mapping becomes a `Policy`, or an error with file, key and remedy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from handrail.core.errors import PolicyError
from handrail.core.guard.policy import Policy
from handrail.core.guard.rules import Rule
from handrail.data_files import did_you_mean, read_data_file

_POLICY = ("approval_mode", "allow", "deny", "capabilities", "rules", "plan", "moderate")
_RULE = ("name", "tool", "when", "verdict", "reason", "match", "not_match")
_LISTS = ("allow", "deny")
_AGENT = ("id", "tools", *(key for key in _POLICY if key not in _LISTS))

_ENTRIES = dict.fromkeys((".yaml", ".yml"), "- id: {}") | {
    ".toml": '[[agents]], and below it id = "{}"',
    ".json": '[{{"id": "{}"}}]',
}
"""How an agent begins in each format."""

T = TypeVar("T")


def read_policy(table: Mapping[str, Any], where: str) -> Policy:
    """The policy that a mapping describes; `where` names it in errors."""
    options = _known_keys(table, _POLICY, where)
    rules = options.pop("rules", None)
    if rules is not None:
        options["rules"] = _rules(rules, f"{where}: rules")
    for key in ("allow", "deny", "capabilities"):
        if key in options:
            _is_list(options[key], f"{where}: {key}")
    return _with_location(where, lambda: Policy(**options))


def load_policies(path: str | Path) -> dict[str, Policy]:
    """The policies of a file with `agents: [{id, tools: {allow, deny}, …}]`, by agent id.

    The format is told by the name: .yaml, .toml or .json. An empty `allow` means unset here, as is usual in
    such files; in a policy of its own it means that nothing is allowed.
    """
    where = str(path)
    data = _mapping(read_data_file(Path(path)), where)
    agents = _known_keys(data, ("agents",), where).get("agents")
    if isinstance(agents, Mapping):
        entry = _ENTRIES[Path(path).suffix.lower()].format(agents.get("id") or next(iter(agents), "my-agent"))
        problem = f"{where}: agents: it is a table, and not a list of agents"
        raise PolicyError(problem, remedy=f"begin each agent with its id: {entry}")
    _is_list(agents, f"{where}: agents")
    policies: dict[str, Policy] = {}
    for number, agent in enumerate(agents or (), start=1):
        name, policy = _agent(agent, f"{where}: agent {number}")
        if name in policies:
            raise PolicyError(f"{where}: two agents have the id {name!r}", remedy="give each its own")
        policies[name] = policy
    return policies


def _agent(table: Any, where: str) -> tuple[str, Policy]:
    options = _known_keys(_mapping(table, where), _AGENT, where)
    name = options.pop("id", None)
    if not isinstance(name, str) or not name:
        raise PolicyError(f"{where}: it has no id", remedy="add `id`, such as my-agent")
    named = f"{where} ({name})"
    tools = options.pop("tools", None)
    lists = _known_keys(
        _mapping({} if tools is None else tools, f"{named}: tools"), _LISTS, f"{named}: tools"
    )
    for key in _LISTS:
        if lists.get(key) is not None:
            _is_list(lists[key], f"{named}: tools.{key}")
            if lists[key]:
                options[key] = lists[key]
    return name, read_policy(options, named)


def _rules(entries: Any, where: str) -> list[Rule]:
    _is_list(entries, where)
    rules: list[Rule] = []
    for number, entry in enumerate(entries, start=1):
        location = f"{where}: rule {number}"
        rules.append(_rule(_known_keys(_mapping(entry, location), _RULE, location), location))
    return rules


def _rule(options: dict[str, Any], where: str) -> Rule:
    for key in ("name", "reason"):
        if not isinstance(options.get(key, ""), str):
            raise PolicyError(f"{where}: {key} is {options[key]!r}", remedy="write it as text")
    for key in ("match", "not_match"):
        if key in options:
            _is_list(options[key], f"{where}: {key}")
    return _with_location(where, lambda: Rule(**options))


def _with_location(where: str, make: Callable[[], T]) -> T:
    """What is made, or the error of its making with the place in front."""
    try:
        return make()
    except PolicyError as error:
        raise PolicyError(f"{where}: {error.problem}", remedy=error.remedy) from None


def _known_keys(table: Mapping[str, Any], keys: Collection[str], where: str) -> dict[str, Any]:
    for key in table:
        if key not in keys:
            raise PolicyError(f"{where}: {key!r} is not known here", remedy=did_you_mean(key, keys))
    return dict(table)


def _mapping(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PolicyError(f"{where}: {value!r} is not a table of names and values", remedy="write one")
    return value


def _is_list(value: Any, where: str) -> None:
    if not isinstance(value, list):
        remedy = f"write [{value!r}]" if value else "write a list"
        raise PolicyError(f"{where}: {value!r} is not a list", remedy=remedy)
