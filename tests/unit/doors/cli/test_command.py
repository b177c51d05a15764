"""The decorator of commands: which options they take, what they open, and what becomes of their answer."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest

from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.options import SHARED_OPTIONS, option, switch

PROGRAM = '''
from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import Annotated

import typer

from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import option
from handrail.doors.cli.output import Answer


@contextmanager
def resource(cli, name):
    cli.screen.err.say(f"open {name}")
    try:
        yield name
    finally:
        cli.screen.err.say(f"close {name}")


async def current_loop():
    return id(asyncio.get_running_loop())


@command("json tenant")
def greet(cli: Invocation, name: Annotated[str, option("--name", "name", "Whom.")] = "Ada") -> Answer:
    """Greet somebody."""
    first, second = cli.open(resource(cli, "a")), cli.open(resource(cli, "b"))
    if name == "nobody":
        raise CommandError("there is nobody", "name somebody", ExitCode.REFUSED)
    same_loop = cli.run(current_loop()) == cli.run(current_loop())
    print("printed by somebody else")
    return Answer(
        {"name": name, "tenant": cli.settings.tenant, "same_loop": same_loop},
        f"Hello {name}",
        note="That was all.",
        code=ExitCode.WAITING,
    )


app = typer.Typer(add_completion=False)
app.command()(greet)
app()
'''


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    """The code, the output and the errors of the command above, in a process that may lose its streams."""
    file = folder / "program.py"
    file.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, file, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


def options_of(shared: str) -> list[str]:
    """The parameters that typer sees of a command with two options of its own."""

    @command(shared)
    def body(
        cli: Invocation,
        first: Annotated[str, option("--first", "text", "The first.")] = "",
        second: Annotated[bool, switch("--second", "The second.")] = False,
    ) -> None:
        """Do nothing."""

    return list(inspect.signature(body).parameters)


def test_shared_options_follow_those_of_the_command_and_debug_is_the_last() -> None:
    assert options_of("") == ["ctx", "first", "second", "debug"]
    assert options_of("json tenant") == ["ctx", "first", "second", "json", "tenant", "debug"]


def test_an_option_of_the_command_stands_where_the_order_names_it() -> None:
    assert options_of("json second tools") == ["ctx", "first", "json", "second", "tools", "debug"]


def test_a_shared_option_that_does_not_exist_is_a_mistake_of_whoever_writes_the_command() -> None:
    with pytest.raises(KeyError, match="tenants"):
        options_of("json tenants")


def test_every_shared_option_is_off_or_unset_by_default() -> None:
    assert {default for _, default in SHARED_OPTIONS.values()} == {None, False}


def test_an_answer_is_one_document_or_a_text_with_its_note_and_always_the_exit_code(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "--json", "--tenant", "acme")
    assert (code, json.loads(out)) == (4, {"name": "Ada", "tenant": "acme", "same_loop": True})
    assert "That was all." not in err
    code, out, err = run(tmp_path, "--name", "Bob")
    assert (code, out) == (4, "Hello Bob\n")
    assert err.splitlines() == [
        "open a",
        "open b",
        "printed by somebody else",
        "That was all.",
        "close b",
        "close a",
    ]


def test_what_a_command_opened_is_closed_when_it_stops_with_an_error(tmp_path: Path) -> None:
    code, out, err = run(tmp_path, "--name", "nobody")
    assert (code, out) == (3, "")
    assert err.splitlines() == [
        "open a",
        "open b",
        "close b",
        "close a",
        "error: there is nobody",
        "  name somebody",
    ]
