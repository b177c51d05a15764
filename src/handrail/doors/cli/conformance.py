"""handrail conformance: are these tools written as they should be?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import NO_TOOLS_REMEDY, no_tools_message
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.load_tools import load_tools
from handrail.doors.cli.options import switch
from handrail.doors.cli.output import Answer
from handrail.doors.cli.screen import OutputStream

if TYPE_CHECKING:
    from handrail.conformance import Finding


@command("json strict")
def check_tools(
    cli: Invocation,
    modules: Annotated[
        list[str] | None,
        typer.Argument(help="Modules, packages or .py files; without any, handrail.toml says."),
    ] = None,
    strict: Annotated[bool, switch("--strict", "Let warnings fail it too.")] = False,
) -> Answer:
    """Check how well tools are written."""
    from handrail.conformance import check_ready  # its rules load when they are asked for

    settings = cli.settings
    names, folder = (modules, Path.cwd()) if modules else (settings.tools, settings.folder)
    if not names:
        raise CommandError("which tools?", "name a module: handrail conformance shop.tools")
    tools = load_tools(names, folder)
    if not tools:
        raise CommandError(no_tools_message(names), NO_TOOLS_REMEDY)
    findings = cli.run(check_ready(tools))
    errors = sum(finding.level == "error" for finding in findings)
    counts = {"tools": len(tools), "errors": errors, "warnings": len(findings) - errors}
    return Answer(
        counts | {"findings": [asdict(finding) for finding in findings]},
        lambda screen: _show(screen.out, findings),
        note=", ".join(_counted(number, what) for what, number in counts.items()),
        code=ExitCode.FAILED if errors or (strict and findings) else ExitCode.DONE,
    )


def _show(out: OutputStream, findings: list[Finding]) -> None:
    """A line for each in a pipe; for people with the remedy under it."""
    for finding in findings:
        where = finding.where or finding.tool
        if not out.is_terminal:
            words = (finding.level, finding.tool, finding.rule, where, finding.message, finding.remedy)
            out.say("\t".join(" ".join(word.split()) for word in words))
            continue
        style = "red" if finding.level == "error" else "yellow"
        out.say(f"{finding.level} {finding.tool} [{finding.rule}]", style)
        out.say(f"  {finding.message}\n  remedy: {finding.remedy}\n  {where}\n")


def _counted(number: int, what: str) -> str:
    return f"{number} {what if number != 1 else what.removesuffix('s')}"
