"""handrail tools: what there is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from handrail.core.define.permission import LEVELS
from handrail.core.define.tool import Tool
from handrail.doors.cli.exits import Stop
from handrail.doors.cli.opening import HOW_TO_FILL, Opened, no_tools_in, open_for
from handrail.doors.cli.options import As, Debug, Json, Tools
from handrail.doors.cli.screen import Side, screen
from handrail.doors.visible import one_line

_HOW_TO_START = """\
Make one:   handrail new tool notes.search
Then:       handrail tools --tools notes_search.py
Or name it in handrail.toml, which every command reads:   tools = ["notes_search.py"]
Files, search and a shell for agents take one line there, too:   workspace = "." """


def command(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="What you look for: only tools that fit these words, the best first."),
    ] = None,
    category: Annotated[
        str | None, typer.Option("--category", metavar="name", help="Only tools under this heading.")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="level", help=f"Only one of {', '.join(LEVELS)}."),
    ] = None,
    json: Json = False,
    tools: Tools = None,
    as_: As = None,
    debug: Debug = False,
) -> None:
    """List the tools that you or an agent may use."""
    with screen(debug) as here:
        if level is not None and level not in LEVELS:
            raise Stop(f"{level!r} is no level", f"use one of: {', '.join(LEVELS)}")
        opened = open_for(ctx, tools, as_)
        every, fitting = opened.run(_found(opened, " ".join(words or ())))
        found = [
            tool for tool in fitting if category in (None, tool.category) and level in (None, tool.level)
        ]
        if json:
            here.out.json([as_json(tool) for tool in found])
        elif found:
            _show(here.out, found, ranked=bool(words))
        elif every:
            here.err.say(_none_fits(len(every)))
        else:
            here.err.say(_none_seen(opened))


def _none_fits(number: int) -> str:
    return "The only tool is not like that." if number == 1 else f"None of the {number} tools is like that."


def _none_seen(opened: Opened) -> str:
    """Why the list is empty: whoever acts may use none, the modules have none, or no module is named."""
    there = opened.hr.registry.list()
    if there:
        counted = "There is 1 tool" if len(there) == 1 else f"There are {len(there)} tools"
        none = "may not use it" if len(there) == 1 else "may use none of them"
        why = opened.command("policy", "explain", there[0].id)
        return f"{counted}, but {opened.acting.caller} {none}.\nSee why: {why}"
    if opened.modules:
        said = f"{no_tools_in(opened.modules)}; {HOW_TO_FILL}."
        return said[0].upper() + said[1:]
    if opened.hr.toolsets:
        tenant = opened.acting.principal.tenant
        return f"There are no tools for the tenant {tenant}.\nSee why: handrail doctor"
    return f"There are no tools yet.\n{_HOW_TO_START.rstrip()}"


async def _found(opened: Opened, words: str) -> tuple[list[Tool], list[Tool]]:
    """All that may be used, and what of it fits the words."""
    every = await opened.tools()
    return every, await opened.search(words, len(every)) if words and every else every


def as_json(tool: Tool) -> dict[str, Any]:
    """What a list tells of a tool."""
    return {
        "id": tool.id,
        "name": tool.name,
        "description": tool.description,
        "category": tool.category,
        "level": tool.level,
        "danger": tool.danger,
        "aliases": list(tool.aliases),
    }


def _show(out: Side, tools: list[Tool], ranked: bool) -> None:
    if out.for_people:
        from handrail.doors.cli.listing import draw_tools  # a pipe needs nothing of rich

        draw_tools(out, tools, ranked)
        return
    for tool in tools:
        out.line("\t".join((tool.id, tool.level, one_line(tool.description))))
