"""The root of the command line: help, version, what it loads, completion."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from inline_snapshot import snapshot

import handrail as package
from handrail.doors.cli.commands import COMMANDS, CommandEntry, LazyCommand
from handrail.doors.cli.exit_codes import ExitCode
from handrail.doors.cli.flags import COMMAND_OPTIONS
from tests.acceptance.command_line import SHOP, environment, handrail

HEAVY = [
    "pydantic",
    "rich",
    "asyncio",
    "handrail.core.define.tool",
    "handrail.engine.handrail",
    "handrail.settings",
]


def entries() -> Iterator[tuple[str, CommandEntry]]:
    for name, entry in COMMANDS.items():
        yield from [(name, entry)] if isinstance(entry, CommandEntry) else entry[1].items()


def test_help_names_every_command_and_every_exit_code(tmp_path: Path) -> None:
    done = handrail("--help", cwd=tmp_path, COLUMNS="80")
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot("""\
Usage: handrail [OPTIONS] COMMAND [ARGS]...

  One tool definition, safe in every hand.

Options:
  --version             Say which version this is.
  --install-completion  Install completion for the current shell.
  --show-completion     Show completion for the current shell, to copy it or
                        customize the installation.
  --help                Show this message and exit.

Commands:
  tools        List the tools that you or an agent may use.
  show         Show everything about one tool.
  run          Run a tool, with flags made from its schema.
  policy       Ask what the guard would say.
  plan         See, run or discard what plan mode holds back.
  approvals    See and answer what waits for a person.
  runs         See which calls ran, and how they ended.
  undo         Take back what a call did.
  events       Show what happened, oldest first.
  verify-log   Check that nobody changed the record of what happened.
  dlq          See, replay and purge calls that failed.
  serve        Serve the tools to programs and agents: REST under /api, MCP
               under /mcp.
  sign-in      Make a link by which a person signs in, once.
  worker       Run what waits in the database: approved, submitted and
               scheduled calls.
  tenants      Look after the tenants of a database.
  keys         Look after the API keys of a tenant.
  secrets      Look after what tools are told in confidence.
  db           Look after the database.
  conformance  Check how well tools are written.
  new          Write something new from a template.
  mcp          Serve tools by MCP, and use those of other servers.
  doctor       Check the set-up, and say what to do.

  Exit codes: 0 done, 1 failed, 2 used wrongly, 3 refused, 4 needs a person, 5
  rejected by a person, 6 nobody knows whether it happened, 130 cancelled, 141
  nobody read the output.
""")
    words = " ".join(done.out.split())
    assert all(f"{code.value} {code.meaning}" in words for code in ExitCode)


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_what_needs_no_tools_loads_nothing_heavy(tmp_path: Path, words: list[str]) -> None:
    program = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print('LOADED', *[name for name in {HEAVY} if name in sys.modules]))\n"
        f"sys.argv = ['handrail', *{words}]\n"
        "from handrail.app import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split("LOADED")[1].split() == []


@pytest.mark.parametrize(("name", "entry"), list(entries()), ids=str)
def test_the_sentence_on_a_command_is_the_one_it_says_itself(name: str, entry: CommandEntry) -> None:
    command = getattr(import_module(f"handrail.doors.cli.{entry.module}"), entry.function)
    assert inspect.getdoc(command).split("\n")[0] == entry.summary  # type: ignore[union-attr]
    ctx = LazyCommand(name, entry).make_context(name, [], resilient_parsing=True)
    assert ctx.command.name == name


def test_the_options_of_run_are_the_names_that_parameters_leave_to_it() -> None:
    run = COMMANDS["run"]
    assert isinstance(run, CommandEntry)
    ctx = LazyCommand("run", run).make_context("run", [], resilient_parsing=True)
    options = {
        name.removeprefix("--") for one in ctx.command.params for name in one.opts if name.startswith("--")
    }
    assert options | {"help"} == COMMAND_OPTIONS


def test_version_names_handrail_and_python(tmp_path: Path) -> None:
    done = handrail("--version", cwd=tmp_path)
    assert re.fullmatch(rf"handrail {re.escape(package.__version__)}, Python 3\.\d+\.\d+\S*\n", done.out)


def test_without_a_command_it_shows_the_help_and_says_that_it_was_used_wrongly(tmp_path: Path) -> None:
    done = handrail(cwd=tmp_path)
    assert done.code == 2
    assert "Commands:" in done.out + done.err


def test_a_command_that_does_not_exist_names_the_nearest(tmp_path: Path) -> None:
    done = handrail("tolls", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "No such command 'tolls'. Did you mean 'tools'?" in done.err


@pytest.mark.parametrize(
    "words", [["tools"], ["show"], ["run"], ["policy", "explain"], ["new", "tool"], ["doctor"]]
)
def test_every_command_has_help_that_needs_no_tools(tmp_path: Path, words: list[str]) -> None:
    done = handrail(*words, "--help", cwd=tmp_path, HANDRAIL_TOOLS="no.such.module")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: handrail {' '.join(words)} [OPTIONS]")


def test_the_installed_command_is_the_same() -> None:
    scripts = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert '[project.scripts]\nhandrail = "handrail.app:main"\n' in scripts


def test_names_of_tools_are_completed(tmp_path: Path) -> None:
    asked = environment(
        HANDRAIL_TOOLS=SHOP,
        _HANDRAIL_COMPLETE="complete_bash",
        _TYPER_COMPLETE_ARGS="handrail run stock.c",
        COMP_WORDS="handrail run stock.c",
        COMP_CWORD="2",
    )
    done = subprocess.run(
        [sys.executable, "-m", "handrail"],
        cwd=tmp_path,
        env=asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["stock.count"]


def test_closed_standard_streams_do_no_harm(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m handrail tools >&- 2>&- <&-"
    env = environment(HANDRAIL_TOOLS=SHOP)
    assert os.spawnve(os.P_WAIT, "/bin/sh", ["sh", "-c", command], env) == 0
