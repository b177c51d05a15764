"""handrail show: everything about one tool."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from handrail.core.define.tool import Tool
from handrail.doors.cli.flags import MISSING, Flag, Flags, flags_of
from handrail.doors.cli.opening import complete, open_for
from handrail.doors.cli.options import As, Debug, Json, Tools
from handrail.doors.cli.screen import Side, screen
from handrail.doors.cli.spelling import write_arguments
from handrail.doors.cli.tools import as_json
from handrail.doors.visible import exact, one_line


def command(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(help="The tool: its id, an alias, its slug or wire name.", autocompletion=complete),
    ],
    json: Json = False,
    tools: Tools = None,
    as_: As = None,
    debug: Debug = False,
) -> None:
    """Show everything about one tool."""
    with screen(debug) as here:
        opened = open_for(ctx, tools, as_)
        tool = opened.run(opened.need(name))
        if json:
            here.out.json(_whole(tool))
            return
        _facts(here.out, tool)
        show_flags(here.out, flags_of(tool, name), tool)


def _whole(tool: Tool) -> dict[str, Any]:
    return as_json(tool) | {
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
        "place": None if tool.place is None else str(tool.place),
        "example": example(tool, flags_of(tool)),
    }


def _facts(out: Side, tool: Tool) -> None:
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
        "written in": None if tool.place is None else str(tool.place),
    }
    for name, fact in facts.items():
        if fact:
            out.say(f"{name:<12}  {fact}")
    out.say()


def show_flags(out: Side, flags: Flags, tool: Tool) -> None:
    """The parameters of a tool as flags, with an example."""
    if not flags.all:
        out.say("It takes no parameters.")
    elif out.for_people:
        from handrail.doors.cli.draw import table

        rows = [(_spelled(flag), flag.wanted, _need(flag), one_line(flag.description)) for flag in flags]
        out.draw(table(("Flag", "Value", "Needed", "What it is"), rows, out.console))
    else:
        for flag in flags:
            out.say("\t".join((_spelled(flag), flag.wanted, _need(flag), one_line(flag.description))))
    out.line(f"\nExample:  {example(tool, flags)}")


def _spelled(flag: Flag) -> str:
    return f"--{flag.name}" if flag.negative is None else f"--{flag.name} / --{flag.negative}"


def _need(flag: Flag) -> str:
    if flag.required:
        return "required"
    if flag.default is MISSING or flag.default is None or flag.secret:
        return "optional"
    return f"default {exact(flag.default)}"


def example(tool: Tool, flags: Flags) -> str:
    """A command line with every parameter that is required, or of which the schema gives an example."""
    args = {flag.param: _sample(flag) for flag in flags if flag.required or flag.example is not MISSING}
    return shlex.join(["handrail", "run", tool.id, *write_arguments(args, flags)])


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
