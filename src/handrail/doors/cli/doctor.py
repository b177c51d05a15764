"""handrail doctor: is everything here as it should be?"""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace

import typer

from handrail.doors.cli.checks import Check, State, tried, version_of
from handrail.doors.cli.exits import Exit
from handrail.doors.cli.opening import Opener, tools_of
from handrail.doors.cli.options import Debug, Json, Tools
from handrail.doors.cli.screen import Screen, Side, screen
from handrail.doors.cli.stored import database_at
from handrail.doors.cli.workspace_checks import workspace_checks
from handrail.settings import FILE, Settings, load_settings

_STYLES: dict[State, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
_OLDEST = (3, 11)
_NEEDED = ("handrail", "pydantic", "jsonschema-rs", "typer", "rich")
_EXTRAS = {
    "store": "dbos",
    "postgres": "psycopg",
    "server": "fastapi",
    "mcp": "mcp",
    "workspace": "tree-sitter-bash",
    "syntax": "tree-sitter-typescript",
    "otel": "opentelemetry-api",
    "yaml": "pyyaml",
}
"""Of each extra a package that nothing else brings."""
_NARROW = 40


def command(ctx: typer.Context, json: Json = False, tools: Tools = None, debug: Debug = False) -> None:
    """Check the set-up, and say what to do."""
    with screen(debug) as here:
        checks = [_python(), *_packages(), *_extras(), *_project(tools, ctx.obj), _terminal(here)]
        failed = any(one.state == "fail" for one in checks)
        if json:
            here.out.json({"ok": not failed, "checks": [asdict(one) for one in checks]})
        else:
            _show(here.out, checks)
        if failed:
            raise typer.Exit(Exit.FAILED)


def _show(out: Side, checks: list[Check]) -> None:
    width = max(len(one.name) for one in checks)
    for one in checks:
        if out.for_people:
            out.say(f"{one.state:<4}  {one.name:<{width}}  {one.said}", _STYLES[one.state])
            if one.remedy:
                out.say(f"      {one.remedy}")
        else:
            out.say("\t".join((one.state, one.name, one.said, one.remedy or "")))


def _python() -> Check:
    said = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= _OLDEST:
        return Check("python", "ok", said)
    return Check("python", "fail", said, "use Python {}.{} or newer".format(*_OLDEST))


def _packages() -> Iterator[Check]:
    for name in _NEEDED:
        version = version_of(name)
        if version is None:
            yield Check(name, "fail", "not installed", "install handrail again: pip install handrail")
        else:
            yield Check(name, "ok", version)


def _extras() -> Iterator[Check]:
    for extra, package in _EXTRAS.items():
        version = version_of(package)
        said = "not installed" if version is None else f"{package} {version}"
        remedy = f"only if you need it: pip install 'handrail[{extra}]'" if version is None else None
        yield Check(f"extra {extra}", "ok", said, remedy)


def _project(named: list[str] | None, opener: Opener) -> Iterator[Check]:
    """Settings, then the policy in them, then the tools they name; each needs the one before."""
    settings = tried("settings", load_settings)
    if isinstance(settings, Check):
        yield settings
        return
    if settings.file is None and settings.workspace is not None:
        yield Check("settings", "ok", f"no {FILE} here or above; HANDRAIL_WORKSPACE names the workspace")
    elif settings.file is None:
        yield Check("settings", "warn", f"no {FILE} here or above", 'write one: tools = ["shop.tools"]')
    else:
        yield Check("settings", "ok", str(settings.file))
    yield from _database(settings)
    workspace = list(workspace_checks(settings))
    yield from workspace
    yield from _foreign(settings)
    settings = replace(settings, database=None, telemetry=False, mcp={})
    bare = replace(settings, workspace=None)
    opened = tried("policy", lambda: opener(bare, (), None, None))
    yield (
        opened if isinstance(opened, Check) else Check("policy", "ok", f"mode {opened.policy.approval_mode}")
    )
    broken = any(one.state == "fail" for one in workspace)
    yield _tools(named, bare if broken else settings, opener)


def _database(settings: Settings) -> Iterator[Check]:
    """Whether the database that is named can be reached and is at the schema of this version."""
    if settings.database is None:
        return

    def reached() -> str:
        with database_at(settings) as database:
            return database.name

    name = tried("database", reached)
    yield name if isinstance(name, Check) else Check("database", "ok", name)


def _foreign(settings: Settings) -> Iterator[Check]:
    """Whether the foreign servers are written so that they can be used. None is reached for it."""
    if not settings.mcp:
        return
    from handrail.bridges.mcp.written import servers_of

    found = tried("mcp", lambda: servers_of(settings.mcp, f"{settings.file}: mcp", settings.folder))
    if isinstance(found, Check):
        yield found
    else:
        names = ", ".join(server.name for server in found) or "none"
        yield Check("mcp", "ok", f"servers: {names}", "reach them: handrail mcp list --check")


def _tools(named: list[str] | None, settings: Settings, opener: Opener) -> Check:
    tools = tried("tools", lambda: tools_of(named, settings))
    if isinstance(tools, Check):
        return tools
    if not tools and settings.workspace is not None:
        return Check("tools", "ok", "those of the workspace")
    if not tools:
        return Check("tools", "warn", "none", "make one: handrail new tool notes.search")
    if isinstance(clash := tried("tools", lambda: opener(settings, tools, None, None)), Check):
        return clash
    from handrail.conformance import check_ready  # its rules load when they are asked for

    findings = asyncio.run(check_ready(tools))
    said = f"{len(tools)} found"
    if findings:
        return Check("tools", "warn", f"{said}, {len(findings)} findings", "read them: handrail conformance")
    return Check("tools", "ok", said)


def _terminal(here: Screen) -> Check:
    out = here.out
    encoding = (out.stream.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        return Check("terminal", "warn", f"its encoding is {encoding}", "set PYTHONIOENCODING=utf-8")
    if not out.for_people:
        return Check("terminal", "ok", "standard output is not a terminal, so the answer is plain text")
    colours = "no colours" if out.console.no_color else "colours"
    said = f"{out.width} columns, {colours}"
    if out.width < _NARROW:
        return Check("terminal", "warn", said, f"tables read better from {_NARROW} columns on")
    return Check("terminal", "ok", said)
