"""handrail tools, show: what there is, and everything about one tool."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from handrail.core.define.levels import LEVELS
from handrail.core.define.tool import Tool
from handrail.doors.cli.arguments import format_arguments
from handrail.doors.cli.context import (
    NO_TOOLS_REMEDY,
    CommandContext,
    complete_tool_name,
    no_tools_message,
    open_context,
)
from handrail.doors.cli.exit_codes import CommandError
from handrail.doors.cli.flags import MISSING, Flag, Flags, flags_of
from handrail.doors.cli.options import As, Debug, Json, Tools
from handrail.doors.cli.screen import OutputStream, open_screen
from handrail.platform.display_text import one_line, visible_json

_HOW_TO_START = """\
Make one:   handrail new tool notes.search
Then:       handrail tools --tools notes_search.py
Or name it in handrail.toml, which every command reads:   tools = ["notes_search.py"]
Files, search and a shell for agents take one line there, too:   workspace = "." """


def list_tools(
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
    with open_screen(debug) as screen:
        if level is not None and level not in LEVELS:
            raise CommandError(f"{level!r} is no level", f"use one of: {', '.join(LEVELS)}")
        context = open_context(ctx, tools, as_)
        every, fitting = context.run(_visible_and_matching(context, " ".join(words or ())))
        found = [
            tool for tool in fitting if category in (None, tool.category) and level in (None, tool.level)
        ]
        if json:
            screen.out.json([tool_json(tool) for tool in found])
        elif found:
            _show_list(screen.out, found, ranked=bool(words))
        elif every:
            screen.err.say(_none_fits(len(every)))
        else:
            screen.err.say(_none_seen(context))


def _none_fits(number: int) -> str:
    return "The only tool is not like that." if number == 1 else f"None of the {number} tools is like that."


def _none_seen(context: CommandContext) -> str:
    """Why the list is empty: whoever acts may use none, the modules have none, or no module is named."""
    there = context.hr.registry.list()
    if there:
        counted = "There is 1 tool" if len(there) == 1 else f"There are {len(there)} tools"
        none = "may not use it" if len(there) == 1 else "may use none of them"
        why = context.command("policy", "explain", there[0].id)
        return f"{counted}, but {context.actor.caller} {none}.\nSee why: {why}"
    if context.modules:
        said = f"{no_tools_message(context.modules)}; {NO_TOOLS_REMEDY}."
        return said[0].upper() + said[1:]
    if context.hr.toolsets:
        tenant = context.actor.principal.tenant
        return f"There are no tools for the tenant {tenant}.\nSee why: handrail doctor"
    return f"There are no tools yet.\n{_HOW_TO_START.rstrip()}"


async def _visible_and_matching(context: CommandContext, words: str) -> tuple[list[Tool], list[Tool]]:
    """All that may be used, and what of it fits the words."""
    every = await context.tools()
    return every, await context.search(words, len(every)) if words and every else every


def tool_json(tool: Tool) -> dict[str, Any]:
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


def _show_list(out: OutputStream, tools: list[Tool], ranked: bool) -> None:
    if out.is_terminal:
        from handrail.doors.cli.render import draw_tools  # a pipe needs nothing of rich

        draw_tools(out, tools, ranked)
        return
    for tool in tools:
        out.line("\t".join((tool.id, tool.level, one_line(tool.description))))


def show_tool(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="The tool: its id, an alias, its slug or wire name.", autocompletion=complete_tool_name
        ),
    ],
    json: Json = False,
    tools: Tools = None,
    as_: As = None,
    debug: Debug = False,
) -> None:
    """Show everything about one tool."""
    with open_screen(debug) as screen:
        context = open_context(ctx, tools, as_)
        tool = context.run(context.need(name))
        if json:
            screen.out.json(_full_json(tool))
            return
        _show_facts(screen.out, tool)
        show_flags(screen.out, flags_of(tool, name), tool)


def _full_json(tool: Tool) -> dict[str, Any]:
    return tool_json(tool) | {
        "slug": tool.slug,
        "guidance": tool.guidance,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "policy": tool.policy,
        "requires": tool.requires,
        "capabilities": sorted(tool.capabilities),
        "optional_capabilities": sorted(tool.optional_capabilities),
        "tenants": sorted(tool.tenants),
        "timeout": tool.timeout,
        "idempotent": tool.idempotent,
        "isolation": tool.isolation,
        "origin": tool.origin,
        "digest": tool.digest,
        "place": None if tool.location is None else str(tool.location),
        "example": example(tool, flags_of(tool)),
    }


def _show_facts(out: OutputStream, tool: Tool) -> None:
    out.say(tool.id, "bold")
    out.say(tool.description)
    if tool.guidance:
        out.say(f"\n{tool.guidance}")
    out.say()
    by_call = "at most; it depends on the arguments"
    facts = {
        "level": f"{tool.level} ({by_call})" if tool.level_of_call or tool.danger_of_call else tool.level,
        "danger": f"{tool.danger} ({by_call})" if tool.danger_of_call else tool.danger,
        "policy": "always_ask (no agent runs it without a yes)" if tool.policy != "auto" else "auto",
        "aliases": ", ".join(tool.aliases),
        "requires": tool.requires,
        "capabilities": ", ".join(sorted(tool.capabilities)),
        "tenants": ", ".join(sorted(tool.tenants)),
        "timeout": None if tool.timeout is None else f"{tool.timeout:g} s",
        "runs in": "a process of its own" if tool.isolation else None,
        "written in": None if tool.location is None else str(tool.location),
    }
    for name, fact in facts.items():
        if fact:
            out.say(f"{name:<12}  {fact}")
    out.say()


def show_flags(out: OutputStream, flags: Flags, tool: Tool) -> None:
    """The parameters of a tool as flags, with an example."""
    if not flags.all:
        out.say("It takes no parameters.")
    elif out.is_terminal:
        from handrail.doors.cli.render import table

        rows = [
            (_flag_names(flag), flag.value_help, _need_of(flag), one_line(flag.description)) for flag in flags
        ]
        out.draw(table(("Flag", "Value", "Needed", "What it is"), rows, out.console))
    else:
        for flag in flags:
            out.say(
                "\t".join((_flag_names(flag), flag.value_help, _need_of(flag), one_line(flag.description)))
            )
    out.line(f"\nExample:  {example(tool, flags)}")


def _flag_names(flag: Flag) -> str:
    return f"--{flag.name}" if flag.negative is None else f"--{flag.name} / --{flag.negative}"


def _need_of(flag: Flag) -> str:
    if flag.required:
        return "required"
    if flag.default is MISSING or flag.default is None or flag.secret:
        return "optional"
    return f"default {visible_json(flag.default)}"


def example(tool: Tool, flags: Flags) -> str:
    """A command line with every parameter that is required, or of which the schema gives an example."""
    args = {flag.param: _sample(flag) for flag in flags if flag.required or flag.example is not MISSING}
    return shlex.join(["handrail", "run", tool.id, *format_arguments(args, flags)])


def _sample(flag: Flag) -> Any:
    values = flag.values
    if flag.example is not MISSING:
        one = flag.example
    elif values.choices:
        one = values.choices[0]
    else:
        one = next((sample for kind, sample in _SAMPLES.items() if kind in values.kinds), None)
    return [one] if flag.reading == "many" else one


_SAMPLES: dict[str, Any] = {
    "string": "TEXT",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
