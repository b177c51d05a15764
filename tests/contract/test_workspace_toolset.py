"""The workspace toolset as a whole: every tool under its names, for its tenant alone, in its group."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from handrail import Call, Handrail, Policy, Principal, Tool
from handrail.conformance import check
from handrail.ext.guard import approve
from handrail.testing import ScriptedApprover
from handrail.toolsets.workspace import WorkspaceToolset
from tests.docs.code_blocks import ROOT
from tests.harness.poll import poll_until

ANA = Principal(tenant="local", user="ana")
ALIASES: Mapping[str, set[str]] = {
    "read_file": {"read", "file_read"},
    "write_file": {"write"},
    "edit_file": {"edit"},
    "list_files": {"list"},
    "glob": set(),
    "grep": set(),
    "search_files": set(),
    "search_code": set(),
    "get_file_info": set(),
    "file_delete": set(),
    "bash": {"shell_exec"},
    "task_create": set(),
    "task_update": set(),
    "task_get": set(),
    "task_list": set(),
    "todowrite": set(),
    "todoread": set(),
    "undo_file": set(),
    "undo_turn": set(),
    "webfetch": set(),
    "web_search": {"webSearch"},
    "spawn_agent": {"task"},
}
ARGS: Mapping[str, Mapping[str, Any]] = {
    "read_file": {"path": "a.txt"},
    "write_file": {"path": "new.txt", "content": "new"},
    "edit_file": {"path": "a.txt", "search": "one", "replace": "two"},
    "list_files": {},
    "glob": {"pattern": "*.txt"},
    "grep": {"pattern": "one"},
    "search_files": {"query": "a.txt"},
    "search_code": {"query": "one"},
    "get_file_info": {"path": "a.txt"},
    "file_delete": {"path": "a.txt"},
    "bash": {"command": "touch made"},
    "task_create": {"subject": "Read"},
    "task_update": {"id": "T1", "status": "completed"},
    "task_get": {"id": "T1"},
    "task_list": {},
    "todowrite": {"todos": []},
    "todoread": {},
    "undo_file": {"path": "a.txt"},
    "undo_turn": {},
    "webfetch": {"url": "https://example.com"},
    "web_search": {"query": "handrail"},
    "spawn_agent": {"prompt": "Read"},
}
ALWAYS_PARALLEL = (
    *("read_file", "glob", "grep", "list_files", "search_files", "search_code", "get_file_info"),
    *("task_create", "task_update", "task_get", "task_list"),
)
LOOKING = ("list_files", "grep", "glob", "search_files", "search_code")
ONE_BY_ONE = ("bash", "spawn_agent")
CHANGES = ("write_file", "edit_file", "file_delete", "undo_file", "undo_turn", *ONE_BY_ONE)


def call(name: str, **args: Any) -> Call:
    return Call(name, args or dict(ARGS[name]), principal=ANA, session="s1", source="web")


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("one\n")
    return tmp_path


async def tools_of(root: Path) -> dict[str, Tool]:
    toolset = WorkspaceToolset(root)
    try:
        return {tool.id: tool for tool in await toolset.tools(ANA)}
    finally:
        await toolset.close()


@pytest.mark.req("BF-09", "NM-07")
async def test_every_tool_is_there_under_its_names_and_no_other(root: Path) -> None:
    assert {name: set(tool.aliases) for name, tool in (await tools_of(root)).items()} == ALIASES


@pytest.mark.req("NM-07")
async def test_a_tool_is_recorded_under_one_name_however_it_is_called(root: Path) -> None:
    async with Handrail([WorkspaceToolset(root)]) as hr:
        for name, aliases in ALIASES.items():
            for alias in aliases:
                told = await hr.describe(alias, ANA)
                assert told.tool.id == name, alias


@pytest.mark.req("ED-01")
async def test_each_keeps_the_rules_for_tools_and_has_its_words_in_a_file(root: Path) -> None:
    tools = await tools_of(root)
    assert [str(finding) for finding in check(list(tools.values()))] == []
    for tool in tools.values():
        assert tool.location is not None
        words = Path(tool.location.file).with_name(f"{tool.id}.txt").read_text(encoding="utf-8")
        first, _, rest = words.strip().partition("\n\n")
        assert " ".join(first.split()) == tool.description and rest.strip() == tool.guidance
        assert tool.icon and tool.category in ("workspace", "web", "tasks") and tool.tenants == {"local"}
        assert tool.output_schema is not None


async def test_the_page_names_every_tool_with_its_aliases_level_and_capability(root: Path) -> None:
    page = (ROOT / "docs" / "workspace.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`([^|]*) \| (\w+) \| ([\w, ]+) \|", page, re.MULTILINE)
    told = {name: (set(re.findall(r"`(\w+)`", others)), *rest) for name, others, *rest in rows}
    assert told == {
        tool.id: (set(tool.aliases), tool.level, ", ".join(sorted(tool.capabilities)))
        for tool in (await tools_of(root)).values()
    }


@pytest.mark.req("BP-04", "BF-07")
async def test_what_only_looks_and_tasks_are_always_parallel(root: Path) -> None:
    async with Handrail([WorkspaceToolset(root)]) as hr:
        (group,) = await hr.batches([call(name) for name in ALWAYS_PARALLEL * 2])
    assert group.kind == "parallel" and len(group.calls) == 2 * len(ALWAYS_PARALLEL)


@pytest.mark.req("BP-05", "BP-10")
async def test_files_are_changed_at_once_only_when_they_differ(root: Path) -> None:
    (root / "sub").mkdir()
    (root / "link.txt").symlink_to("a.txt")
    async with Handrail([WorkspaceToolset(root)]) as hr:
        apart = await hr.batches([call("edit_file"), call("write_file", path="b.txt", content="new")])
        assert [group.kind for group in apart] == ["conditional"]
        for path in ("a.txt", "./a.txt", "sub/../a.txt", str(root / "a.txt"), "link.txt"):
            same = await hr.batches([call("edit_file"), call("write_file", path=path, content="new")])
            assert len(same) == 2, path
            seen = await hr.batches([call("write_file", path=path, content="new"), call("read_file")])
            assert len(seen) == 2, path


@pytest.mark.req("BP-07")
async def test_commands_and_agents_go_one_after_the_other(root: Path) -> None:
    async with Handrail([WorkspaceToolset(root)]) as hr:
        groups = await hr.batches([call(name) for name in (*ONE_BY_ONE, "read_file", *ONE_BY_ONE)])
    assert [len(group.calls) for group in groups] == [1] * 5
    assert [group.kind for group in groups].count("sequential") == 4


@pytest.mark.req("BP-11")
async def test_a_read_behind_a_write_sees_it(root: Path) -> None:
    calls = [
        call("read_file"),
        call("write_file", path="./a.txt", content="two\n"),
        call("read_file"),
        call("edit_file", path="a.txt", search="two", replace="three"),
        call("read_file"),
    ]
    async with Handrail([WorkspaceToolset(root)]) as hr:
        outcomes = await hr.call_many(calls)
    assert [one.status for one in outcomes] == ["completed"] * 5
    for outcome, word in zip(outcomes[::2], ("one", "two", "three"), strict=True):
        assert word in outcome.to_model()


@pytest.mark.req("EX-08", "PM-07")
@pytest.mark.fault("F24")
async def test_the_guard_lets_no_command_through_without_a_sandbox_nor_to_a_network_that_nobody_has(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Handrail([WorkspaceToolset(root)]) as hr:
        said = await hr.explain("bash", {"command": "ls", "network": True}, principal=ANA)
        assert (said.verdict, said.layer, said.code) == ("deny", "sandbox", "NO_NETWORK")
        monkeypatch.setenv("PATH", str(root))
        said = await hr.explain("bash", {"command": "ls"}, principal=ANA)
        assert (said.verdict, said.layer, said.code) == ("deny", "sandbox", "NO_SANDBOX")


@pytest.mark.req("BF-08", "PM-13")
@pytest.mark.fault("F24")
async def test_a_command_of_whoever_was_not_granted_the_network_has_none(root: Path) -> None:
    yes = ScriptedApprover(always=approve())
    asked = {"command": "true", "network": True}
    for policy, code in (
        (Policy(capabilities=["execute"]), "NO_NETWORK"),
        (Policy(capabilities=["execute", "network"]), None),
    ):
        async with Handrail([WorkspaceToolset(root, network=True)], policy=policy, approver=yes) as hr:
            assert (await hr.call("bash", asked, principal=ANA)).code == code


@pytest.mark.req("EX-11", "EX-22", "AG-12")
async def test_agents_share_what_was_read_until_a_command_changes_it(root: Path) -> None:
    async with Handrail([WorkspaceToolset(root)]) as hr:

        async def read(agent: str) -> tuple[str, bool]:
            who = ANA.spawn(agent)
            outcome = await hr.call("read_file", ARGS["read_file"], principal=who, session=agent)
            return outcome.result.data["content"], "cached" in outcome.result.metadata

        poll_until(lambda: time.time_ns() > (root / "a.txt").stat().st_ctime_ns + 200_000_000)
        assert [await read("ada"), await read("bob")] == [("one", False), ("one", True)]
        assert (await hr.call("bash", {"command": "echo two > a.txt"}, principal=ANA, source="web")).ok
        assert await read("bob") == ("two", False)


@pytest.mark.req("BP-11", "BY-11")
@pytest.mark.parametrize("name", LOOKING)
async def test_who_looks_behind_a_change_waits_for_it_and_for_nothing_else(root: Path, name: str) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "c.txt").write_text("one\n")
    looking = {**ARGS[name], "path": "."}
    change = call("write_file", path="sub/c.txt", content="two")
    async with Handrail([WorkspaceToolset(root)]) as hr:
        for path, turns in ((".", 2), ("sub", 2), ("./sub/../sub/c.txt", 2), ("a.txt", 1), ("sub2", 1)):
            groups = await hr.batches([change, call(name, **{**looking, "path": path})])
            assert len(groups) == turns, path
        assert len(await hr.batches([call(name, **looking), call("undo_turn")])) == 2


@pytest.mark.req("BP-11")
async def test_a_search_behind_changes_of_the_same_pass_finds_what_they_made(root: Path) -> None:
    calls = []
    for number in range(5):
        calls.append(call("write_file", path=f"new/{number}.py", content=f"fresh_{number} = 1\n"))
        calls.append(call("grep", pattern=f"fresh_{number}"))
        calls.append(call("glob", pattern=f"new/{number}.py"))
    async with Handrail([WorkspaceToolset(root)]) as hr:
        outcomes = await hr.call_many(calls)
    for number in range(5):
        _, grepped, globbed = outcomes[3 * number : 3 * number + 3]
        assert grepped.result.data["total_files"] == globbed.result.data["total"] == 1, number


@pytest.mark.req("BP-03")
async def test_undoing_and_writing_todos_go_one_after_the_other(root: Path) -> None:
    async with Handrail([WorkspaceToolset(root)]) as hr:
        for name in ("undo_file", "undo_turn", "todowrite"):
            groups = await hr.batches([call("read_file", path="b.txt"), call(name), call(name)])
            assert [len(group.calls) for group in groups] == [1, 1, 1], name
            assert [group.kind for group in groups[1:]] == ["sequential"] * 2, name


@pytest.mark.parametrize("bound", ["capability", "ceiling"])
async def test_whoever_may_only_read_changes_nothing(root: Path, bound: str) -> None:
    policy = Policy(capabilities=["read"]) if bound == "capability" else Policy()
    reader = ANA if bound == "capability" else Principal(tenant="local", user="ana", ceiling="read")
    async with Handrail([WorkspaceToolset(root)], policy=policy) as hr:
        for name in CHANGES:
            refused = await hr.call(name, ARGS[name], principal=reader, source="web")
            assert refused.code == "NOT_PERMITTED", name
        assert (await hr.call("read_file", ARGS["read_file"], principal=reader)).ok
    assert names_in(root) - {".handrail"} == {"a.txt", "b.txt"}
    assert (root / "a.txt").read_text() == "one\n"


async def test_another_tenant_finds_none_of_them(root: Path) -> None:
    other = Principal(tenant="other", user="bo", permissions=["*"])
    async with Handrail([WorkspaceToolset(root)]) as hr:
        assert list(await hr.tools(other)) == []
        for name in (*ALIASES, *(alias for some in ALIASES.values() for alias in some)):
            refused = await hr.call(name, ARGS.get(name, {}), principal=other)
            assert refused.code == "TOOL_NOT_FOUND", name
            assert not any(word in refused.to_model() for word in ("Did you mean", "read_file or")), name
