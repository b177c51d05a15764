"""Options that several commands share, in the same words, and durations as people write them."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from handrail.doors.cli.exit_codes import CommandError

Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="module",
        help="Where the tools are: a module, a package or a .py file. May be repeated. "
        "Without it handrail.toml says.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]

As = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="agent[:name]",
        help="Act as automation, and not as the person at the terminal.",
        show_default=False,
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks and what the library logs.")]

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="url",
        help="The database: sqlite:///FILE or postgresql://HOST/NAME. Without it handrail.toml says.",
        show_default=False,
    ),
]

Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant", metavar="slug", help="Whose data. Without it handrail.toml says.", show_default=False
    ),
]

User = Annotated[
    str | None,
    typer.Option(
        "--user", metavar="name", help="Who you are. Without it handrail.toml says.", show_default=False
    ),
]


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw])\Z", re.ASCII)


def parse_duration(text: str, option: str) -> float:
    """The seconds that a span means, or a stop that says how to write one."""
    found = _DURATION.match(text.strip())
    if found is None or float(found[1]) == 0:
        raise CommandError(f"{option} {text!r} is no span of time", "write 45s, 10m, 12h, 30d or 2w")
    return float(found[1]) * _UNITS[found[2]]
