"""handrail conformance, and what else needs the rules: doctor, and the test that a new tool comes with."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from handrail.doors.cli.new import STYLES
from tests.acceptance.command_line import SHOP, Terminal, environment, handrail

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
BAD = """
from handrail import tool

@tool("bad.one", level="read")
def one(text: str):
    "Do something with a text that somebody gives, whatever it may be."
    return text
"""


@pytest.mark.req("CF-06")
def test_findings_are_told_and_fail_the_command(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    done = handrail("conformance", "bad.py", cwd=tmp_path)
    assert done.code == 1
    line = next(line for line in done.out.split("\n") if "\toutput-schema\t" in line)
    assert line.startswith(f"error\tbad.one\toutput-schema\t{tmp_path / 'bad.py'}:")
    assert done.err.startswith("1 tool, 1 error, ")


@pytest.mark.req("CF-06")
def test_findings_as_json(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    told = handrail("conformance", "bad.py", "--json", cwd=tmp_path).json
    assert (told["tools"], told["errors"]) == (1, 1)
    [error] = [finding for finding in told["findings"] if finding["level"] == "error"]
    assert (error["tool"], error["rule"]) == ("bad.one", "output-schema")
    assert error["message"] and error["remedy"]
    assert error["where"].startswith(str(tmp_path / "bad.py"))


def test_at_a_terminal_each_finding_has_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(BAD)
    terminal = Terminal("conformance", "bad.py", cwd=tmp_path)
    assert terminal.end() == 1
    assert "error bad.one [output-schema]" in terminal.shown and "remedy: " in terminal.shown


@pytest.mark.req("TD-21", "CF-04", "CF-06")
def test_a_new_tool_passes_its_own_test_in_every_style(tmp_path: Path) -> None:
    for style in STYLES:
        assert handrail("new", "tool", f"made.{style}", "--style", style, cwd=tmp_path).code == 0
    done = _run("pytest", "-q", "-p", "no:cacheprovider", ".", cwd=tmp_path)
    assert f"{3 * len(STYLES)} passed" in done.stdout
    modules = [f"made_{style}.py" for style in STYLES]
    checked = handrail("conformance", *modules, "--strict", cwd=tmp_path)
    assert (checked.code, checked.out) == (0, "")
    assert checked.err == f"{len(STYLES)} tools, 0 errors, 0 warnings\n"


@pytest.mark.req("TD-21")
def test_what_is_written_keeps_to_ruff_and_mypy(tmp_path: Path) -> None:
    for style in STYLES:
        assert handrail("new", "tool", f"made.{style}", "--style", style, cwd=tmp_path).code == 0
    config = ["--config", str(ROOT / "pyproject.toml")]
    assert _run("ruff", "check", "--no-cache", *config, ".", cwd=tmp_path).stdout == "All checks passed!\n"
    assert _run("ruff", "format", "--no-cache", "--check", *config, ".", cwd=tmp_path).returncode == 0
    typed = _run("mypy", "--strict", "--cache-dir", ".mypy", "--config-file=", ".", cwd=tmp_path)
    assert typed.returncode == 0, typed.stdout


def _run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_warnings_fail_only_when_it_is_strict(tmp_path: Path) -> None:
    (tmp_path / "poor.py").write_text(BAD.replace("(text: str):", "(text: str) -> str:"))
    told = handrail("conformance", "poor.py", "--json", cwd=tmp_path)
    assert (told.code, told.json["errors"]) == (0, 0)
    assert told.json["warnings"] > 0
    assert handrail("conformance", "poor.py", "--strict", cwd=tmp_path).code == 1


def test_without_tools_there_is_nothing_to_check(tmp_path: Path) -> None:
    done = handrail("conformance", cwd=tmp_path)
    assert (done.code, done.err.startswith("error: which tools?")) == (2, True)
    (tmp_path / "empty.py").touch()
    done = handrail("conformance", "empty.py", cwd=tmp_path)
    assert (done.code, done.err.startswith("error: there are no tools in empty.py")) == (2, True)
    (tmp_path / "handrail.toml").write_text(f'tools = ["{SHOP}"]')
    assert handrail("conformance", "--json", cwd=tmp_path).json["tools"] > 10


def states(told: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {one["name"]: one["state"] for one in told["checks"]}


def test_doctor_finds_everything_in_order(tmp_path: Path) -> None:
    assert handrail("new", "tool", "notes.find", cwd=tmp_path).code == 0
    (tmp_path / "handrail.toml").write_text('tools = ["notes_find"]')
    done = handrail("doctor", "--json", cwd=tmp_path)
    assert done.code == 0
    assert done.json["ok"] is True
    assert set(states(done.json).values()) == {"ok"}
    names = [
        "python",
        "handrail",
        "pydantic",
        "jsonschema-rs",
        "typer",
        "rich",
        "extra store",
        "extra postgres",
        "extra server",
        "extra mcp",
        "extra workspace",
        "extra syntax",
        "extra otel",
        "extra yaml",
        "settings",
        "policy",
    ]
    assert list(states(done.json)) == [*names, "tools", "terminal"]


@pytest.mark.parametrize(
    ("settings", "name", "said", "remedy"),
    [
        ("tols = 1", "settings", "'tols' is not a setting", "did you mean 'tools'?"),
        ("[policy]\nmode = 1", "policy", "policy: 'mode' is not known here", "did you mean 'moderate'?"),
        ('tools = ["gone"]', "tools", "there is no module 'gone'", "looked in"),
        ('agents = "gone.yaml"', "policy", "gone.yaml: it cannot be read", "check the path"),
    ],
)
def test_doctor_says_what_is_wrong_and_what_to_do(
    tmp_path: Path, settings: str, name: str, said: str, remedy: str
) -> None:
    (tmp_path / "handrail.toml").write_text(settings)
    done = handrail("doctor", "--json", cwd=tmp_path)
    assert (done.code, done.json["ok"]) == (1, False)
    [failed] = [one for one in done.json["checks"] if one["state"] == "fail"]
    assert failed["name"] == name
    assert said in failed["said"] and remedy in failed["remedy"]


def test_doctor_warns_of_an_empty_project(tmp_path: Path) -> None:
    done = handrail("doctor", cwd=tmp_path)
    assert done.code == 0
    assert 'warn\tsettings\tno handrail.toml here or above\twrite one: tools = ["shop.tools"]\n' in done.out
    assert "warn\ttools\tnone\tmake one: handrail new tool notes.search\n" in done.out


def test_doctor_fits_forty_columns(tmp_path: Path) -> None:
    terminal = Terminal("doctor", cwd=tmp_path, columns=40, NO_COLOR="1")
    assert terminal.end() == 0
    assert max(len(line) for line in terminal.shown.split("\n") if "/" not in line) <= 40


def test_doctor_at_a_terminal_knows_its_width(tmp_path: Path) -> None:
    terminal = Terminal("doctor", cwd=tmp_path, columns=90, NO_COLOR="1")
    assert terminal.end() == 0
    assert "ok    terminal         90 columns, no colours" in terminal.shown
    assert "findings" in terminal.shown
