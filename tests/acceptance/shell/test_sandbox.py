"""What a command sees of the machine: its workspace, the system's programs, and nothing else."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import unicodedata
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from handrail.toolsets.workspace import PathRules
from handrail.toolsets.workspace.shell import CommandLimits, ShellOptions
from handrail.toolsets.workspace.shell.rules import SAFE
from tests.acceptance.shell.shells import a_shell


@pytest.mark.req("BF-08", "PM-07")
@pytest.mark.fault("F24")
async def test_secrets_of_the_host_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "work"
    root.mkdir()
    (tmp_path / "secret").write_text("hunter2")
    monkeypatch.setenv("HANDRAIL_TOKEN", "hunter2")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    async with a_shell(root) as shell:
        places = f"{tmp_path}/secret /etc/shadow /root ~/.ssh /home/* /proc/1/root/etc/shadow /run/secrets"
        seen = await shell.run(
            f"cat {places}; env; cat /proc/*/environ | tr '\\0' '\\n'; ls -d /root /home /sys"
        )
        printed = str(seen.result.output)
    assert "hunter2" not in printed
    assert not re.search("^root:", printed, re.MULTILINE)
    assert "PATH=/usr" in printed


@pytest.mark.req("BF-08")
@pytest.mark.fault("F24")
async def test_no_network_is_there_not_even_to_this_machine(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as database:
        port = server.getsockname()[1]
        abstract = f"\0handrail-{port}"
        database.bind(abstract)
        database.listen()
        server.settimeout(0.0)
        database.settimeout(0.0)
        knock = (
            "import socket\n"
            f"for at in [('127.0.0.1', {port}), ('169.254.169.254', 80), ('192.0.2.1', 80)]:\n"
            "    try: socket.create_connection(at, 1); print('reached')\n"
            "    except OSError as e: print('refused')\n"
            f"try: socket.socket(socket.AF_UNIX).connect({abstract!r}); print('reached')\n"
            "except OSError: print('refused')\n"
        )
        (tmp_path / "knock.py").write_text(knock)
        async with a_shell(tmp_path) as shell:
            assert (await shell.out("python3 knock.py")).split() == ["refused"] * 4
        with pytest.raises(BlockingIOError):
            server.accept()
        with pytest.raises(BlockingIOError):
            database.accept()


@pytest.mark.fault("F24")
async def test_a_socket_outside_the_workspace_cannot_be_reached(tmp_path: Path):
    root = tmp_path / "work"
    root.mkdir()
    with socket.socket(socket.AF_UNIX) as database:
        database.bind(str(tmp_path / "db.sock"))
        database.listen()
        async with a_shell(root) as shell:
            code = f"import socket; socket.socket(socket.AF_UNIX).connect('{tmp_path}/db.sock')"
            outcome = await shell.run(f'python3 -c "{code}"')
    assert "FileNotFoundError" in outcome.result.data["stderr"]


@pytest.mark.req("BF-08")
async def test_the_network_is_only_there_for_a_call_that_asks_where_it_is_allowed(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        knock = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo reached"
        async with a_shell(tmp_path) as shell:
            refused = await shell.run(knock, network=True)
            assert (refused.status, refused.result.code) == ("refused", "NO_NETWORK")
        async with a_shell(tmp_path, ShellOptions(network=True)) as shell:
            assert await shell.out(knock, network=True) == "reached\n"
            assert await shell.out(knock) == ""
            decision = await shell.handrail.explain("bash", {"command": "ls", "network": True})
            assert decision.verdict == "ask" and "network" in decision.reason


@pytest.mark.req("BF-08", "PM-07")
async def test_a_command_changes_the_workspace_but_not_what_is_kept(tmp_path: Path):
    root = tmp_path / "work"
    for folder in (".git/hooks", "conf", ".handrail/journal"):
        (root / folder).mkdir(parents=True)
    (root / ".git/config").write_text("[core]\n")
    (root / "conf/policy.toml").write_text("strict")
    (root / "keys.db").write_text("hunter2")
    (root / ".handrail/journal/1").write_text("hunter2")
    (root / unicodedata.normalize("NFD", "schlüssel")).write_text("hunter2")
    path_rules = PathRules(protected=("conf/policy.toml",), hidden=("keys.db", "schlüssel"))
    async with a_shell(root, path_rules=path_rules) as shell:
        attempts = [
            "echo evil > .git/config",
            "echo evil > .git/hooks/pre-commit",
            "mv .git .git2",
            "rm -rf .git",
            "echo evil > conf/policy.toml",
            "rm -f conf/policy.toml",
            "mv conf old && mkdir conf && echo evil > conf/policy.toml",
            "rm -rf .handrail; mkdir -p .handrail/journal; echo evil > .handrail/journal/1",
            "echo evil > keys.db",
            "echo evil > /usr/evil; echo evil > /etc/evil; echo evil > ../evil",
            "echo evil > /proc/sys/kernel/core_pattern; echo 300 > /proc/sys/kernel/pid_max",
        ]
        seen = [str((await shell.run(one)).result.output) for one in attempts]
        last = await shell.run("cat keys.db schl* .handrail/journal/1; echo made > new.txt")
    assert "hunter2" not in "".join([*seen, str(last.result.output)])
    assert (root / ".git/config").read_text() == "[core]\n"
    assert not (root / ".git/hooks/pre-commit").exists()
    assert (root / "conf/policy.toml").read_text() == "strict"
    assert (root / ".handrail/journal/1").read_text() == "hunter2"
    assert (root / "keys.db").read_text() == "hunter2"
    assert (root / "new.txt").read_text() == "made\n"
    assert sorted(os.listdir(tmp_path)) == ["work"]


@pytest.mark.req("PM-07")
@pytest.mark.fault("F24")
async def test_a_command_has_no_rights_that_it_could_change_its_sandbox_with(tmp_path: Path):
    async with a_shell(tmp_path) as shell:
        said = await shell.out("grep -E '^(Cap...|NoNewPrivs|NSpid):' /proc/self/status; ls /proc/self/fd")
    rights = dict(line.split(":\t") for line in said.splitlines() if ":" in line)
    assert {int(value, 16) for name, value in rights.items() if name.startswith("Cap")} == {0}
    assert rights["NoNewPrivs"] == "1"
    assert [line for line in said.splitlines() if ":" not in line] == ["0", "1", "2", "3"]  # 3 is the folder


@pytest.mark.req("PM-07")
@pytest.mark.fault("F22")
async def test_what_was_let_through_as_reading_cannot_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Should the judgement ever be wrong, the sandbox holds."""
    module = import_module("handrail.toolsets.workspace.shell.bash")
    monkeypatch.setattr(module, "classify", lambda command, is_ours: SAFE)
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run("touch evil")
    assert "Read-only file system" in outcome.result.data["stderr"]
    assert os.listdir(tmp_path) == []


@pytest.mark.req("EX-08", "PM-07", "BF-08")
@pytest.mark.fault("F24")
async def test_without_a_sandbox_a_command_is_refused_with_the_way_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run("ls")
        assert (outcome.status, outcome.result.code) == ("refused", "NO_SANDBOX")
        assert "apt-get install bubblewrap" in str(outcome.result.error)
        assert (await shell.handrail.explain("bash", {"command": "ls"})).layer == "sandbox"
    async with a_shell(tmp_path, ShellOptions(unsandboxed=True)) as shell:
        assert await shell.out("echo here") == "here\n"


async def test_without_the_parser_a_command_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    parsing = import_module("handrail.toolsets.workspace.shell.syntax")
    monkeypatch.setattr(parsing, "_parser", parsing._parser.__wrapped__)
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run("ls")
    assert (outcome.status, outcome.code) == ("refused", "NOT_INSTALLED")
    assert "pip install 'handrail[workspace]'" in str(outcome.result.error)


async def test_a_toolchain_that_is_not_there_keeps_no_command_from_running(tmp_path: Path):
    async with a_shell(tmp_path, ShellOptions(readable=(tmp_path / "gone",))) as shell:
        assert await shell.out("echo here") == "here\n"


@pytest.mark.fault("F24")
async def test_a_sandbox_that_cannot_start_is_no_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "bwrap").write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    (broken / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(broken))
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run("echo ran > proof")
    assert outcome.result.code == "NO_SANDBOX"
    assert "No permissions to create new namespace" in str(outcome.result.error)
    assert not (tmp_path / "proof").exists()


@pytest.mark.req("BF-08")
@pytest.mark.fault("F24")
def test_the_sandbox_holds_for_nobody_as_it_does_for_root():
    """Run by root this takes on the rights of nobody; run by anybody else it runs as they are."""
    program = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from handrail.toolsets.workspace.shell.run import run_sandboxed\n"
        "from handrail.toolsets.workspace.shell.sandbox import CommandLimits, SandboxSpec\n"
        "if os.getuid() == 0:\n"
        "    os.setgroups([]), os.setgid(65534), os.setuid(65534)\n"
        "root = Path(sys.argv[1])\n"
        "os.chdir(root)\n"
        "line = 'cat /etc/shadow; echo hi > made; cat made; for i in {1..60}; do sleep 9 & done; wait'\n"
        "limits = CommandLimits(processes=40)\n"
        "ran = asyncio.run(run_sandboxed(line, SandboxSpec(root), root, limits, 3.0, len))\n"
        "assert ran.stdout.text() == 'hi\\n', ran.stderr.text()\n"
        "held = ran.ended == 'processes' or 'Resource temporarily unavailable' in ran.stderr.text()\n"
        "assert held, (ran.ended, ran.stderr.text())\n"
    )
    with TemporaryDirectory(dir="/tmp") as root:
        os.chmod(root, 0o777)
        done = subprocess.run(
            [sys.executable, "-c", program, root], capture_output=True, text=True, timeout=50, check=False
        )
    assert done.returncode == 0, done.stderr


@pytest.mark.req("BF-08")
async def test_a_file_and_a_process_have_limits(tmp_path: Path):
    limits = CommandLimits(memory=256 * 1024**2, file_size=1024**2)
    async with a_shell(tmp_path, ShellOptions(limits=limits)) as shell:
        await shell.run("head -c 5000000 /dev/zero > big")
        assert (tmp_path / "big").stat().st_size <= 1024**2
        outcome = await shell.run("python3 -c 'x = bytearray(900_000_000)'")
        assert "MemoryError" in outcome.result.data["stderr"]
