"""handrail doctor: packages, settings, database, workspace, servers and tools, checked."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import typer

from handrail.core.errors import HandrailError
from handrail.doors.cli.composition import HandrailFactory
from handrail.doors.cli.context import named_tools
from handrail.doors.cli.database import open_database
from handrail.doors.cli.exit_codes import CommandError, ExitCode
from handrail.doors.cli.options import Debug, Json, Tools
from handrail.doors.cli.screen import OutputStream, Screen, database_error, open_screen
from handrail.settings import SETTINGS_FILE, Settings, load_settings

if TYPE_CHECKING:
    from handrail.toolsets.workspace import WorkspaceOptions

T = TypeVar("T")
CheckState = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing that was looked at."""

    name: str
    state: CheckState
    said: str
    remedy: str | None = None


def run_check(name: str, attempt: Callable[[], T]) -> T | DoctorCheck:
    """What an attempt gives, or why it failed."""
    try:
        return attempt()
    except (CommandError, HandrailError) as error:
        stop = error if isinstance(error, CommandError) else CommandError.of(error)
        return DoctorCheck(name, "fail", stop.problem, stop.remedy)
    except Exception as error:
        if (trouble := database_error(error)) is None:
            raise
        return DoctorCheck(name, "fail", trouble.problem, trouble.remedy)


def version_of(package: str) -> str | None:
    """The version that is installed; None without."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


_WORKSPACE_PACKAGES = {
    "tree-sitter-bash": "bash",
    "pathspec": "what .gitignore says",
    "httpcore2": "webfetch and web_search",
}
"""What does not work without each of them."""
_ENVIRONMENTS = (".venv", "venv", "env")


def workspace_checks(settings: Settings) -> Iterator[DoctorCheck]:
    """Nothing where no workspace is written; one check that fails where it cannot be used."""
    if (table := settings.workspace) is None:
        return
    from handrail.toolsets.workspace import WorkspaceToolset, parse_options

    def fitted() -> WorkspaceOptions:
        where = f"{settings.file or 'HANDRAIL_WORKSPACE'}: workspace"
        return WorkspaceToolset(parse_options(table, where, settings.folder, settings.tenant)).options

    options = run_check("workspace", fitted)
    if isinstance(options, DoctorCheck):
        yield options
        return
    root = Path(options.root.replace("{tenant}", settings.tenant))
    yield _workspace_root(options, root, settings.tenant)
    yield from _workspace_packages()
    yield from _sandbox(options)
    yield from _toolchains(options, root)
    yield _ripgrep()


def _workspace_root(options: WorkspaceOptions, root: Path, tenant: str) -> DoctorCheck:
    """Where it is, and whether whoever asks has its tools and can change what is there."""
    if options.is_shared and not root.is_dir():
        said = f"there is no folder {root}, so the tenant {tenant} has none of these tools"
        return DoctorCheck("workspace", "warn", said, "make it")
    if not options.is_shared and options.tenant != tenant:
        said = (
            f"{root} is that of the tenant {options.tenant}; you act for {tenant} and have none of its tools"
        )
        remedy = f'write tenant = "{options.tenant}" above [workspace], or leave it out there'
        return DoctorCheck("workspace", "warn", said, remedy)
    if Path.home().resolve().is_relative_to(root.resolve()):
        said = f"{root} holds all that is yours, keys and passwords too, and tools read it"
        return DoctorCheck("workspace", "warn", said, "name the folder of one project as root")
    if not os.access(root, os.W_OK):
        said = f"{root} cannot be written: its files are read and searched, and not changed"
        return DoctorCheck(
            "workspace", "warn", said, "if that is not what you want, change who may write there"
        )
    return DoctorCheck("workspace", "ok", str(root))


def _workspace_packages() -> Iterator[DoctorCheck]:
    lost = [what for package, what in _WORKSPACE_PACKAGES.items() if version_of(package) is None]
    if lost:
        said = f"packages are missing, and with them: {', '.join(lost)}"
        yield DoctorCheck("workspace packages", "warn", said, "pip install 'handrail[workspace]'")


def _sandbox(options: WorkspaceOptions) -> Iterator[DoctorCheck]:
    from handrail.toolsets.workspace.shell.sandbox import missing_sandbox
    from handrail.toolsets.workspace.shell.sandbox_policy import sandbox_problem

    if (problem := sandbox_problem()) is None:
        yield DoctorCheck("sandbox", "ok", "commands run in bubblewrap")
        return
    said = "commands run without one" if options.unsandboxed else "bash refuses every command"
    remedy = (
        "on Debian: apt-get install bubblewrap"
        if missing_sandbox() is not None
        else "allow user namespaces on this machine, or in its container"
    )
    yield DoctorCheck("sandbox", "warn", f"{problem}: {said}", remedy)


def _toolchains(options: WorkspaceOptions, root: Path) -> Iterator[DoctorCheck]:
    """Folders that commands are to see and that are not there, and those they need and do not see."""
    from handrail.toolsets.workspace.shell.sandbox import is_visible

    for folder in options.readable:
        if not Path(folder).is_dir():
            yield DoctorCheck("readable", "warn", f"there is no folder {folder}", "correct it in [workspace]")
    for name in _ENVIRONMENTS:
        python = _python_of(root / name)
        if python is not None and not is_visible(python, (root, *map(Path, options.readable))):
            said = f"{name} is made of the Python in {python}, which commands do not see"
            add = f"readable = {json.dumps([*options.readable, str(python)])}"
            yield DoctorCheck("commands", "warn", said, f"write in [workspace]: {add}")


def _python_of(environment: Path) -> Path | None:
    """Where the Python behind an environment is installed; None where there is no environment."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    named = dict(line.split(" = ", 1) for line in lines if " = " in line)
    home = named.get("home", "")
    return Path(home).resolve().parent if home.startswith("/") else None


def _ripgrep() -> DoctorCheck:
    from handrail.toolsets.workspace.search.ripgrep import find_ripgrep

    program = find_ripgrep()
    if program is None:
        return DoctorCheck(
            "ripgrep", "ok", "not found; searching is slower", "pip install 'handrail[ripgrep]'"
        )
    return DoctorCheck("ripgrep", "ok", program)


_STYLES: dict[CheckState, str] = {"ok": "green", "warn": "yellow", "fail": "red"}
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
    with open_screen(debug) as screen:
        checks = [
            _python(),
            *_packages(),
            *_extras(),
            *_project(tools, ctx.obj.open_handrail),
            _terminal(screen),
        ]
        failed = any(one.state == "fail" for one in checks)
        if json:
            screen.out.json({"ok": not failed, "checks": [asdict(one) for one in checks]})
        else:
            _show(screen.out, checks)
        if failed:
            raise typer.Exit(ExitCode.FAILED)


def _show(out: OutputStream, checks: list[DoctorCheck]) -> None:
    width = max(len(one.name) for one in checks)
    for one in checks:
        if out.is_terminal:
            out.say(f"{one.state:<4}  {one.name:<{width}}  {one.said}", _STYLES[one.state])
            if one.remedy:
                out.say(f"      {one.remedy}")
        else:
            out.say("\t".join((one.state, one.name, one.said, one.remedy or "")))


def _python() -> DoctorCheck:
    said = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= _OLDEST:
        return DoctorCheck("python", "ok", said)
    return DoctorCheck("python", "fail", said, "use Python {}.{} or newer".format(*_OLDEST))


def _packages() -> Iterator[DoctorCheck]:
    for name in _NEEDED:
        version = version_of(name)
        if version is None:
            yield DoctorCheck(name, "fail", "not installed", "install handrail again: pip install handrail")
        else:
            yield DoctorCheck(name, "ok", version)


def _extras() -> Iterator[DoctorCheck]:
    for extra, package in _EXTRAS.items():
        version = version_of(package)
        said = "not installed" if version is None else f"{package} {version}"
        remedy = f"only if you need it: pip install 'handrail[{extra}]'" if version is None else None
        yield DoctorCheck(f"extra {extra}", "ok", said, remedy)


def _project(named: list[str] | None, factory: HandrailFactory) -> Iterator[DoctorCheck]:
    """Settings, then the policy in them, then the tools they name; each needs the one before."""
    settings = run_check("settings", load_settings)
    if isinstance(settings, DoctorCheck):
        yield settings
        return
    if settings.file is None and settings.workspace is not None:
        yield DoctorCheck(
            "settings", "ok", f"no {SETTINGS_FILE} here or above; HANDRAIL_WORKSPACE names the workspace"
        )
    elif settings.file is None:
        yield DoctorCheck(
            "settings", "warn", f"no {SETTINGS_FILE} here or above", 'write one: tools = ["shop.tools"]'
        )
    else:
        yield DoctorCheck("settings", "ok", str(settings.file))
    yield from _database(settings)
    workspace = list(workspace_checks(settings))
    yield from workspace
    yield from _mcp_servers(settings)
    settings = replace(settings, database=None, telemetry=False, mcp={})
    bare = replace(settings, workspace=None)
    opened = run_check("policy", lambda: factory(bare, (), None, None))
    yield (
        opened
        if isinstance(opened, DoctorCheck)
        else DoctorCheck("policy", "ok", f"mode {opened.policy.approval_mode}")
    )
    broken = any(one.state == "fail" for one in workspace)
    yield _tools(named, bare if broken else settings, factory)


def _database(settings: Settings) -> Iterator[DoctorCheck]:
    """Whether the database that is named can be reached and is at the schema of this version."""
    if settings.database is None:
        return

    def reached() -> str:
        with open_database(settings) as database:
            return database.name

    name = run_check("database", reached)
    yield name if isinstance(name, DoctorCheck) else DoctorCheck("database", "ok", name)


def _mcp_servers(settings: Settings) -> Iterator[DoctorCheck]:
    """Whether the foreign servers are written so that they can be used. None is reached for it."""
    if not settings.mcp:
        return
    from handrail.bridges.mcp.server_settings import servers_of

    found = run_check("mcp", lambda: servers_of(settings.mcp, f"{settings.file}: mcp", settings.folder))
    if isinstance(found, DoctorCheck):
        yield found
    else:
        names = ", ".join(server.name for server in found) or "none"
        yield DoctorCheck("mcp", "ok", f"servers: {names}", "reach them: handrail mcp list --check")


def _tools(named: list[str] | None, settings: Settings, factory: HandrailFactory) -> DoctorCheck:
    tools = run_check("tools", lambda: named_tools(named, settings))
    if isinstance(tools, DoctorCheck):
        return tools
    if not tools and settings.workspace is not None:
        return DoctorCheck("tools", "ok", "those of the workspace")
    if not tools:
        return DoctorCheck("tools", "warn", "none", "make one: handrail new tool notes.search")
    if isinstance(clash := run_check("tools", lambda: factory(settings, tools, None, None)), DoctorCheck):
        return clash
    from handrail.conformance import check_ready  # its rules load when they are asked for

    findings = asyncio.run(check_ready(tools))
    said = f"{len(tools)} found"
    if findings:
        return DoctorCheck(
            "tools", "warn", f"{said}, {len(findings)} findings", "read them: handrail conformance"
        )
    return DoctorCheck("tools", "ok", said)


def _terminal(screen: Screen) -> DoctorCheck:
    out = screen.out
    encoding = (out.stream.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        return DoctorCheck("terminal", "warn", f"its encoding is {encoding}", "set PYTHONIOENCODING=utf-8")
    if not out.is_terminal:
        return DoctorCheck("terminal", "ok", "standard output is not a terminal, so the answer is plain text")
    colours = "no colours" if out.console.no_color else "colours"
    said = f"{out.width} columns, {colours}"
    if out.width < _NARROW:
        return DoctorCheck("terminal", "warn", said, f"tables read better from {_NARROW} columns on")
    return DoctorCheck("terminal", "ok", said)
