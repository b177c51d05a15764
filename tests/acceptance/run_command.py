"""Real processes in the root of the project, as a person or a pipe would start them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """A command that ended, with what it said; `more` are variables of its environment."""
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **more},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
