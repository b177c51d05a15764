"""handrail new tool: a tool, its description file and its test, from the template."""

from __future__ import annotations

import keyword
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from handrail.core.define.names import MAX_NAME, is_name, words
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.load_tools import packages_of
from handrail.doors.cli.options import option, parse_choice, switch

_TEMPLATES = Path(__file__).parent / "templates"
STYLES = ("function", "class", "definition", "parameters", "schema")
_RULE = f"use letters, digits, _ and -, and dots between words, at most {MAX_NAME} characters"


@command()
def create_tool(
    cli: Invocation,
    name: Annotated[str, typer.Argument(help="What the tool is called, such as notes.search.")],
    path: Annotated[Path, option("--path", "folder", "Where to write.")] = Path(),
    style: Annotated[str, option("--style", "style", f"One of {', '.join(STYLES)}.")] = "function",
    force: Annotated[bool, switch("--force", "Overwrite files that are there.")] = False,
) -> None:
    """Write a tool, its description file and its test."""
    new = new_tool(name, path)
    parse_choice(style, STYLES, f"{style!r} is no style")
    files = new.files(style)
    if not force and (existing := [str(file) for file in files if file.exists()]):
        raise CommandError(
            f"already there: {', '.join(existing)}", "choose another name, or overwrite with --force"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(
            f"{error.filename} cannot be written ({error.strerror})", "check the path"
        ) from None
    out, err = cli.screen.out, cli.screen.err
    for file in files:
        out.say(str(file))
    out.flush()
    err.line(f"Try it:   handrail run {name} --tools {path / new.module}.py --name Ada")
    err.line(f"Test it:  pytest {path / f'test_{new.module}.py'}")


@dataclass(frozen=True, slots=True)
class NewTool:
    """A tool to be written."""

    id: str
    folder: Path
    module: str
    """The name of its file."""

    def files(self, style: str) -> dict[Path, str]:
        """The files and their texts."""
        function = self.module
        class_name = "".join(word[:1].upper() + word[1:] for word in function.split("_"))
        subject = class_name if style == "class" else function
        facts = {
            "id": self.id,
            "function": function,
            "class_name": class_name,
            "module": ".".join((*packages_of(self.folder.resolve()), self.module)),
            "subject": subject,
            "tool": f"{subject}.tool()" if style == "class" else subject,
        }
        return {
            self.folder / name: _fill_template(template, facts)
            for name, template in (
                (f"{self.module}.py", f"{style}.py.txt"),
                (f"{self.id}.txt", "description.txt"),
                (f"test_{self.module}.py", "test.py.txt"),
            )
        }


def new_tool(name: str, folder: Path) -> NewTool:
    """What to write for a name; a name that no tool can have is refused with one that it could."""
    if not is_name(name):
        better = re.sub(r"\W+", "_", "_".join(words(name)), flags=re.ASCII).strip("_").lower()
        hint = f"; perhaps {better}" if is_name(better) else ""
        raise CommandError(f"{name!r} is not a name a tool can have", f"{_RULE}{hint}")
    module = "_".join(word.lower() for word in words(name))
    if not module.isidentifier() or keyword.iskeyword(module) or module in _RESERVED_MODULES:
        module = f"{module}_tool" if module[:1].isalpha() else f"tool_{module}"
    return NewTool(name, folder, module)


_RESERVED_MODULES = {*sys.stdlib_module_names, "handrail", "pydantic", "pytest"}
"""Modules that a file of the same name would hide."""


def _fill_template(template: str, facts: dict[str, str]) -> str:
    return Template((_TEMPLATES / template).read_text(encoding="utf-8")).substitute(facts)
