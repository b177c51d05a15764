"""The virtual environments of the peers: one each, so that no peer holds another's version back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / ".venv-peers"
"""Where `make bench` puts them."""

_VERSIONS = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
versions = {}
for name in sys.argv[1:]:
    try:
        versions[name] = version(name)
    except PackageNotFoundError:
        pass
print(json.dumps(versions))
"""


@dataclass(frozen=True, slots=True)
class Python:
    """The interpreter of one environment."""

    path: str
    missing_because: str = ""
    """Why it cannot be used; what it would run is then reported as not measured."""

    @property
    def is_own(self) -> bool:
        return self.path == sys.executable

    def versions(self, distributions: Sequence[str]) -> dict[str, str]:
        """The versions of those that are installed."""
        if self.missing_because:
            return {}
        command = [self.path, "-P", "-c", _VERSIONS, *distributions]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        versions: dict[str, str] = json.loads(done.stdout)
        return versions


OWN = Python(sys.executable)


@dataclass(frozen=True, slots=True)
class Peers:
    """A folder with an environment for each peer, under the name of its module in `benchmarks/peers`."""

    folder: Path = PEERS

    def python(self, peer: str) -> Python:
        # The link itself, not what it points to, makes a virtual environment's Python.
        path = os.path.abspath(self.folder / peer / "bin" / "python")
        if os.access(path, os.X_OK):
            return Python(path)
        return Python(path, f"there is no environment of {peer}; `make bench` creates it")
