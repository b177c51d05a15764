"""Options that several commands share, in the same words, and values as people write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from handrail.doors.cli.exit_codes import CommandError

T = TypeVar("T", bound=str)


def option(name: str, metavar: str, help: str) -> Any:
    """An option with a value, for the annotation of a parameter."""
    return typer.Option(name, metavar=metavar, help=help)


def switch(name: str, help: str) -> Any:
    """An option without a value, which is off where it is not given."""
    return typer.Option(name, help=help)


As = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="agent[:name]",
        help="Act as automation, and not as the person at the terminal.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True)
class SharedOptions:
    """Options that commands share; one that a command does not take has its default."""

    json: Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")] = False
    as_: As = None
    database: Annotated[
        str | None,
        typer.Option(
            "--database",
            metavar="url",
            help="The database: sqlite:///FILE or postgresql://HOST/NAME. Without it handrail.toml says.",
        ),
    ] = None
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", metavar="slug", help="Whose data. Without it handrail.toml says."),
    ] = None
    user: Annotated[
        str | None, typer.Option("--user", metavar="name", help="Who you are. Without it handrail.toml says.")
    ] = None
    tools: Annotated[
        list[str] | None,
        typer.Option(
            "--tools",
            metavar="module",
            help="Where the tools are: a module, a package or a .py file. May be repeated. "
            "Without it handrail.toml says.",
        ),
    ] = None
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks and what the library logs.")] = False

    @property
    def about_database(self) -> list[str]:
        """The words that name the same database, tenant and user, for another command about the same."""
        words = (("--database", self.database), ("--tenant", self.tenant), ("--user", self.user))
        return [word for option, value in words if value is not None for word in (option, value)]


_ANNOTATIONS = get_type_hints(SharedOptions, include_extras=True)
SHARED_OPTIONS: dict[str, tuple[Any, Any]] = {
    option.name: (_ANNOTATIONS[option.name], option.default) for option in fields(SharedOptions)
}
"""The annotation and the default of each, as typer reads them."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw])\Z", re.ASCII)


def parse_duration(text: str, option: str) -> float:
    """The seconds that a span means, or a stop that says how to write one."""
    match = _DURATION.match(text.strip())
    if match is None or float(match[1]) == 0:
        raise CommandError(f"{option} {text!r} is no span of time", "write 45s, 10m, 12h, 30d or 2w")
    return float(match[1]) * _UNITS[match[2]]


def parse_choice(text: str, choices: Sequence[T], problem: str) -> T:
    """The choice that a text names, or a stop with the problem and the choices."""
    for choice in choices:
        if choice == text:
            return choice
    raise CommandError(problem, f"use one of: {', '.join(choices)}")
