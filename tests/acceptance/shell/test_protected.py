"""What a command cannot make, change or use up, even where nothing stood before it."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from handrail import ToolError
from handrail.toolsets.workspace import PathRules
from handrail.toolsets.workspace.shell import CommandLimits, ShellOptions
from handrail.toolsets.workspace.shell.run import run_sandboxed
from handrail.toolsets.workspace.shell.sandbox import SandboxSpec
from tests.acceptance.shell.shells import a_shell


@pytest.mark.req("BF-08", "PM-07")
@pytest.mark.fault("F23")
async def test_the_memory_that_a_sandbox_is_made_of_is_bounded(tmp_path: Path):
    fill = "for p in / /dev /dev/shm /tmp; do head -c 300000000 /dev/zero > $p/big; done 2>/dev/null"
    async with a_shell(tmp_path) as shell:
        printed = await shell.out(f"{fill}; du -cb /big /dev/big /dev/shm/big /tmp/big 2>/dev/null | tail -1")
    assert int(printed.split()[0]) <= 2 * 256 * 1024**2


@pytest.mark.req("BF-08")
@pytest.mark.fault("F23")
async def test_memory_that_processes_share_counts_as_well(tmp_path: Path):
    (tmp_path / "eat.py").write_text(
        "import mmap, signal\nm = mmap.mmap(-1, 400_000_000)\n"
        "for _ in range(400):\n    m.write(bytes(1_000_000))\nsignal.pause()\n"
    )
    async with a_shell(tmp_path, ShellOptions(limits=CommandLimits(memory=200 * 1024**2))) as shell:
        outcome = await shell.run("python3 eat.py", timeout=50)
    assert outcome.result.code == "LIMIT_REACHED", outcome.result
    assert "memory" in str(outcome.result.error)


@pytest.mark.req("BF-08", "PM-07")
@pytest.mark.fault("F19", "F24")
async def test_a_command_does_not_make_the_folder_of_our_own_before_we_do(tmp_path: Path):
    """A link in it would lead our own writing out of the workspace."""
    root, outside = tmp_path / "work", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    async with a_shell(root) as shell:
        await shell.run(
            f"mkdir -p .handrail; ln -s {outside} .handrail/history; ln -s {outside} .handrail/drafts"
        )
        assert not (root / ".handrail/history").is_symlink()
        shell.workspace.write("a.txt", b"made")
    assert (root / "a.txt").read_text() == "made"
    assert os.listdir(outside) == []


@pytest.mark.req("PM-07")
@pytest.mark.fault("F24")
async def test_a_command_puts_nothing_beside_a_hidden_database_that_the_database_would_read(tmp_path: Path):
    with sqlite3.connect(tmp_path / "app.db") as database:
        database.execute("CREATE TABLE keys (name TEXT)")
    database.close()
    beside = tuple(f"app.db{ending}" for ending in ("", "-wal", "-shm", "-journal"))
    async with a_shell(tmp_path, path_rules=PathRules(hidden=(*beside, "other-wal", ".env"))) as shell:
        await shell.run(
            "for f in wal shm journal; do echo evil > app.db-$f; mv app.db-$f x; rm -f app.db-$f; done"
        )
        assert [(tmp_path / name).read_bytes() for name in beside[1:]] == [b"", b"", b""]
        assert not (tmp_path / "other-wal").exists() and not (tmp_path / ".env").exists()
    with sqlite3.connect(tmp_path / "app.db") as database:
        database.execute("INSERT INTO keys VALUES ('a')")
        assert database.execute("SELECT name FROM keys").fetchall() == [("a",)]
    database.close()


@pytest.mark.req("BF-08", "PM-07")
@pytest.mark.fault("F24")
async def test_repositories_inside_of_the_workspace_are_read_only_too(tmp_path: Path):
    """A hook that is put there would run later, when somebody uses git outside of the sandbox."""
    (tmp_path / "vendor/lib/.git/hooks").mkdir(parents=True)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.git").write_text("gitdir: ../.git/modules/sub\n")
    async with a_shell(tmp_path) as shell:
        for attempt in (
            "echo evil > vendor/lib/.git/hooks/pre-commit",
            "rm -rf vendor/lib/.git",
            "mv vendor/lib old; mkdir -p vendor/lib/.git/hooks; echo evil > vendor/lib/.git/hooks/pre-commit",
            "mv vendor old; mkdir -p vendor/lib/.git/hooks; echo evil > vendor/lib/.git/hooks/pre-commit",
            "echo 'gitdir: evil' > sub/.git; rm -f sub/.git",
        ):
            await shell.run(attempt)
        await shell.run("echo made > vendor/lib/new.txt")
    assert os.listdir(tmp_path / "vendor/lib/.git/hooks") == []
    assert (tmp_path / "sub/.git").read_text() == "gitdir: ../.git/modules/sub\n"
    assert (tmp_path / "vendor/lib/new.txt").read_text() == "made\n"


@pytest.mark.req("EX-08", "PM-07")
@pytest.mark.fault("F24")
async def test_a_sandbox_that_cannot_be_made_for_a_command_is_said_and_nothing_runs(tmp_path: Path):
    heard: list[bytes] = []
    with pytest.raises(ToolError, match=r"bubblewrap does not start .*gone") as refused:
        await run_sandboxed(
            "echo ran", SandboxSpec(tmp_path / "gone"), tmp_path, CommandLimits(), 20.0, heard.append
        )
    assert refused.value.code == "NO_SANDBOX"
    assert b"ran" not in b"".join(heard)
