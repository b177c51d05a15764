"""What `handrail doctor` says of a workspace: whose it is, what its tools can do here, what commands see."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from handrail.doors.cli.checks import Check, tried, version_of
from handrail.settings import Settings

if TYPE_CHECKING:
    from handrail.toolsets.workspace import Options

_PACKAGES = {
    "tree-sitter-bash": "bash",
    "pathspec": "what .gitignore says",
    "httpcore2": "webfetch and web_search",
}
"""What does not work without each of them."""
_ENVIRONMENTS = (".venv", "venv", "env")


def workspace_checks(settings: Settings) -> Iterator[Check]:
    """Nothing where no workspace is written; one check that fails where it cannot be used."""
    if (table := settings.workspace) is None:
        return
    from handrail.toolsets.workspace import WorkspaceToolset, options_of

    def fitted() -> Options:
        where = f"{settings.file or 'HANDRAIL_WORKSPACE'}: workspace"
        return WorkspaceToolset(options_of(table, where, settings.folder, settings.tenant)).options

    options = tried("workspace", fitted)
    if isinstance(options, Check):
        yield options
        return
    root = Path(options.root.replace("{tenant}", settings.tenant))
    yield _place(options, root, settings.tenant)
    yield from _packages()
    yield from _sandbox(options)
    yield from _toolchains(options, root)
    yield _search()


def _place(options: Options, root: Path, tenant: str) -> Check:
    """Where it is, and whether whoever asks has its tools and can change what is there."""
    if options.is_shared and not root.is_dir():
        said = f"there is no folder {root}, so the tenant {tenant} has none of these tools"
        return Check("workspace", "warn", said, "make it")
    if not options.is_shared and options.tenant != tenant:
        said = (
            f"{root} is that of the tenant {options.tenant}; you act for {tenant} and have none of its tools"
        )
        remedy = f'write tenant = "{options.tenant}" above [workspace], or leave it out there'
        return Check("workspace", "warn", said, remedy)
    if Path.home().resolve().is_relative_to(root.resolve()):
        said = f"{root} holds all that is yours, keys and passwords too, and tools read it"
        return Check("workspace", "warn", said, "name the folder of one project as root")
    if not os.access(root, os.W_OK):
        said = f"{root} cannot be written: its files are read and searched, and not changed"
        return Check("workspace", "warn", said, "if that is not what you want, change who may write there")
    return Check("workspace", "ok", str(root))


def _packages() -> Iterator[Check]:
    lost = [what for package, what in _PACKAGES.items() if version_of(package) is None]
    if lost:
        said = f"packages are missing, and with them: {', '.join(lost)}"
        yield Check("workspace packages", "warn", said, "pip install 'handrail[workspace]'")


def _sandbox(options: Options) -> Iterator[Check]:
    from handrail.toolsets.workspace.shell.safety import sandbox_problem
    from handrail.toolsets.workspace.shell.sandbox import missing

    if (problem := sandbox_problem()) is None:
        yield Check("sandbox", "ok", "commands run in bubblewrap")
        return
    said = "commands run without one" if options.unsandboxed else "bash refuses every command"
    remedy = (
        "on Debian: apt-get install bubblewrap"
        if missing() is not None
        else "allow user namespaces on this machine, or in its container"
    )
    yield Check("sandbox", "warn", f"{problem}: {said}", remedy)


def _toolchains(options: Options, root: Path) -> Iterator[Check]:
    """Folders that commands are to see and that are not there, and those they need and do not see."""
    from handrail.toolsets.workspace.shell.sandbox import is_shown

    for folder in options.readable:
        if not Path(folder).is_dir():
            yield Check("readable", "warn", f"there is no folder {folder}", "correct it in [workspace]")
    for name in _ENVIRONMENTS:
        python = _python_of(root / name)
        if python is not None and not is_shown(python, (root, *map(Path, options.readable))):
            said = f"{name} is made of the Python in {python}, which commands do not see"
            add = f"readable = {json.dumps([*options.readable, str(python)])}"
            yield Check("commands", "warn", said, f"write in [workspace]: {add}")


def _python_of(environment: Path) -> Path | None:
    """Where the Python behind an environment is installed; None where there is no environment."""
    try:
        lines = (environment / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    named = dict(line.split(" = ", 1) for line in lines if " = " in line)
    home = named.get("home", "")
    return Path(home).resolve().parent if home.startswith("/") else None


def _search() -> Check:
    from handrail.toolsets.workspace.search.ripgrep import find

    program = find()
    if program is None:
        return Check("ripgrep", "ok", "not found; searching is slower", "pip install 'handrail[ripgrep]'")
    return Check("ripgrep", "ok", program)
