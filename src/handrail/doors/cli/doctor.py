"""handrail doctor: packages, settings, database, workspace, servers and tools, checked."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from handrail.doors.cli.command import Invocation, command
from handrail.doors.cli.context import named_tools
from handrail.doors.cli.database import open_database
from handrail.doors.cli.exit_codes import ExitCode
from handrail.doors.cli.output import Answer
from handrail.doors.cli.screen import OutputStream, Screen, command_error
from handrail.settings import SETTINGS_FILE, Settings

if TYPE_CHECKING:
    from handrail.toolsets.workspace import WorkspaceOptions

CheckState = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing that was looked at."""

    name: str
    state: CheckState
    said: str
    remedy: str | None = None


def run_checks(name: str, checks: Iterable[DoctorCheck]) -> Iterator[DoctorCheck]:
    """The checks; an error that a person can do something about ends them with one that fails."""
    try:
        yield from checks
    except Exception as error:
        if (stop := command_error(error)) is None:
            raise
        yield DoctorCheck(name, "fail", stop.problem, stop.remedy)


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
    """Nothing where no workspace is written; where it cannot be used, an error says why."""
    if settings.workspace is None:
        return
    from handrail.toolsets.workspace import WorkspaceToolset, parse_options

    where = f"{settings.file or 'HANDRAIL_WORKSPACE'}: workspace"
    options = parse_options(settings.workspace, where, settings.folder, settings.tenant)
    options = WorkspaceToolset(options).options
    root = Path(options.root.replace("{tenant}", settings.tenant))
    yield _workspace_root(options, root, settings.tenant)
    yield from _workspace_packages()
    yield from _sandbox(options)
    yield from _toolchains(options, root)
    yield _ripgrep()


def _workspace_root(options: WorkspaceOptions, root: Path, tenant: str) -> DoctorCheck:
    """Where it is, and whether whoever asks has its tools and can change what is there."""
    if options.is_shared and not root.is_dir():
        message = f"there is no folder {root}, so the tenant {tenant} has none of these tools"
        return DoctorCheck("workspace", "warn", message, "make it")
    if not options.is_shared and options.tenant != tenant:
        message = (
            f"{root} is that of the tenant {options.tenant}; you act for {tenant} and have none of its tools"
        )
        remedy = f'write tenant = "{options.tenant}" above [workspace], or leave it out there'
        return DoctorCheck("workspace", "warn", message, remedy)
    if Path.home().resolve().is_relative_to(root.resolve()):
        message = f"{root} holds all that is yours, keys and passwords too, and tools read it"
        return DoctorCheck("workspace", "warn", message, "name the folder of one project as root")
    if not os.access(root, os.W_OK):
        message = f"{root} cannot be written: its files are read and searched, and not changed"
        return DoctorCheck(
            "workspace", "warn", message, "if that is not what you want, change who may write there"
        )
    return DoctorCheck("workspace", "ok", str(root))


def _workspace_packages() -> Iterator[DoctorCheck]:
    lost = [what for package, what in _WORKSPACE_PACKAGES.items() if version_of(package) is None]
    if lost:
        message = f"packages are missing, and with them: {', '.join(lost)}"
        yield DoctorCheck("workspace packages", "warn", message, "pip install 'handrail[workspace]'")


def _sandbox(options: WorkspaceOptions) -> Iterator[DoctorCheck]:
    from handrail.toolsets.workspace.shell.sandbox import missing_sandbox
    from handrail.toolsets.workspace.shell.sandbox_policy import sandbox_problem

    if (problem := sandbox_problem()) is None:
        yield DoctorCheck("sandbox", "ok", "commands run in bubblewrap")
        return
    message = "commands run without one" if options.unsandboxed else "bash refuses every command"
    remedy = (
        "on Debian: apt-get install bubblewrap"
        if missing_sandbox() is not None
        else "allow user namespaces on this machine, or in its container"
    )
    yield DoctorCheck("sandbox", "warn", f"{problem}: {message}", remedy)


def _toolchains(options: WorkspaceOptions, root: Path) -> Iterator[DoctorCheck]:
    """Folders that commands are to see and that are not there, and those they need and do not see."""
    from handrail.toolsets.workspace.shell.sandbox import is_visible

    for folder in options.readable:
        if not Path(folder).is_dir():
            yield DoctorCheck("readable", "warn", f"there is no folder {folder}", "correct it in [workspace]")
    for name in _ENVIRONMENTS:
        python = _python_of(root / name)
        if python is not None and not is_visible(python, (root, *map(Path, options.readable))):
            message = f"{name} is made of the Python in {python}, which commands do not see"
            add = f"readable = {json.dumps([*options.readable, str(python)])}"
            yield DoctorCheck("commands", "warn", message, f"write in [workspace]: {add}")


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
            "ripgrep", "warn", "not found, which searches need", "pip install 'handrail[workspace]'"
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


@command("json tools")
def check_setup(cli: Invocation) -> Answer:
    """Check the set-up, and say what to do."""
    checks = [
        _python(),
        *_packages(),
        *_extras(),
        *run_checks("settings", _project(cli)),
        _terminal(cli.screen),
    ]
    failed = any(check.state == "fail" for check in checks)
    return Answer(
        {"ok": not failed, "checks": [asdict(check) for check in checks]},
        lambda screen: _show(screen.out, checks),
        code=ExitCode.FAILED if failed else ExitCode.DONE,
    )


def _show(out: OutputStream, checks: list[DoctorCheck]) -> None:
    width = max(len(check.name) for check in checks)
    for check in checks:
        if out.is_terminal:
            out.say(f"{check.state:<4}  {check.name:<{width}}  {check.said}", _STYLES[check.state])
            if check.remedy:
                out.say(f"      {check.remedy}")
        else:
            out.say("\t".join((check.state, check.name, check.said, check.remedy or "")))


def _python() -> DoctorCheck:
    message = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= _OLDEST:
        return DoctorCheck("python", "ok", message)
    return DoctorCheck("python", "fail", message, "use Python {}.{} or newer".format(*_OLDEST))


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
        message = "not installed" if version is None else f"{package} {version}"
        remedy = f"only if you need it: pip install 'handrail[{extra}]'" if version is None else None
        yield DoctorCheck(f"extra {extra}", "ok", message, remedy)


def _project(cli: Invocation) -> Iterator[DoctorCheck]:
    """Settings, then the policy in them, then the tools they name; each needs the one before."""
    settings = cli.settings
    yield _settings(settings)
    yield from run_checks("database", _database(settings))
    workspace = list(run_checks("workspace", workspace_checks(settings)))
    yield from workspace
    yield from run_checks("mcp", _mcp_servers(settings))
    settings = replace(settings, database=None, telemetry=False, mcp={})
    bare = replace(settings, workspace=None)
    yield from run_checks("policy", _policy(cli, bare))
    broken = any(check.state == "fail" for check in workspace)
    yield from run_checks("tools", _tools(cli, bare if broken else settings))


def _settings(settings: Settings) -> DoctorCheck:
    missing = f"no {SETTINGS_FILE} here or above"
    if settings.file is not None:
        return DoctorCheck("settings", "ok", str(settings.file))
    if settings.workspace is not None:
        return DoctorCheck("settings", "ok", f"{missing}; HANDRAIL_WORKSPACE names the workspace")
    return DoctorCheck("settings", "warn", missing, 'write one: tools = ["shop.tools"]')


def _database(settings: Settings) -> Iterator[DoctorCheck]:
    """Whether the database that is named can be reached and is at the schema of this version."""
    if settings.database is not None:
        with open_database(settings) as database:
            yield DoctorCheck("database", "ok", database.name)


def _mcp_servers(settings: Settings) -> Iterator[DoctorCheck]:
    """Whether the foreign servers are written so that they can be used. None is reached for it."""
    if settings.mcp:
        from handrail.bridges.mcp.server_settings import servers_of

        servers = servers_of(settings.mcp, f"{settings.file}: mcp", settings.folder)
        names = ", ".join(server.name for server in servers) or "none"
        yield DoctorCheck("mcp", "ok", f"servers: {names}", "reach them: handrail mcp list --check")


def _policy(cli: Invocation, settings: Settings) -> Iterator[DoctorCheck]:
    hr = cli.composition.open_handrail(settings, (), None, None)
    yield DoctorCheck("policy", "ok", f"mode {hr.policy.approval_mode}")


def _tools(cli: Invocation, settings: Settings) -> Iterator[DoctorCheck]:
    tools = named_tools(cli.options.tools, settings)
    if not tools and settings.workspace is not None:
        yield DoctorCheck("tools", "ok", "those of the workspace")
    elif not tools:
        yield DoctorCheck("tools", "warn", "none", "make one: handrail new tool notes.search")
    else:
        cli.composition.open_handrail(settings, tools, None, None)  # says which of them cannot be together
        from handrail.conformance import check_ready  # its rules load when they are asked for

        message, findings = f"{len(tools)} found", cli.run(check_ready(tools))
        if findings:
            message += f", {len(findings)} findings"
            yield DoctorCheck("tools", "warn", message, "read them: handrail conformance")
        else:
            yield DoctorCheck("tools", "ok", message)


def _terminal(screen: Screen) -> DoctorCheck:
    out = screen.out
    encoding = (out.stream.encoding or "").lower().replace("-", "")
    if encoding != "utf8":
        return DoctorCheck("terminal", "warn", f"its encoding is {encoding}", "set PYTHONIOENCODING=utf-8")
    if not out.is_terminal:
        return DoctorCheck("terminal", "ok", "standard output is not a terminal, so the answer is plain text")
    colours = "no colours" if out.console.no_color else "colours"
    message = f"{out.width} columns, {colours}"
    if out.width < _NARROW:
        return DoctorCheck("terminal", "warn", message, f"tables read better from {_NARROW} columns on")
    return DoctorCheck("terminal", "ok", message)
