"""Tools are found in modules, packages and files; what cannot be imported says where and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.forked_cli import handrail

TOOL = """
from handrail import tool

@tool("{name}", level="read")
def {function}() -> str:
    "Do one thing."
    return "{name}"
"""


def write(path: Path, name: str | None = None, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if name is None else TOOL.format(name=name, function=name.replace(".", "_")))


def listed(*words: str, cwd: Path) -> list[str]:
    done = handrail("tools", *words, "--json", cwd=cwd)
    assert done.code == 0, done.err
    return [tool["id"] for tool in done.json]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path / "single.py", "a.single")
    write(tmp_path / "package" / "__init__.py")
    write(tmp_path / "package" / "one.py", "b.one")
    write(tmp_path / "package" / "deeper" / "__init__.py")
    write(
        tmp_path / "package" / "deeper" / "two.py",
        text="from ..one import b_one\nfrom handrail import tool\n",
    )
    return tmp_path


def test_by_module_package_file_and_folder(project: Path) -> None:
    assert listed("--tools", "single", cwd=project) == ["a.single"]
    assert listed("--tools", "package", cwd=project) == ["b.one"]
    assert listed("--tools", "package.one", cwd=project) == ["b.one"]
    assert listed("--tools", "single.py", "--tools", "package/one.py", cwd=project) == ["a.single", "b.one"]
    assert listed("--tools", str(project / "package"), cwd=project.parent) == ["b.one"]
    assert listed("--tools", "./package/deeper/two.py", cwd=project) == ["b.one"]


def test_names_in_the_settings_are_relative_to_them(project: Path) -> None:
    (project / "handrail.toml").write_text('tools = ["single", "package/one.py"]')
    assert listed(cwd=project / "package") == ["a.single", "b.one"]
    assert listed("--tools", "one.py", cwd=project / "package") == ["b.one"]


def test_tools_that_register_themselves_and_classes_are_found(tmp_path: Path) -> None:
    write(
        tmp_path / "own.py",
        text="from handrail import BaseTool, tool\nfrom handrail.ext.compat import register_tool\n"
        "def body() -> str:\n    'Do it.'\n    return ''\n"
        "register_tool(tool('c.registered', level='read')(body))\n"
        "class Made(BaseTool):\n    'Do it.'\n    id = 'c.made'\n    level = 'read'\n"
        "    def execute(self) -> str:\n        return ''\n",
    )
    assert listed("--tools", "own", cwd=tmp_path) == ["c.made", "c.registered"]


def test_a_tool_in_a_process_of_its_own_is_found_again(tmp_path: Path) -> None:
    write(
        tmp_path / "folder" / "apart.py",
        text="from handrail import tool\n@tool('d.apart', level='read', isolation='process')\n"
        "def apart() -> str:\n    'Run apart.'\n    return 'apart'\n",
    )
    assert handrail("run", "d.apart", "--tools", "folder/apart.py", cwd=tmp_path).out == "apart\n"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "sums.py",
            "x = 1\n\ny = x / 0\n",
            "sums.py cannot be imported: ZeroDivisionError: division by zero\n  {}:3\n",
        ),
        ("half.py", "def (\n", "half.py cannot be imported: invalid syntax\n  {}:1\n"),
        (
            "needs.py",
            "\nimport no_such_package\n",
            "needs.py cannot be imported: ModuleNotFoundError: No module named 'no_such_package'\n  {}:2\n",
        ),
        ("leaves.py", "import sys\nsys.exit(3)\n", "leaves.py cannot be imported: SystemExit: 3\n  {}:2\n"),
        (
            "bad.py",
            "from handrail import tool\n@tool('a.b')\ndef bad(x) -> int:\n    'Do it.'\n    return x\n",
            "tool 'a.b': parameter 'x' has no type ({}:2)\n  annotate it, such as `x: str`\n",
        ),
    ],
)
def test_a_module_that_fails_says_where(tmp_path: Path, name: str, text: str, said: str) -> None:
    write(tmp_path / name, text=text)
    done = handrail("tools", "--tools", name, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"error: {said.format(tmp_path / name)}"
    told = handrail("tools", "--tools", name, "--debug", cwd=tmp_path).err
    assert "Traceback" in told and said.format(tmp_path / name) in told


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("singel", "there is no module 'singel'\n  did you mean 'single'? (looked in "),
        ("package.three", "there is no module 'package.three'\n  did you mean 'package'?"),
        ("no/such.py", "there is no file no/such.py\n  looked in "),
        ("not-a-name", "'not-a-name' is neither a module nor a file\n  give shop.tools or path/to/tools.py"),
        ("./plain", "./plain is a folder without __init__.py, so it is no package\n  name the files in it"),
        ("./da-sh.py", "./da-sh.py cannot be imported\n  use letters, digits and _"),
        ("odd/json.py", "odd/json.py is hidden by "),
    ],
)
def test_a_name_that_leads_nowhere_is_told(project: Path, name: str, said: str) -> None:
    (project / "plain").mkdir()
    write(project / "da-sh.py", "e.dash")
    write(project / "odd" / "json.py", "e.json")
    done = handrail("tools", "--tools", name, cwd=project)
    assert done.code == 2
    assert done.err.startswith(f"error: {said}")


def test_two_tools_of_one_name_are_told_with_both_places(tmp_path: Path) -> None:
    write(tmp_path / "one.py", "a.same")
    write(tmp_path / "two.py", "a.same")
    done = handrail("tools", "--tools", "one", "--tools", "two", cwd=tmp_path)
    assert done.code == 2
    assert f"the name 'a.same' belongs to 'a.same' at {tmp_path / 'one.py'}:4" in done.err


def test_a_module_that_prints_does_not_spoil_the_answer(tmp_path: Path) -> None:
    write(tmp_path / "loud.py", text="print('loading')\nimport os\nos.system('echo from a child')\n")
    done = handrail("tools", "--tools", "loud", "--json", cwd=tmp_path)
    assert done.json == []
    assert "loading" in done.err and "from a child" in done.err


def test_a_tool_that_cannot_be_set_up_is_left_out_with_a_line(tmp_path: Path) -> None:
    write(
        tmp_path / "lazy.py",
        text="from handrail import define\n"
        "def prepare(init):\n    raise OSError('no disk')\nlazy = define('f.lazy', prepare)\n",
    )
    done = handrail("tools", "--tools", "lazy", cwd=tmp_path)
    assert done.code == 0
    assert done.err.startswith("tool f.lazy could not be initialised and is not listed (OSError: no disk)\n")
    assert "Traceback" not in done.err
    ran = handrail("run", "f.lazy", "--tools", "lazy", cwd=tmp_path)
    assert ran.code == 3
    assert "refused TOOL_UNAVAILABLE: f.lazy could not be set up: no disk" in ran.err


def test_a_tool_that_is_there_only_at_the_second_look_does_not_run_without_arguments(tmp_path: Path) -> None:
    write(
        tmp_path / "flaky.py",
        text="from handrail import define\ntries = []\n"
        "def prepare(init):\n    tries.append(1)\n    if len(tries) == 1:\n        raise OSError('not yet')\n"
        "    return {'description': 'Do it.', 'level': 'write', 'params': {}, 'execute': run}\n"
        "def run(args):\n    open('trace.txt', 'w').close()\n    return ''\n"
        "flaky = define('f.flaky', prepare)\n",
    )
    done = handrail("run", "f.flaky", "--tools", "flaky", "--json", cwd=tmp_path)
    assert (done.code, done.json["code"]) == (3, "STALE_TOOL")
    assert not (tmp_path / "trace.txt").exists()
