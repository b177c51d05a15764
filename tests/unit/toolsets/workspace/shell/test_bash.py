"""The bash tool: what it takes, what it tells, what it asks."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from handrail import Handrail, Policy, Principal
from handrail.conformance import check
from handrail.ext.events import Event, OutputAppended
from handrail.toolsets.workspace import Workspace
from handrail.toolsets.workspace.shell import ShellOptions, shell_tools
from tests.acceptance.shell.shells import ANN, a_shell


@pytest.mark.req("BF-08", "BF-09")
async def test_it_keeps_the_rules_of_the_house(tmp_path: Path):
    (tool,) = shell_tools(Workspace(tmp_path))
    assert [str(found) for found in check([tool])] == []
    assert (tool.id, tool.category, tool.concurrency) == ("bash", "workspace", "sequential")
    assert tool.capabilities == {"execute"} and "shell_exec" in tool.aliases


@pytest.mark.req("BF-09")
async def test_it_answers_to_the_name_of_agent_policies(tmp_path: Path):
    async with a_shell(tmp_path) as shell:
        outcome = await shell.handrail.call("shell_exec", {"cmd": "echo hi"}, principal=ANN)
        assert outcome.result.data["stdout"] == "hi\n"
    (tool,) = shell_tools(Workspace(tmp_path))
    async with Handrail([tool], policy=Policy(deny=["shell_exec"])) as handrail:
        assert (await handrail.call("bash", {"command": "ls"}, principal=ANN)).result.code == "NOT_PERMITTED"


@pytest.mark.req("BF-12")
async def test_it_tells_both_streams_the_exit_code_the_time_and_whether_something_is_missing(tmp_path: Path):
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run("echo out; echo err >&2; exit 3")
    result = outcome.result
    assert result.success
    assert (result.data["exit_code"], result.data["stdout"], result.data["stderr"]) == (
        3,
        "out\n",
        "err\n",
    )
    assert result.data["duration_seconds"] > 0 and result.data["truncated"] is False
    assert result.to_model() == "[exit code 3]\nout\n[stderr]\nerr\n"
    assert "exit code 3" in str(result.summary)


@pytest.mark.req("BF-12")
@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("kill -9 $$", "[exit code 137: SIGKILL, killed]"),
        (
            "ulimit -f 1; head -c 5000 /dev/zero > big",
            "[exit code 153: SIGXFSZ, a file grew beyond its limit]",
        ),
        ("exit 128", "[exit code 128]"),
        ("exit 255", "[exit code 255]"),
    ],
)
async def test_an_exit_code_that_stands_for_a_signal_is_told_with_its_name(
    tmp_path: Path, command: str, first: str
):
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run(command)
    assert str(outcome.result.output).splitlines()[0] == first


@pytest.mark.req("BF-12", "BY-15")
async def test_long_output_is_cut_for_the_model_and_the_rest_is_there_by_its_handle(tmp_path: Path):
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run("seq 1 20000")
        total = "".join(f"{number}\n" for number in range(1, 20001))
        assert outcome.result.output == total
        assert outcome.result.data["truncated"]
        shown = outcome.to_model()
        assert "read_result" in shown and len(shown) < 31_000
        found = re.search(r"handle='([^']+)'", shown)
        assert found is not None
        page = await shell.handrail.read_result(found[1], ANN, 30_000, 1000)
        assert page.startswith(total[30_000:31_000])


@pytest.mark.req("BF-08")
async def test_output_is_streamed_as_it_comes_and_within_bounds(tmp_path: Path):
    async with a_shell(tmp_path) as shell:
        heard: list[str] = []

        def hear(event: Event) -> None:
            if isinstance(event, OutputAppended):
                heard.append(event.chunk)

        shell.handrail.subscribe(hear)
        flood = "head -c 3000000 /dev/zero | tr '\\0' x"
        await shell.run(f"printf 'gr\\303'; sleep 0.3; printf '\\274n'; {flood}")
        text = "".join(heard)
    assert len(heard) >= 2
    assert text.startswith("grün")
    assert 100_000 <= len(text) < 101_000 and "no more is shown" in text


@pytest.mark.req("BF-08", "PM-06")
@pytest.mark.parametrize(
    ("command", "verdict", "part"),
    [
        ("git log | head", "allow", ""),
        ("make test", "ask", "`make test`"),
        ("ls; rm -rf build", "ask", "`rm -rf build`"),
    ],
)
async def test_what_is_asked_follows_from_the_command_and_names_the_part(
    tmp_path: Path, command: str, verdict: str, part: str
):
    async with a_shell(tmp_path) as shell:
        decision = await shell.handrail.explain("bash", {"command": command}, principal=ANN)
    assert decision.verdict == verdict
    assert part in decision.reason


@pytest.mark.req("PM-27")
async def test_a_folder_with_a_repository_of_its_own_is_asked_about(tmp_path: Path):
    (tmp_path / "vendor/lib/.git").mkdir(parents=True)
    async with a_shell(tmp_path) as shell:
        for cwd, verdict in ((".", "allow"), ("vendor", "allow"), ("vendor/lib", "ask")):
            args = {"command": "git status", "cwd": cwd}
            assert (await shell.handrail.explain("bash", args, principal=ANN)).verdict == verdict


@pytest.mark.req("PM-27")
@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("cd src && git status", "allow"),
        ("cd {root} && git log", "allow"),
        ("cd {root}/src; git diff", "allow"),
        ("cd vendor/lib && git status", "ask"),
        ("cd vendor/lib\ngit status", "ask"),
        ("for i in 1 2; do cd src; done; git diff", "ask"),
        ("while cd src; do git diff; done", "ask"),
        ("eval 'cd vendor/lib'; git status", "ask"),
        ("builtin eval 'c\"d\" vendor/lib'; git status", "ask"),
        ("trap 'cd vendor/lib' DEBUG; git status", "ask"),
        ("trap 'echo done' EXIT; git status", "allow"),
        ("cd link && git status", "ask"),
        ("cd /tmp && git status", "ask"),
        ("cd src && cd ../vendor/lib && git status", "ask"),
        ("cd src && bash -c 'cd lib && git status'", "ask"),
        ("cd - && git status", "ask"),
        ("pushd src; git log", "ask"),
        ("cd -P src && git log", "ask"),
    ],
)
async def test_git_after_a_change_of_folder_is_asked_about_where_another_repository_may_be(
    tmp_path: Path, command: str, verdict: str
):
    (tmp_path / "vendor/lib/.git").mkdir(parents=True)
    (tmp_path / "src").mkdir()
    (tmp_path / "link").symlink_to("vendor/lib")
    async with a_shell(tmp_path) as shell:
        args = {"command": command.format(root=tmp_path)}
        assert (await shell.handrail.explain("bash", args, principal=ANN)).verdict == verdict


@pytest.mark.req("PM-27")
@pytest.mark.fault("F22")
@pytest.mark.parametrize(
    ("settings", "verdict"),
    [
        ('[core]\n\tbare = false\n[remote "origin"]\n\turl = x\n[clean]\n\trequireForce = true\n', "allow"),
        ('[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n', "allow"),
        ("[diff]\n\texternal = ./evil\n", "ask"),
        ("[diff] external = ./evil\n", "ask"),
        ('[diff "x"]\n\tTextConv = ./evil\n', "ask"),
        ('[diff "x"]\n\tcommand=./evil\n', "ask"),
        ('[filter "x"]\n\tclean = ./evil\n', "ask"),
        ('[filter "x"]\n\tprocess = ./evil\n', "ask"),
        ("[gpg]\n\tprogram = ./evil\n[log]\n\tshowSignature = true\n", "ask"),
        ('[filter "lfs"]\n\tprocess = git-lfs filter-process; ./evil\n', "ask"),
        ("[include]\n\tpath = ../evil\n", "ask"),
        ("[core] [include]\n\tpath = ../evil\n", "ask"),
        ('[core][includeIf "gitdir:x"]\n\tpath = ../evil\n', "ask"),
        ("[core]\n\talternateRefsCommand = ./evil\n", "ask"),
        ("[log]\n\tshowSignature = true\n", "ask"),
        ("[format]\n\tpretty = %h %G?\n", "ask"),
        ("[tag]\n\tsort = -signature\n", "ask"),
        ("[diff]\n\tsubmodule = diff\n", "ask"),
        ("[diff]\n\tsubmodule = log\n[core]\n\tfsmonitor = true\n", "allow"),
        ('[includeIf "gitdir:x"]\n\tpath = ../evil\n', "ask"),
        ('[remote "x"]\n\tpromisor = true\n\tuploadpack = ./evil\n', "ask"),
        ("x" * 1_000_001, "ask"),
    ],
)
async def test_git_is_asked_about_where_the_settings_of_the_repository_name_programs(
    tmp_path: Path, settings: str, verdict: str
):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(settings)
    async with a_shell(tmp_path) as shell:
        commands = ("git diff", 'g"i"t log', "pwd\ngit diff", "pwd; g\\it log")
        for command, expected in (*((one, verdict) for one in commands), ("ls", "allow")):
            sentence = await shell.handrail.explain("bash", {"command": command}, principal=ANN)
            assert sentence.verdict == expected, command


@pytest.mark.req("PM-27")
async def test_a_repository_that_is_kept_in_the_workspace_under_another_name_is_asked_about(tmp_path: Path):
    (tmp_path / ".git").write_text("gitdir: evil\n")
    async with a_shell(tmp_path) as shell:
        args = {"command": "git status"}
        assert (await shell.handrail.explain("bash", args, principal=ANN)).verdict == "ask"
        (tmp_path / ".git").write_text("gitdir: /elsewhere/.git/worktrees/x\n")
        assert (await shell.handrail.explain("bash", args, principal=ANN)).verdict == "allow"


@pytest.mark.req("PM-27")
@pytest.mark.fault("F22")
async def test_a_repository_with_its_settings_in_another_folder_is_asked_about(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/commondir").write_text("../evil\n")
    async with a_shell(tmp_path) as shell:
        assert (await shell.handrail.explain("bash", {"command": "git log"}, principal=ANN)).verdict == "ask"


@pytest.mark.req("PM-27")
@pytest.mark.fault("F22")
@pytest.mark.parametrize(
    ("settings", "kind", "verdict"),
    [
        ("", "sha1", "allow"),
        ('[filter "x"]\n\tclean = touch /tmp/ran\n', "sha1", "ask"),
        ('[filter "x"]\n\tclean = touch /tmp/ran\n', "sha256", "ask"),
        ('[filter "x"]\n\tclean = touch /tmp/ran\n', "short names", "ask"),
        ("[core]\n\tfsmonitor = touch /tmp/ran\n", "sha1", "allow"),
    ],
)
async def test_git_is_asked_about_where_a_repository_that_it_looks_into_unasked_names_programs(
    tmp_path: Path, settings: str, kind: str, verdict: str
):
    """Down to what is a repository in a repository of this one."""
    for folder in ("a/b", "a", "."):
        _repository(tmp_path / folder, kind)
    with (tmp_path / "a/b/.git/config").open("a") as file:
        file.write(settings)
    async with a_shell(tmp_path) as shell:
        for command, expected in (("git status", verdict), ("ls", "allow")):
            sentence = await shell.handrail.explain("bash", {"command": command}, principal=ANN)
            assert sentence.verdict == expected, sentence.reason
        ran = await shell.out("git status --short; ls /tmp/ran")
    assert ("/tmp/ran" in ran) == (verdict == "ask")


@pytest.mark.req("PM-27")
async def test_what_looks_like_a_gitlink_to_the_repository_itself_is_no_reason_to_ask(tmp_path: Path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/index").write_bytes(b"DIRC\0\0\0\2" + b"\0\0\xe0\0" + bytes(100))
    async with a_shell(tmp_path) as shell:
        assert (
            await shell.handrail.explain("bash", {"command": "git log"}, principal=ANN)
        ).verdict == "allow"


def _repository(folder: Path, kind: str) -> None:
    """With all that is in the folder as its first commit; repositories in it become gitlinks."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "f").write_text("1\n")
    (folder / ".gitattributes").write_text("f filter=x\n")
    version = 4 if kind == "short names" else 2
    hashes = "sha256" if kind == "sha256" else "sha1"
    who = ("-c", "user.name=ann", "-c", "user.email=ann@x.test", "-c", f"index.version={version}")
    for line in (("init", "-q", f"--object-format={hashes}"), ("add", "-A"), ("commit", "-qm", "one")):
        subprocess.run(("git", *who, *line), cwd=folder, check=True, capture_output=True)
    (folder / "f").write_text("2\n")


@pytest.mark.req("PM-07", "PM-27")
@pytest.mark.fault("F24")
async def test_without_a_sandbox_nothing_is_safe_since_reading_reaches_the_whole_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    async with a_shell(tmp_path, ShellOptions(unsandboxed=True)) as shell:
        sentence = await shell.handrail.explain("bash", {"command": "cat /proc/1/environ"}, principal=ANN)
    assert sentence.verdict == "ask" and "no sandbox" in sentence.reason


@pytest.mark.req("BF-08")
async def test_it_runs_in_a_folder_of_the_workspace_and_nowhere_else(tmp_path: Path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "out").symlink_to("/etc")
    async with a_shell(tmp_path) as shell:
        assert await shell.out("pwd", cwd="a/b") == f"{tmp_path}/a/b\n"
        for cwd in ("..", "/etc", "out", "missing", "a/../../.."):
            outcome = await shell.run("pwd", cwd=cwd)
            assert outcome.status == "failed", cwd
        assert (await shell.run("cat", timeout=5)).result.output == "[no output]"


@pytest.mark.req("BF-08", "EX-14", "EX-22")
async def test_who_keeps_something_of_the_files_hears_that_they_may_have_changed(tmp_path: Path):
    async with a_shell(tmp_path) as shell:
        heard: list[str | None] = []
        shell.workspace.listen(heard.append)
        await shell.run("ls")
        assert heard == []
        await shell.run("touch new")
        assert heard == [None]


@pytest.mark.req("BF-08")
@pytest.mark.parametrize(
    ("command", "remedy"), [("echo a\0b", "printf"), ("echo " + "é" * 60_000, "write_file")]
)
async def test_what_no_program_can_be_given_is_said_with_what_to_do(
    tmp_path: Path, command: str, remedy: str
):
    async with a_shell(tmp_path) as shell:
        outcome = await shell.run(command)
        assert (outcome.status, outcome.result.code) == ("failed", "INVALID_COMMAND")
        assert remedy in str(outcome.result.error)
        long = await shell.run("echo " + "é" * 49_000)
        assert outcome.status == "failed" and len(str(long.result.output)) > 49_000


@pytest.mark.req("BF-08", "EX-24")
@pytest.mark.parametrize(
    "bad", [{"timeout": 0}, {"timeout": 601}, {"timeout": -1}, {"command": ""}, {"colour": 1}]
)
async def test_odd_arguments_are_refused_before_anything_runs(tmp_path: Path, bad: dict):
    async with a_shell(tmp_path) as shell:
        outcome = await shell.handrail.call("bash", {"command": "echo hi", **bad}, principal=ANN)
    assert outcome.status == "refused"


async def test_a_policy_without_the_capability_keeps_it_out(tmp_path: Path):
    (tool,) = shell_tools(Workspace(tmp_path), ShellOptions())
    async with Handrail([tool], policy=Policy(capabilities=["read"])) as handrail:
        outcome = await handrail.call("bash", {"command": "ls"}, principal=Principal("local", "ann"))
    assert outcome.result.code == "NOT_PERMITTED"
    assert "execute" in json.dumps(outcome.result.to_dict())
