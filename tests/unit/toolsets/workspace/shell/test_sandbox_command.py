"""The command line of the sandbox, as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from handrail.toolsets.workspace.shell.sandbox import (
    CommandLimits,
    SandboxSpec,
    bwrap_command,
    command_environment,
    limited_command,
)


def pairs(line: list[str], option: str) -> set[str]:
    return {line[at + 1] for at, one in enumerate(line) if one == option}


@pytest.mark.req("PM-07", "BF-08")
def test_everything_is_unshared_and_only_programs_and_the_workspace_are_shown(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    line = bwrap_command(SandboxSpec(tmp_path, protected=(tmp_path / ".git",)), tmp_path, ["true"], 5)
    assert Path(line[0]).name == "bwrap" and line[-2:] == ["--", "true"]
    assert {"--unshare-all", "--die-with-parent", "--new-session"} <= set(line)
    assert "--share-net" not in line
    assert pairs(line, "--bind") == {str(tmp_path)}
    shown = pairs(line, "--ro-bind")
    assert str(tmp_path / ".git") in shown and "/usr" in shown
    assert pairs(line, "--remount-ro") == {"/proc", "/dev", "/"}
    assert not shown & {"/", "/home", "/root", "/var", "/run", "/etc", "/tmp", "/etc/resolv.conf"}


def test_a_granted_network_is_shared_and_a_reading_command_gets_a_workspace_to_read(tmp_path: Path):
    line = bwrap_command(SandboxSpec(tmp_path, network=True, writable=False), tmp_path, ["true"], 5)
    assert "--share-net" in line
    assert pairs(line, "--bind") == set()
    assert str(tmp_path) in pairs(line, "--ro-bind")


def test_links_are_never_followed_into_the_sandbox(tmp_path: Path):
    (tmp_path / "secrets").symlink_to("/etc/shadow")
    shown = SandboxSpec(tmp_path, protected=(tmp_path / "secrets",), hidden=(tmp_path / "gone",))
    assert not any("secrets" in one or "gone" in one for one in bwrap_command(shown, tmp_path, ["true"], 5))


@pytest.mark.req("BF-08")
@pytest.mark.fault("F24")
def test_the_environment_has_nothing_of_ours_but_the_language():
    host = {
        "LANG": "de_DE.UTF-8",
        "OPENAI_API_KEY": "hunter2",
        "PATH": "/evil",
        "HOME": "/root",
        "LD_PRELOAD": "x",
    }
    environment = command_environment(host)
    assert environment["LANG"] == "de_DE.UTF-8"
    assert "hunter2" not in environment.values() and "LD_PRELOAD" not in environment
    assert environment["PATH"].startswith("/usr") and environment["HOME"] == "/tmp"


def test_a_command_is_one_argument_however_it_is_written():
    command = "echo 'a' \"$x\"; rm -rf \\\n --"
    assert limited_command(command, CommandLimits())[-1] == command
