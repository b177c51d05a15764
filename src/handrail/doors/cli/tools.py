"""handrail tools, show: what there is, and everything about one tool."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from handrail.core.define.levels import LEVELS
from handrail.core.define.tool import Tool
from handrail.doors.cli.arguments import format_arguments
from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import NO_TOOLS_REMEDY, CommandContext, complete_tool_name, no_tools_message
from handrail.doors.cli.flags import MISSING, Flag, Flags, flags_of
from handrail.doors.cli.options import option, parse_choice
from handrail.doors.cli.output import Answer
from handrail.doors.cli.screen import OutputStream, Screen
from handrail.platform.display_text import one_line, visible_json

_HOW_TO_START = """\
Make one:   handrail new tool notes.search
Then:       handrail tools --tools notes_search.py
Or name it in handrail.toml, which every command reads:   tools = ["notes_search.py"]
Files, search and a shell for agents take one line there, too:   workspace = "." """


@command("json tools as_")
def list_tools(
    cli: Invocation,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="What you look for: only tools that fit these words, the best first."),
    ] = None,
    category: Annotated[str | None, option("--category", "name", "Only tools under this heading.")] = None,
    level: Annotated[str | None, option("--level", "level", f"Only one of {', '.join(LEVELS)}.")] = None,
) -> Answer:
    """List the tools that you or an agent may use."""
    if level is not None:
        parse_choice(level, LEVELS, f"{level!r} is no level")
    context = cli.with_tools()
    every = cli.run(context.visible_tools())
    fitting = cli.run(context.search(" ".join(words), len(every))) if words and every else every
    tools = [tool for tool in fitting if category in (None, tool.category) and level in (None, tool.level)]

    def show(screen: Screen) -> None:
        if tools:
            _show_list(screen.out, tools, ranked=bool(words))
        else:
            screen.err.say(_none_fits(len(every)) if every else _none_seen(context))

    return Answer([tool_json(tool) for tool in tools], show)


def _none_fits(number: int) -> str:
    return "The only tool is not like that." if number == 1 else f"None of the {number} tools is like that."


def _none_seen(context: CommandContext) -> str:
    """Why the list is empty: whoever acts may use none, the modules have none, or no module is named."""
    hidden = context.hr.registry.list()
    if hidden:
        counted = "There is 1 tool" if len(hidden) == 1 else f"There are {len(hidden)} tools"
        none = "may not use it" if len(hidden) == 1 else "may use none of them"
        why = context.command("policy", "explain", hidden[0].id)
        return f"{counted}, but {context.actor.caller} {none}.\nSee why: {why}"
    if context.modules:
        sentence = f"{no_tools_message(context.modules)}; {NO_TOOLS_REMEDY}."
        return sentence[0].upper() + sentence[1:]
    if context.hr.toolsets:
        tenant = context.actor.principal.tenant
        return f"There are no tools for the tenant {tenant}.\nSee why: handrail doctor"
    return f"There are no tools yet.\n{_HOW_TO_START.rstrip()}"


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


@command("json tools as_")
def show_tool(
    cli: Invocation,
    name: Annotated[
        str,
        typer.Argument(
            help="The tool: its id, an alias, its slug or wire name.", autocompletion=complete_tool_name
        ),
    ],
) -> Answer:
    """Show everything about one tool."""
    tool = cli.run(cli.with_tools().need(name))

    def show(screen: Screen) -> None:
        _show_facts(screen.out, tool)
        show_flags(screen.out, flags_of(tool, name), tool)

    return Answer(_full_json(tool), show)


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

        out.draw(table(("Flag", "Value", "Needed", "What it is"), map(_flag_cells, flags), out.console))
    else:
        for flag in flags:
            out.say("\t".join(_flag_cells(flag)))
    out.line(f"\nExample:  {example(tool, flags)}")


def _flag_cells(flag: Flag) -> tuple[str, ...]:
    names = f"--{flag.name}" if flag.negative is None else f"--{flag.name} / --{flag.negative}"
    return names, flag.value_help, _need_of(flag), one_line(flag.description)


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
        value = flag.example
    elif values.choices:
        value = values.choices[0]
    else:
        value = next((sample for kind, sample in _SAMPLES.items() if kind in values.kinds), None)
    return [value] if flag.reading == "many" else value


_SAMPLES: dict[str, Any] = {
    "string": "TEXT",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
