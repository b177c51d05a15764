"""How servers are written, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from handrail.bridges.mcp import Secret, Server, ServerError, ToolRule, servers_of
from handrail.bridges.mcp.definitions import level_of


def test_a_server_is_read_with_all_that_can_be_said_of_it() -> None:
    table = {
        "servers": {
            "git": {
                "command": "git-server",
                "args": ["--quiet"],
                "env": {"MODE": "x", "TOKEN": {"secret": "git"}},
                "level": "read",
                "tools": {"push": {"level": "destructive"}, "fetch": {"idempotent": True}},
                "deny": ["admin_*"],
                "trust": "ask",
            },
            "web": {"url": "https://mcp.example/mcp", "secret": "web", "prefix": "site", "load": "eager"},
        }
    }
    git, web = servers_of(table, "handrail.toml: mcp")
    assert git.env == {"MODE": "x", "TOKEN": Secret("git")} and git.secrets == ("git",)
    assert git.tools == {"push": ToolRule("destructive"), "fetch": ToolRule(None, True)}
    assert git.takes("push") and not git.takes("admin_drop") and git.prefix == "git"
    assert web.prefix == "site" and web.secrets == ("web",)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "a command and a url, or neither"),
        ({"command": "x", "url": "https://x.example"}, "a command and a url, or neither"),
        ({"url": "file:///etc/passwd"}, "no web address"),
        ({"url": "https://"}, "no web address"),
        ({"url": "https://ana:pw@x.example/mcp"}, "a name or a password in its url"),
        ({"command": "x", "secret": "s"}, "takes no bearer token"),
        ({"url": "https://x.example", "env": {"A": "b"}}, "takes no args, env or cwd"),
        ({"command": "x", "levle": "read"}, "did you mean 'level'"),
        ({"command": "x", "level": "harmless"}, "use one of: read, draft, write, destructive"),
        ({"command": "x", "timeout": 0}, "give a number above 0"),
        ({"command": "x", "env": {"A": {"file": "b"}}}, "name a secret"),
        ({"command": "x", "tools": {"t": {"danger": "safe"}}}, "'danger' is not known"),
        ({"command": "x", "prefix": "a__b"}, "cannot begin with"),
        ({"command": "x", "args": "one"}, "give a list"),
    ],
)
def test_what_is_wrong_with_a_server_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ServerError, match=said):
        servers_of({"servers": {"far": given}}, "mcp")


def test_what_is_wrong_with_a_variable_names_it_and_shows_none_of_the_others() -> None:
    given = {"command": "x", "env": {"TOKEN": "t-0k3n", "MODE": 5}}
    with pytest.raises(ServerError, match="env is not what belongs here") as caught:
        servers_of({"servers": {"far": given}}, "mcp")
    assert caught.value.remedy == "MODE: give text" and "t-0k3n" not in str(caught.value)


def test_a_command_runs_in_the_folder_of_the_settings_wherever_somebody_stands(tmp_path: Path) -> None:
    table = {"a": {"command": "x"}, "b": {"command": "x", "cwd": "sub"}, "c": {"url": "https://x.example"}}
    found = servers_of({"servers": table}, "mcp", tmp_path)
    assert [one.cwd for one in found] == [str(tmp_path), str(tmp_path / "sub"), None]


@pytest.mark.req("MC-07")
def test_two_servers_whose_names_would_run_into_each_other_are_refused() -> None:
    with pytest.raises(ServerError, match="run into each other"):
        servers_of({"servers": {"a": {"command": "x"}, "b": {"command": "y", "prefix": "a-c"}}}, "mcp")


@pytest.mark.req("BY-09", "MC-07")
@pytest.mark.parametrize(
    ("server_level", "rule", "claims", "level"),
    [
        ("write", None, {}, "write"),
        ("write", None, {"read_only_hint": True}, "write"),
        ("write", None, {"destructive_hint": False, "read_only_hint": True}, "write"),
        ("write", None, {"destructive_hint": True}, "destructive"),
        ("read", None, {"destructive_hint": True, "read_only_hint": True}, "destructive"),
        ("read", None, {}, "read"),
        ("destructive", None, {"read_only_hint": True}, "destructive"),
        ("write", "read", {"destructive_hint": True}, "read"),
    ],
)
def test_what_a_server_claims_can_only_make_a_tool_graver(
    server_level: Any, rule: Any, claims: dict[str, bool], level: str
) -> None:
    rules = {} if rule is None else {"t": ToolRule(rule)}
    server = Server("far", command="x", level=server_level, tools=rules)
    assert level_of(server, "t", {"annotations": claims}) == level
    assert Server("far", command="x").level == "write"
