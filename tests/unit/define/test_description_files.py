"""Descriptions from text files: beside the module or named, with variables filled in."""

from __future__ import annotations

import importlib.util
import logging
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from handrail import Handrail, Tool, define, tool
from handrail.core.define.description_files import fill_variables


def module(folder: Path, text: str, name: str = "made_up_tools") -> ModuleType:
    """A real module in the folder, imported."""
    file = folder / f"{name}.py"
    file.write_text(f"from handrail import BaseTool, define, tool\n{text}")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


READ = '@tool("read", level="read")\ndef read(path: str) -> str:\n    "Inline."\n    return path\n'


@pytest.mark.req("ED-01")
def test_a_text_beside_the_module_describes_the_tool(tmp_path: Path) -> None:
    (tmp_path / "read.txt").write_text("Read a file\nfrom disk.\n\nNot for folders.\n\nNor for sockets.\n")

    made: Tool = module(tmp_path, READ).read

    assert made.description == "Read a file from disk."
    assert made.guidance == "Not for folders.\n\nNor for sockets."


@pytest.mark.req("ED-01")
@pytest.mark.parametrize("name", ["files.read.txt", "read.txt"])
def test_the_text_of_a_dotted_tool_bears_its_whole_or_its_last_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Read a file.")

    assert module(tmp_path, READ.replace('"read"', '"files.read"', 1)).read.description == "Read a file."


@pytest.mark.req("ED-01")
@pytest.mark.parametrize("spelling", ["descriptionPath", "description_path"])
def test_a_path_is_meant_from_the_module_on(tmp_path: Path, spelling: str) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/reading.txt").write_text("Read a file.")

    text = READ.replace('level="read"', f'level="read", {spelling}="texts/reading.txt"')

    assert module(tmp_path, text).read.description == "Read a file."


@pytest.mark.req("ED-01")
def test_a_path_may_be_absolute(tmp_path: Path) -> None:
    (tmp_path / "reading.txt").write_text("Read a file.")

    made = define("read", descriptionPath=str(tmp_path / "reading.txt"), execute=lambda args: "")

    assert made.description == "Read a file."


@pytest.mark.req("ED-01")
def test_every_style_reads_its_text(tmp_path: Path) -> None:
    (tmp_path / "read.txt").write_text("Read a file.")
    styles = (
        'one = define("read", execute=lambda args: "")\n'
        'class Two(BaseTool):\n    id = "read"\n    def execute(self) -> str:\n        return ""\n'
    )

    made = module(tmp_path, styles)

    assert (made.one.description, made.Two.tool().description) == ("Read a file.", "Read a file.")


@pytest.mark.req("ED-01", "RG-09")
async def test_the_text_of_an_initialised_tool_is_loaded_when_it_is_initialised(tmp_path: Path) -> None:
    waiting = module(tmp_path, 'read = define("read", lambda init: {"execute": lambda args: ""})\n').read
    (tmp_path / "read.txt").write_text("Read a file.")

    async with Handrail([waiting]) as hr:
        [ready] = await hr.tools()

    assert ready.description == "Read a file."


@pytest.mark.req("ED-02")
def test_variables_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENT_WORKSPACE_ROOT", "/srv/work")

    assert fill_variables("${workspace} ${directory} ${cwd}") == f"/srv/work {tmp_path} {tmp_path}"


@pytest.mark.req("ED-02")
@pytest.mark.parametrize("setting", [None, ""])
def test_the_workspace_is_the_current_folder_where_none_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AGENT_WORKSPACE_ROOT", raising=False)
    if setting is not None:
        monkeypatch.setenv("AGENT_WORKSPACE_ROOT", setting)

    assert fill_variables("${workspace}") == str(tmp_path)


@pytest.mark.req("ED-03", "ED-02")
@pytest.mark.parametrize(
    "text", ["${home}", "$workspace", "${workspace", "${ cwd }", "${Workspace}", "{cwd}"]
)
def test_unknown_variables_stay_as_they_are(text: str) -> None:
    assert fill_variables(text) == text


@pytest.mark.req("ED-02")
def test_variables_are_filled_in_a_tools_text(tmp_path: Path) -> None:
    (tmp_path / "read.txt").write_text("Read a file in ${cwd}, not in ${other}.")

    assert module(tmp_path, READ).read.description == f"Read a file in {os.getcwd()}, not in ${{other}}."


@pytest.mark.req("ED-03")
@pytest.mark.parametrize("damage", ["missing", "folder", "not unicode"])
def test_a_file_that_cannot_be_read_leaves_the_inline_description_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    file = tmp_path / "reading.txt"
    if damage == "folder":
        file.mkdir()
    elif damage == "not unicode":
        file.write_bytes(b"\xff\xfe\xff")

    with caplog.at_level(logging.WARNING, "handrail.define"):
        made = define("read", description="Inline.", descriptionPath=str(file), execute=lambda args: "")

    assert made.description == "Inline."
    assert "'read' keeps its inline description" in caplog.text and str(file) in caplog.text


@pytest.mark.req("ED-03")
def test_an_empty_file_leaves_the_inline_description(tmp_path: Path) -> None:
    (tmp_path / "read.txt").write_text(" \n")

    assert module(tmp_path, READ).read.description == "Inline."


@pytest.mark.req("ED-01")
def test_code_without_a_file_takes_no_text_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "read.txt").write_text("Obey me.")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"tool": tool}

    exec(compile(READ, "<stdin>", "exec"), names)

    assert names["read"].description == "Inline."
