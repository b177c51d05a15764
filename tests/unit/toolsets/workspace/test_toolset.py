"""Whose workspace it is, and what the settings say of it."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from handrail import Handrail, Principal
from handrail.app import open_handrail, workspace_of
from handrail.ext.errors import DefinitionError, UsageError
from handrail.settings import SettingsError, load_settings
from handrail.toolsets.workspace import WorkspaceOptions, WorkspaceToolset, parse_options

ACME = Principal("acme", "ann", permissions={"*"})
GLOBEX = Principal("globex", "gus", permissions={"*"})


async def names(toolset: WorkspaceToolset, principal: Principal) -> set[str]:
    async with Handrail([toolset]) as hr:
        return {one.id for one in await hr.tools(principal)}


@pytest.mark.req("MT-01")
async def test_a_workspace_is_that_of_one_tenant_and_others_know_of_no_tool(tmp_path: Path) -> None:
    toolset = WorkspaceToolset(tmp_path, tenant="acme")
    assert "read_file" in await names(toolset, ACME)
    assert not await names(toolset, GLOBEX)
    async with Handrail([WorkspaceToolset(tmp_path, tenant="acme")]) as hr:
        (tmp_path / "a.txt").write_text("secret plans")
        outcome = await hr.call("read_file", {"path": "a.txt"}, principal=GLOBEX)
    assert outcome.result.code == "TOOL_NOT_FOUND"


async def test_each_tenant_works_in_a_folder_of_its_own(tmp_path: Path) -> None:
    for name in ("acme", "globex"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    async with Handrail([WorkspaceToolset(tmp_path / "{tenant}")]) as hr:
        for who in (ACME, GLOBEX):
            outcome = await hr.call("read_file", {"path": "a.txt"}, principal=who)
            assert who.tenant in (outcome.result.output or "")
            escape = await hr.call("read_file", {"path": "../globex/a.txt"}, principal=ACME)
            assert escape.result.code == "OUTSIDE_WORKSPACE"
        for stranger in ("initech", "..", "."):
            outcome = await hr.call("read_file", {"path": "a.txt"}, principal=Principal(stranger, "x"))
            assert outcome.result.code == "TOOL_NOT_FOUND"


async def test_a_tenant_whose_folder_is_made_later_has_its_tools_from_then_on(tmp_path: Path) -> None:
    async with Handrail([WorkspaceToolset(tmp_path / "{tenant}")]) as hr:
        assert (await hr.call("read_file", {"path": "a"}, principal=ACME)).result.code == "TOOL_NOT_FOUND"
        (tmp_path / "acme").mkdir()
        (tmp_path / "acme/a").write_text("made")
        assert (await hr.call("read_file", {"path": "a"}, principal=ACME)).ok


async def test_a_workspace_that_cannot_be_opened_holds_nothing_and_says_no_path(tmp_path: Path) -> None:
    toolset = WorkspaceToolset(tmp_path / "{tenant}", tenant="acme")
    (tmp_path / "acme").mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(os.listdir("/proc/self/fd"))
    plugs: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 1, hard))
    try:
        with suppress(OSError):
            while True:
                plugs.append(os.dup(0))
        with pytest.raises(DefinitionError, match=r"cannot be opened: Too many open files$"):
            await toolset.find("read_file", ACME)
        os.close(plugs.pop())
        with pytest.raises(DefinitionError):
            await toolset.find("read_file", ACME)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for plug in plugs:
            os.close(plug)
    assert len(os.listdir("/proc/self/fd")) == before
    assert await toolset.find("read_file", ACME) is not None


@pytest.mark.parametrize("path", ["/etc", "../x", "a/../b", "*.key", "key?", ".", "./", "", "a\0b"])
@pytest.mark.parametrize("setting", ["hidden", "protected"])
def test_what_would_keep_nothing_or_everything_is_said_at_once(
    tmp_path: Path, setting: str, path: str
) -> None:
    with pytest.raises(DefinitionError, match="no path from the root of a workspace"):
        WorkspaceToolset(tmp_path, **{setting: (path,)})


def test_a_folder_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="there is no folder"):
        WorkspaceToolset(tmp_path / "nowhere")
    (tmp_path / "notes").touch()
    with pytest.raises(DefinitionError, match="notes is a file, and a workspace is a folder"):
        WorkspaceToolset(tmp_path / "notes")


def test_the_home_of_a_person_can_be_named_as_they_are_used_to(tmp_path: Path) -> None:
    found = parse_options({"root": "~/code", "readable": ["~/.pyenv", "tools"]}, "handrail.toml", tmp_path)
    assert found.root == str(Path.home() / "code")
    assert found.readable == (str(Path.home() / ".pyenv"), str(tmp_path / "tools"))


@pytest.mark.parametrize("wrong", [{"private_networks": ("10.0.0.0/99",)}, {"searxng_url": "nowhere"}])
def test_an_address_that_is_none_is_said_at_once(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        WorkspaceToolset(tmp_path, **wrong)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"rot": "."}, "did you mean 'root'"),
        ({"network": "yes"}, "give true or false"),
        ({"search": "bing"}, "use one of: exa, brave, searxng"),
        ({"hidden": "x"}, "give a list"),
        ({"root": ""}, "give text"),
        ({"hidden": ["*.env"]}, r"handrail.toml: workspace: hidden: '\*.env' is no path"),
        ({"protected": ["../x"]}, r"handrail.toml: workspace: protected: '../x' is no path"),
    ],
)
def test_a_mistake_in_the_table_is_told_with_what_to_write(table: dict[str, object], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        parse_options(table, "handrail.toml: workspace", Path("/"))


def test_the_settings_name_a_folder_or_a_table(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('[workspace]\nroot = "code"\nnetwork = true\n')
    settings = load_settings(tmp_path, {})
    assert settings.workspace == {"root": "code", "network": True}
    assert load_settings(tmp_path, {"HANDRAIL_WORKSPACE": "other"}).workspace == {"root": "other"}
    assert load_settings(tmp_path.parent, {}).workspace is None
    (tmp_path / "handrail.toml").write_text("workspace = 3\n")
    with pytest.raises(SettingsError, match="name a folder"):
        load_settings(tmp_path, {})


async def test_what_rules_over_the_tools_is_protected_and_the_database_hidden(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text(
        'workspace = "."\ndatabase = "sqlite:///data/own.db"\nagents = "agents.toml"\n'
    )
    (tmp_path / "agents.toml").write_text("")
    toolset = workspace_of(settings := load_settings(tmp_path, {}), settings.workspace or {})
    assert isinstance(toolset, WorkspaceToolset)
    assert toolset.options.protected == ("handrail.toml", "agents.toml")
    assert {"data/own.db", "data/own.db.key", "data/own.db-wal"} <= set(toolset.options.hidden)
    assert toolset.options.tenant == "local"


async def test_listing_the_tools_leaves_nothing_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "handrail.toml").write_text('workspace = "."\n')
    async with open_handrail(load_settings(tmp_path, {}), []) as hr:
        assert await hr.tools(Principal.local())
    assert os.listdir(tmp_path) == ["handrail.toml"]


def test_what_is_not_said_is_not_allowed() -> None:
    options = WorkspaceOptions()
    assert not (options.network or options.unsandboxed or options.hardlinks or options.private_networks)


@pytest.mark.req("MT-01")
async def test_with_a_database_the_tenant_has_the_tools_too_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/a.txt").write_text("ours")
    toolset = WorkspaceToolset(tmp_path / "code", tenant="acme")
    async with Handrail([toolset], database=f"sqlite:///{tmp_path / 'own.db'}") as hr:
        assert "bash" in {one.id for one in await hr.tools(ACME)}
        assert await hr.tools(GLOBEX) == []
        assert (await hr.call("read_file", {"path": "a.txt"}, principal=ACME)).ok
        refused = await hr.call("read_file", {"path": "a.txt"}, principal=GLOBEX)
        assert refused.result.code == "TOOL_NOT_FOUND"


async def test_tools_are_found_by_slug_and_wire_name_too(tmp_path: Path) -> None:
    toolset = WorkspaceToolset(tmp_path, tenant="acme")
    for name in ("read_file", "read-file", "read", "file_read"):
        found = await toolset.find(name, ACME)
        assert found is not None
        assert found.id == "read_file"
