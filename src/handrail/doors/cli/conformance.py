"""handrail conformance: are these tools written as they should be?"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handrail.doors.cli.context import NO_TOOLS_REMEDY, no_tools_message
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.load_tools import load_tools
from handrail.doors.cli.options import Debug, Json
from handrail.doors.cli.screen import OutputStream, open_screen
from handrail.settings import load_settings

if TYPE_CHECKING:
    from handrail.conformance import Finding


def command(
    modules: Annotated[
        list[str] | None,
        typer.Argument(help="Modules, packages or .py files; without any, handrail.toml says."),
    ] = None,
    json: Json = False,
    strict: Annotated[bool, typer.Option("--strict", help="Let warnings fail it too.")] = False,
    debug: Debug = False,
) -> None:
    """Check how well tools are written."""
    from handrail.conformance import check_ready  # its rules load when they are asked for

    with open_screen(debug) as screen:
        settings = load_settings()
        names, folder = (modules, Path.cwd()) if modules else (settings.tools, settings.folder)
        if not names:
            raise CommandError("which tools?", "name a module: handrail conformance shop.tools")
        tools = load_tools(names, folder)
        if not tools:
            raise CommandError(no_tools_message(names), NO_TOOLS_REMEDY)
        findings = asyncio.run(check_ready(tools))
        errors = sum(finding.level == "error" for finding in findings)
        counts = {"tools": len(tools), "errors": errors, "warnings": len(findings) - errors}
        if json:
            screen.out.json(counts | {"findings": [finding_json(finding) for finding in findings]})
        else:
            _show(screen.out, findings)
            screen.err.say(", ".join(_counted(number, what) for what, number in counts.items()))
        if errors or (strict and findings):
            raise typer.Exit(ExitCode.FAILED)


def finding_json(finding: Finding) -> dict[str, str | None]:
    return {
        "tool": finding.tool,
        "rule": finding.rule,
        "level": finding.level,
        "message": finding.message,
        "remedy": finding.remedy,
        "where": finding.where,
    }


def _show(out: OutputStream, findings: list[Finding]) -> None:
    """A line for each in a pipe; for people with the remedy under it."""
    for finding in findings:
        place = finding.where or finding.tool
        if not out.is_terminal:
            words = (finding.level, finding.tool, finding.rule, place, finding.message, finding.remedy)
            out.say("\t".join(" ".join(word.split()) for word in words))
            continue
        style = "red" if finding.level == "error" else "yellow"
        out.say(f"{finding.level} {finding.tool} [{finding.rule}]", style)
        out.say(f"  {finding.message}\n  remedy: {finding.remedy}\n  {place}\n")


def _counted(number: int, what: str) -> str:
    return f"{number} {what if number != 1 else what.removesuffix('s')}"
