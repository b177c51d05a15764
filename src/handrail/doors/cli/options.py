"""Options that several commands share, in the same words."""

from __future__ import annotations

from typing import Annotated

import typer

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
